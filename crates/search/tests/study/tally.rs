//! The errors of one method over all seeds.

use crate::study::methods::Result;
use crate::study::systems::System;

/// The wanted precision of the largest load.
const PRECISION: f64 = 0.05;

/// A missing or a very wrong load counts as this error.
const ERROR_MAX: f64 = 1.0;

/// The results of one method in one system.
#[derive(Default)]
pub struct Tally {
    searches: u32,
    half_pass_errors: Vec<f64>,
    load_errors: Vec<f64>,
    too_high: u32,
    precise: u32,
    within: u32,
    without_load: u32,
    covered: u32,
    seconds: f64,
    trials: u32,
}

impl Tally {
    pub fn add(&mut self, system: &System, result: &Result) {
        let error = |load: f64, truth: f64| (load / truth - 1.0).abs().min(ERROR_MAX);
        self.searches += 1;
        self.seconds += result.seconds;
        self.trials += result.trials;
        self.half_pass_errors.push(result.half_pass.map_or(ERROR_MAX, |load| error(load, system.half_pass)));
        match result.load {
            Some(load) => {
                self.load_errors.push(load / system.answer - 1.0);
                self.within += u32::from(error(load, system.answer) <= PRECISION);
            }
            None => self.without_load += 1,
        }
        self.precise += u32::from(result.is_precise);
        self.too_high +=
            u32::from(result.stated.is_some_and(|load| load > system.answer * (1.0 + PRECISION)));
        let covers = |(low, high): (f64, f64)| low <= system.answer && system.answer <= high;
        self.covered += u32::from(result.interval.is_some_and(covers));
    }

    fn share(&self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.searches)
    }

    pub fn too_high(&self) -> f64 {
        self.share(self.too_high)
    }

    pub fn seconds(&self) -> f64 {
        self.seconds / f64::from(self.searches)
    }

    /// The error of the load with half of the passes that 95 % of the searches do not exceed.
    pub fn half_pass_error(&self) -> f64 {
        quantile(&self.half_pass_errors, 0.95)
    }

    /// A row of the table: minutes, trials, errors of both loads (median and 95 %), shares in percent.
    pub fn row(&self, name: &str, has_interval: bool) -> String {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let errors = |errors: &[f64]| {
            let at = |share: f64| percent(quantile(errors, share));
            if errors.is_empty() { "–".to_owned() } else { format!("{} / {}", at(0.5), at(0.95)) }
        };
        let covered = if has_interval { percent(self.share(self.covered)) } else { "–".to_owned() };
        format!(
            "| {name} | {:.1} | {:.0} | {} | {} | {} | {} | {} | {} | {covered} |",
            self.seconds() / 60.0,
            f64::from(self.trials) / f64::from(self.searches),
            errors(&self.half_pass_errors),
            if self.load_errors.is_empty() {
                "–".to_owned()
            } else {
                let at = |share: f64| {
                    format!("{:+.1}", 100.0 * quantile(&self.load_errors, share)).replace('-', "−")
                };
                format!("{} ({} to {})", at(0.5), at(0.025), at(0.975))
            },
            percent(self.share(self.precise)),
            percent(self.share(self.within)),
            percent(self.too_high()),
            percent(self.share(self.without_load)),
        )
    }
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(at.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}
