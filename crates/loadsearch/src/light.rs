//! Light trials before the search: they measure how many requests a unit of load produces, and provide a first guess.

use busyhour_queueing::fit::{CapacityFit, FitSettings};
use busyhour_search::{
    Evidence, GuessFacts, LoadGuess, LoadKind, NextTrial, SearchSettings, TrialOutcome, TrialPurpose,
    TrialRecord,
};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::models::{USERS_MAX, load_points, served};
use crate::plan::LoadSearchPlan;

/// Share of the budget for all light trials, and for one of them.
const LIGHT_SHARE: f64 = 0.15;
const ONE_SHARE: f64 = 0.05;

/// The largest number of light trials, and of attempts at the first one.
const LIGHT_MAX: usize = 8;
const ATTEMPTS_MAX: usize = 3;

/// The ratio of the loads of successive trials.
const STEP: std::ops::RangeInclusive<f64> = 1.5..=3.0;

/// Expected relative error of a model's guess that is between the loads that passed and the loads that failed.
const MODEL_ERROR: f64 = 0.2;

/// The number of different loads that a model needs.
const MODEL_LOADS: usize = 3;

/// The step after the light trials so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LightStep {
    /// Another light trial.
    Trial(NextTrial),
    /// No further light trial is needed.
    Enough,
    /// None of them was valid.
    Invalid(String),
}

/// The next light trial.
pub(crate) fn next_light(plan: &LoadSearchPlan, light: &[&TrialRecord]) -> LightStep {
    let is_valid = |record: &&&TrialRecord| !matches!(record.outcome, TrialOutcome::Void(_));
    let attempts_at_first = light.iter().filter(|record| record.load <= first_load(plan)).count();
    let Some(last) = light.iter().rfind(is_valid) else {
        return match light.last() {
            Some(last) if attempts_at_first >= ATTEMPTS_MAX => {
                LightStep::Invalid(last.void_reason.clone().unwrap_or_default())
            }
            _ => LightStep::Trial(light_trial(plan, first_load(plan), None)),
        };
    };
    let spent_s: f64 = light.iter().map(|record| record.seconds).sum();
    let highest = light.iter().map(|record| record.load).fold(last.load, f64::max);
    let wanted = plan.lowest * step(plan).powi(1 + steps(plan, highest));
    let load = match plan.kind {
        LoadKind::Users => wanted.round().max(highest.round() + 1.0),
        LoadKind::Rate => wanted,
    };
    let trial = light_trial(plan, load, requests_per_load(plan, light));
    let has_failed = light.iter().any(|record| matches!(record.outcome, TrialOutcome::Failed { .. }));
    let is_spent = spent_s + trial.seconds > LIGHT_SHARE * plan.budget_s;
    if has_failed || is_spent || light.len() >= LIGHT_MAX || load > plan.highest {
        return LightStep::Enough;
    }
    LightStep::Trial(trial)
}

fn first_load(plan: &LoadSearchPlan) -> f64 {
    match plan.kind {
        LoadKind::Users => plan.lowest.ceil().max(1.0),
        LoadKind::Rate => plan.lowest,
    }
}

fn step(plan: &LoadSearchPlan) -> f64 {
    (plan.highest / plan.lowest).powf(1.0 / LIGHT_MAX as f64).clamp(*STEP.start(), *STEP.end())
}

/// The number of steps from the lowest load to `load`.
fn steps(plan: &LoadSearchPlan, load: f64) -> i32 {
    ((load / plan.lowest).ln() / step(plan).ln()).round() as i32
}

fn light_trial(plan: &LoadSearchPlan, load: f64, requests_per_load: Option<f64>) -> NextTrial {
    let length = plan.length(requests_per_load.or((plan.kind == LoadKind::Rate).then_some(1.0)));
    let longest_s = (ONE_SHARE * plan.budget_s).max(length.shortest_seconds);
    let seconds = length.shortest_seconds_at(load).min(longest_s).ceil();
    NextTrial { load, seconds, overload: None, purpose: TrialPurpose::Search }
}

/// Requests per second and unit of load, in the valid trial with the smallest load.
fn requests_per_load(plan: &LoadSearchPlan, light: &[&TrialRecord]) -> Option<f64> {
    let valid = light.iter().filter(|record| !matches!(record.outcome, TrialOutcome::Void(_)));
    let least = valid.min_by(|one, two| one.load.total_cmp(&two.load))?;
    let measures = least.measures.as_ref()?;
    let per_s = match plan.kind {
        LoadKind::Rate => measures.requests as f64 / least.seconds,
        LoadKind::Users => measures.throughput_per_s,
    };
    Some(per_s / least.load).filter(|per_load| per_load.is_finite() && *per_load > 0.0)
}

/// The settings of the search after the light trials, and the guess from which it starts.
pub(crate) fn prepared(
    plan: &LoadSearchPlan,
    light: &[&TrialRecord],
) -> (SearchSettings, Evidence<GuessFacts>) {
    let spent_s: f64 = light.iter().map(|record| record.seconds).sum();
    let length = plan.length(requests_per_load(plan, light));
    let settings = plan.settings(length, plan.budget_s - spent_s);
    let guess = guess(plan, light);
    (SearchSettings { guess: guess.found().map(|facts| facts.guess), ..settings }, guess)
}

/// The load at which the thresholds are expected to fail.
fn guess(plan: &LoadSearchPlan, light: &[&TrialRecord]) -> Evidence<GuessFacts> {
    let with = |wanted: bool| {
        light.iter().filter(move |record| match record.outcome {
            TrialOutcome::Passed => wanted,
            TrialOutcome::Failed { .. } => !wanted,
            TrialOutcome::Void(_) => false,
        })
    };
    let passed = with(true).map(|record| record.load).reduce(f64::max);
    let failed = with(false).map(|record| record.load).reduce(f64::min);
    let model = by_model(plan, light);
    // A short trial near the limit may have the wrong outcome, so the load of a model may be off by one step.
    let is_possible = |load: f64| {
        passed.is_none_or(|passed| load > passed / step(plan))
            && failed.is_none_or(|failed| load < failed * step(plan))
    };
    match (model, passed.zip(failed)) {
        (Ok(load), _) if is_possible(load) => Evidence::Found(GuessFacts {
            guess: LoadGuess { load, relative_error: MODEL_ERROR },
            sentence: format!("a capacity model, fitted to {} light trials", light.len()),
        }),
        (_, Some((passed, failed))) if failed > passed => Evidence::Found(GuessFacts {
            guess: LoadGuess {
                load: (passed * failed).sqrt(),
                relative_error: (failed / passed).sqrt() - 1.0,
            },
            sentence: "the light trials: the geometric mean of the highest load that passed and the lowest that failed".to_owned(),
        }),
        (Err(reason), _) => Evidence::Unavailable(reason),
        (Ok(_), _) => {
            Evidence::Unavailable("the fitted capacity model contradicts the light trials".to_owned())
        }
    }
}

/// The load at which a fitted model reaches the mean response time that corresponds to the limits of the thresholds.
fn by_model(plan: &LoadSearchPlan, light: &[&TrialRecord]) -> Result<f64, String> {
    let served: Vec<&TrialRecord> =
        light.iter().copied().filter(|record| served(plan.kind, record)).collect();
    let last = served.iter().max_by(|one, two| one.load.total_cmp(&two.load));
    let measures = last.and_then(|last| last.measures.as_ref()).ok_or("no light trial passed")?;
    let margins =
        measures.thresholds.iter().filter(|threshold| threshold.is_time).filter_map(|one| one.margin);
    let margin = margins.reduce(f64::max).ok_or("no threshold limits a time")?;
    // For a guess, percentiles are assumed to be proportional to the mean.
    let response_max_s = measures.response_s / (1.0 + margin).max(0.01);
    if served.len() < MODEL_LOADS {
        return Err(format!(
            "a capacity model needs {MODEL_LOADS} light trials, but only {} were usable",
            served.len()
        ));
    }
    let points = load_points(plan.kind, &served);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let settings = FitSettings::default();
    let fit = CapacityFit::new(&points, &settings, &mut random).map_err(|refusal| refusal.reason)?;
    let users_max = match plan.kind {
        LoadKind::Users => 2.0 * plan.highest,
        // Little's law.
        LoadKind::Rate => 2.0 * plan.highest * (response_max_s + fit.think_s),
    };
    let users = users_within(&fit, response_max_s, users_max.min(USERS_MAX))
        .ok_or("the fitted capacity model does not reach the limit of the thresholds within the range")?;
    Ok(match plan.kind {
        LoadKind::Users => users,
        LoadKind::Rate => {
            let per_load = requests_per_load(plan, light).unwrap_or(1.0);
            fit.fitted.model().predict(users, fit.think_s).throughput_per_s / per_load
        }
    })
}

/// The largest number of users whose mean response time is at most `response_s`; `None` if there is no such number from 1 to
/// `users_max`.
fn users_within(fit: &CapacityFit, response_s: f64, users_max: f64) -> Option<f64> {
    let model = fit.fitted.model();
    let is_within = |users: f64| model.predict(users, fit.think_s).response_s <= response_s;
    let (mut low, mut high) = (1.0_f64, users_max.floor());
    if high <= low || !is_within(low) || is_within(high) {
        return None;
    }
    while high - low > 1.0 {
        let middle = ((low + high) / 2.0).floor();
        if is_within(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use busyhour_search::{TrialMeasures, TrialThreshold};

    use super::*;
    use crate::plan::tests::plan;

    /// A light trial of a single server with a mean service time of 10 ms, and a limit of 50 ms of the mean.
    fn record(number: u32, load: f64) -> TrialRecord {
        let response_s = if load < 99.0 { 0.01 / (1.0 - load / 100.0) } else { 1.0 };
        let margin = response_s / 0.05 - 1.0;
        let text = "mean < 50ms".to_owned();
        let failed = margin > 0.0;
        let threshold = TrialThreshold {
            text: text.clone(),
            failed,
            observed: None,
            margin: Some(margin),
            is_time: true,
        };
        let outcome = match failed {
            true => TrialOutcome::Failed { threshold: text, margin: Some(margin) },
            false => TrialOutcome::Passed,
        };
        let measures = TrialMeasures {
            requests: (4.0 * load) as u64,
            throughput_per_s: load.min(100.0),
            response_s,
            error_share: 0.0,
            thresholds: vec![threshold],
        };
        TrialRecord {
            number,
            purpose: None,
            load,
            seconds: 4.0,
            overload: None,
            outcome,
            void_reason: None,
            measures: Some(measures),
            dir: String::new(),
        }
    }

    #[test]
    fn light_trials_grow_until_one_fails() {
        let plan = plan(&["mean < 50ms"]);
        let mut records: Vec<TrialRecord> = Vec::new();
        while let LightStep::Trial(trial) = next_light(&plan, &records.iter().collect::<Vec<_>>()) {
            assert_eq!(trial.seconds, 4.0);
            records.push(record(records.len() as u32 + 1, trial.load));
        }
        let loads: Vec<f64> = records.iter().map(|record| record.load.round()).collect();
        assert_eq!(loads, [10.0, 18.0, 32.0, 56.0, 100.0]);
        let light: Vec<&TrialRecord> = records.iter().collect();
        let (settings, guess) = prepared(&plan, &light);
        assert_eq!(settings.budget_seconds, 580.0);
        let Evidence::Found(facts) = guess else { unreachable!("{guess:?}") };
        assert_eq!(settings.guess, Some(facts.guess));
        // The mean is 50 ms at 80/s.
        assert!((60.0..100.0).contains(&facts.guess.load), "{facts:?}");
    }

    #[test]
    fn void_trials_are_repeated_at_the_first_load_only() {
        let plan = plan(&["mean < 50ms"]);
        let void = TrialRecord {
            outcome: TrialOutcome::Void(busyhour_search::VoidCause::HostSpoiled),
            void_reason: Some("steal".to_owned()),
            ..record(1, 10.0)
        };
        let next = |records: &[&TrialRecord]| next_light(&plan, records);
        assert!(matches!(next(&[&void, &void]), LightStep::Trial(trial) if trial.load == 10.0));
        assert_eq!(next(&[&void, &void, &void]), LightStep::Invalid("steal".to_owned()));
        let good = record(2, 10.0);
        let void = TrialRecord { load: 17.8, ..void };
        assert!(matches!(next(&[&good, &void]), LightStep::Trial(trial) if trial.load > 30.0));
        let (settings, guess) = prepared(&plan, &[&good]);
        assert_eq!((settings.guess, guess.found()), (None, None));
    }
}
