//! Measures the rate of false alarms in histories without a change, and the delay until a change is detected. The table
//! of docs/comparing-runs.md is printed by
//! `ERROR_RATE_LOGS=400 cargo test -p busyhour-stats --test trend_error_rates -- --nocapture table`.

use std::io::Write as _;

use busyhour_stats::{RankChangeSettings, rank_changes};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Binomial, Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

type Random = Xoshiro256PlusPlus;

/// Number of rows of a history, including the total, and number of measures per row.
const ROWS: usize = 4;
const MEASURES: usize = 7;

/// The distribution of the values of runs.
#[derive(Clone, Copy)]
enum Law {
    Normal,
    /// Student's t with two degrees of freedom.
    Heavy,
    /// One run in ten is an outlier.
    Odd,
    /// Number of failed requests among 2,000, each of which fails with probability 0.26 %.
    Errors,
    /// Consecutive runs have this correlation.
    Autoregressive(f64),
}

fn normal(random: &mut Random) -> f64 {
    random.sample(StandardNormal)
}

/// One value per run; `common` is the part that all series of a history share.
fn values(law: Law, common: &[f64], random: &mut Random) -> Vec<f64> {
    let mut before = 0.0;
    let draw = |common: &f64| {
        let own = 0.8 * common + 0.6 * normal(random);
        match law {
            Law::Normal => own,
            Law::Heavy => own / ((normal(random).powi(2) + normal(random).powi(2)) / 2.0).sqrt(),
            Law::Odd => own + if random.random_bool(0.1) { 20.0 } else { 0.0 },
            Law::Errors => Binomial::new(2_000, 0.002_6).unwrap().sample(random) as f64,
            Law::Autoregressive(phi) => {
                before = phi * before + (1.0 - phi * phi).sqrt() * own;
                before
            }
        }
    };
    common.iter().map(draw).collect()
}

/// Threshold of the evidence for a series of the total (row 0) or of a label, at `rate` false alarms in 100 runs.
fn threshold(row: usize, rate: f64) -> f64 {
    let of_row = if row == 0 { 0.5 } else { 0.5 / (ROWS - 1) as f64 };
    100.0 * MEASURES as f64 / (rate * of_row)
}

fn is_alarm(series: &[f64], threshold: f64, random: &mut Random) -> bool {
    let ties: Vec<f64> = series.iter().map(|_| random.random()).collect();
    !rank_changes(series, &ties, &RankChangeSettings { values_min: 3, threshold }).is_empty()
}

/// Number of histories of 100 runs in which any of 28 series raises an alarm, with a test after each run.
fn alarms(law: Law, histories: u64, rate: f64) -> usize {
    (0..histories)
        .filter(|seed| {
            let mut random = Random::seed_from_u64(*seed);
            let common: Vec<f64> = (0..100).map(|_| normal(&mut random)).collect();
            (0..ROWS * MEASURES).any(|at| {
                let series = values(law, &common, &mut random);
                is_alarm(&series, threshold(at / MEASURES, rate), &mut random)
            })
        })
        .count()
}

/// Number of runs after a step of `size` standard deviations until the step is detected in a series of the total: median and 90th
/// percentile over several histories. `None` if the number is above 40.
fn delays(before: usize, size: f64, histories: u64) -> [Option<usize>; 2] {
    let settings = RankChangeSettings { values_min: 3, threshold: threshold(0, 0.05) };
    let mut delays: Vec<usize> = (0..histories)
        .map(|seed| {
            let mut random = Random::seed_from_u64(10_000 + seed);
            let series: Vec<f64> = (0..before + 40)
                .map(|at| normal(&mut random) + if at < before { 0.0 } else { size })
                .collect();
            let ties = vec![0.0; series.len()];
            let found = rank_changes(&series, &ties, &settings);
            let seen = found.iter().find(|change| change.detected_at >= before);
            seen.map_or(usize::MAX, |change| change.detected_at + 1 - before)
        })
        .collect();
    delays.sort_unstable();
    [delays.len() / 2, delays.len() * 9 / 10].map(|at| Some(delays[at]).filter(|delay| *delay < usize::MAX))
}

#[test]
fn a_step_of_five_standard_deviations_is_detected_after_a_few_runs() {
    let [median, p90] = delays(30, 5.0, 100);
    assert!(median <= Some(6) && p90 <= Some(7), "{median:?} {p90:?}");
}

#[test]
fn few_histories_of_many_series_raise_a_false_alarm() {
    // There are fewer histories than in the table, but enough to detect a rate that is four times too high.
    let found = alarms(Law::Normal, 40, 0.2);
    assert!(found <= 14, "{found} of 40 where 8 are allowed");
}

/// Prints the table of the documentation; by default with two histories each.
#[test]
fn table() {
    let histories = option_env!("ERROR_RATE_LOGS").and_then(|number| number.parse().ok()).unwrap_or(2_u64);
    let mut out = std::io::stderr();
    for (name, law) in [
        ("normal", Law::Normal),
        ("heavy-tailed (Student's t, 2 degrees)", Law::Heavy),
        ("one run in ten an outlier", Law::Odd),
        ("errors: 0.26 % of 2,000 requests", Law::Errors),
        ("each run correlated with the last, 0.3", Law::Autoregressive(0.3)),
        ("each run correlated with the last, 0.6", Law::Autoregressive(0.6)),
    ] {
        writeln!(out, "{name}: {} of {histories} histories", alarms(law, histories, 0.05)).unwrap();
    }
    for before in [20, 30, 60] {
        for size in [1.5, 2.0, 3.0, 5.0] {
            writeln!(out, "{before} runs before, {size} sd: {:?}", delays(before, size, histories)).unwrap();
        }
    }
    let settings = RankChangeSettings { values_min: 3, threshold: threshold(0, 0.05) };
    let (calm, bad) = (Binomial::new(2_000, 0.002_6).unwrap(), Binomial::new(2_000, 0.008_3).unwrap());
    let seen = (0..histories)
        .filter(|seed| {
            let mut random = Random::seed_from_u64(20_000 + seed);
            let series: Vec<f64> = (0..40)
                .map(|at| if at < 30 { calm.sample(&mut random) } else { bad.sample(&mut random) } as f64)
                .collect();
            let ties: Vec<f64> = series.iter().map(|_| random.random()).collect();
            !rank_changes(&series, &ties, &settings).is_empty()
        })
        .count();
    writeln!(out, "errors from 0.26 % to 0.83 %, 30 runs before and 10 after: {seen} of {histories}")
        .unwrap();
}
