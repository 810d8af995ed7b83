//! Confirmation runs, and trials from above.

use serde::Serialize;

use crate::estimate::Estimate;
use crate::from_above::shift;
use crate::history::History;
use crate::trial::{NextTrial, Overload, TrialPurpose};

/// Shares of the budget that are reserved for confirmation runs and for trials from above.
const CONFIRMATION_SHARE: f64 = 0.3;
const FROM_ABOVE_SHARE: f64 = 0.2;

/// The length of an overload as a share of the full length of a trial.
const OVERLOAD_SHARE: f64 = 0.5;

/// The overload: `OVERLOAD_DISTANCE` widths above the half-pass load, where 1 % of the trials pass, but at least
/// `OVERLOAD_FACTOR` times the half-pass load.
const OVERLOAD_DISTANCE: f64 = 4.6;
const OVERLOAD_FACTOR: f64 = 1.2;

/// Minimum number of trials from above; fewer are not informative.
const FROM_ABOVE_MIN: u32 = 2;

/// The repetitions that the budget allows, and their time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Planned {
    pub confirmations: u32,
    pub from_above: u32,
    /// Seconds of both.
    pub seconds: f64,
    /// Seconds of the trials from above.
    pub from_above_seconds: f64,
}

/// Plans the repetitions at a load.
pub(crate) fn planned(history: &History, load: f64) -> Planned {
    let settings = &history.settings;
    let full = settings.length.full_seconds_at(load);
    let from_above_full = full * (1.0 + OVERLOAD_SHARE);
    let affordable = |share: f64, seconds: f64| (share * settings.budget_seconds / seconds) as u32;
    let confirmations = settings.confirmations.min(affordable(CONFIRMATION_SHARE, full));
    let mut from_above = settings.trials_from_above.min(affordable(FROM_ABOVE_SHARE, from_above_full));
    if from_above < FROM_ABOVE_MIN {
        from_above = 0;
    }
    let from_above_seconds = f64::from(from_above) * from_above_full;
    let seconds = f64::from(confirmations) * full + from_above_seconds;
    Planned { confirmations, from_above, seconds, from_above_seconds }
}

/// Runs at one load that all have to pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Confirmation {
    /// The load.
    pub load: f64,
    /// Runs at this load since the last failure, all of which passed.
    pub passed: u32,
    /// Number of planned runs.
    pub wanted: u32,
    /// Number of earlier runs that failed. Each of them lowered the load or restarted the count.
    pub failed: u32,
    /// Lower bound of the pass probability, with a confidence of 95 %. `None` unless all planned runs passed and none failed
    /// before.
    pub pass_probability_at_least: Option<f64>,
}

/// The confirmation runs so far; `None` if there were none.
pub(crate) fn confirmation(history: &History) -> Option<Confirmation> {
    let runs: Vec<(f64, bool)> = history
        .judged_for(TrialPurpose::Confirm)
        .map(|(finished, passed)| (finished.trial.load, passed))
        .collect();
    let (load, _) = *runs.last()?;
    let wanted = planned(history, load).confirmations;
    let passed = runs.iter().rev().take_while(|(at, passed)| *passed && *at >= load).count() as u32;
    let failed = runs.iter().filter(|(_, passed)| !passed).count() as u32;
    let is_confirmed = passed >= wanted && wanted > 0 && failed == 0;
    let bound = is_confirmed.then(|| 0.05_f64.powf(1.0 / f64::from(passed)));
    Some(Confirmation { load, passed, wanted, failed, pass_probability_at_least: bound })
}

/// The next confirmation run at the answer. `None` if enough passed, or the budget does not suffice for the missing ones.
pub(crate) fn confirmation_run(history: &History, answer: f64) -> Option<NextTrial> {
    let plan = planned(history, answer);
    let so_far = confirmation(history);
    let is_same_load = so_far.is_some_and(|confirmation| confirmation.load <= answer);
    let missing = match so_far {
        Some(confirmation) if is_same_load => plan.confirmations.saturating_sub(confirmation.passed),
        _ => plan.confirmations,
    };
    let trial = history.trial(answer, 1.0, TrialPurpose::Confirm);
    (missing > 0 && history.remaining_seconds() >= f64::from(missing) * trial.seconds).then_some(trial)
}

/// How the half-pass load differs after an overload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hysteresis {
    /// Number of trials.
    pub trials: u32,
    /// The half-pass load after an overload divided by that without an overload, minus 1, as a median. It is −0.1 if the
    /// half-pass load is 10 % lower after an overload.
    pub difference: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval. If it is below 0, the system does not recover from an overload at loads that it otherwise
    /// serves.
    pub high: f64,
}

/// The trials from above so far; `None` if there were none.
pub(crate) fn hysteresis(history: &History, estimate: &Estimate) -> Option<Hysteresis> {
    let outcomes = history.outcomes_from_above();
    let falls = shift(&estimate.outcomes, &outcomes);
    let difference = |fall: f64| (-fall).exp_m1();
    (!outcomes.is_empty()).then(|| Hysteresis {
        trials: outcomes.len() as u32,
        difference: difference(falls.median),
        low: difference(falls.high),
        high: difference(falls.low),
    })
}

/// The next trial from above. The first one is at the answer, later ones are at the median of the half-pass load after an
/// overload. `None` if there were enough, the budget does not suffice, or the range contains no overload.
pub(crate) fn from_above_trial(history: &History, estimate: &Estimate, answer: f64) -> Option<NextTrial> {
    let outcomes = history.outcomes_from_above();
    if outcomes.len() >= planned(history, answer).from_above as usize {
        return None;
    }
    let width = estimate.width;
    let half_pass = estimate.half_pass;
    let wanted = (half_pass.high + OVERLOAD_DISTANCE * width).max(half_pass.median + OVERLOAD_FACTOR.ln());
    let overload = history.possible(wanted.exp());
    if overload.ln() <= half_pass.high {
        return None;
    }
    let load = match outcomes.len() {
        0 => answer,
        _ => history.possible((half_pass.median - shift(&estimate.outcomes, &outcomes).median).exp()),
    };
    let trial = history.trial(load, 1.0, TrialPurpose::FromAbove);
    let overload = Overload { load: overload, seconds: (OVERLOAD_SHARE * trial.seconds).ceil() };
    let trial = NextTrial { overload: Some(overload), ..trial };
    (history.remaining_seconds() >= trial.load_seconds()).then_some(trial)
}
