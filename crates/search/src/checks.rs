//! Checks whether the pass rate falls with the load: trials far from the half-pass load, and repetitions of surprising outcomes.

use crate::estimate::Estimate;
use crate::history::History;
use crate::monotone::{counts, p_value};
use crate::trial::{FinishedTrial, NextTrial, TrialPurpose};

/// A p value below which the pass rate does not fall. Looks are repeated, so it is small.
const NOT_MONOTONE: f64 = 0.005;

/// Below this p value, the suspicious loads are repeated.
const SUSPICIOUS: f64 = 0.2;

/// An outcome with a smaller probability is surprising.
const SURPRISING: f64 = 0.03;

/// Repetitions: of a surprising outcome, of suspicious loads, and of all.
const TRIALS_AT_SURPRISE: usize = 3;
const TRIALS_AT_SUSPECT: usize = 7;
const CHECKS_MAX: usize = 14;

/// Factors from the lower end of the range and from the half-pass load, up to which a load counts as near the end, and from which it
/// counts as far above. The check above is at a still higher load.
const NEAR_END: f64 = 1.5;
const FAR_ABOVE: f64 = 1.5;
const CHECK_ABOVE: f64 = 2.0;

/// The result of the checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Checked {
    /// Nothing contradicts a falling pass rate.
    Falls,
    /// This trial shows whether it falls.
    Repeat(NextTrial),
    /// It does not fall.
    NotMonotone,
}

/// The p value of a falling pass rate.
pub(crate) fn falling_p(history: &History) -> f64 {
    p_value(&counts(history.judged().map(|(finished, passed)| (finished.trial.load, passed))))
}

/// Whether a p value rules out a falling pass rate.
pub(crate) fn is_not_monotone(p: f64) -> bool {
    p < NOT_MONOTONE
}

/// Looks for a failure at a load below one that passed, one of which is surprising.
pub(crate) fn contradiction(history: &History, estimate: &Estimate) -> Checked {
    let extreme = |wanted: bool, is_better: fn(f64, f64) -> bool| {
        history.judged().filter(|(_, passed)| *passed == wanted).map(|(finished, _)| finished).reduce(
            |best: &FinishedTrial, next| {
                if is_better(next.trial.load, best.trial.load) { next } else { best }
            },
        )
    };
    let (Some(failed), Some(passed)) = (extreme(false, |a, b| a < b), extreme(true, |a, b| a > b)) else {
        return Checked::Falls;
    };
    if failed.trial.load >= passed.trial.load {
        return Checked::Falls;
    }
    let checks = history.judged_for(TrialPurpose::Check).count();
    let pass_probability = |finished: &FinishedTrial| {
        let share = history.share(finished);
        estimate.outcomes.mean(|curve| curve.pass_probability(finished.trial.load.ln(), share))
    };
    let surprises = [(failed, 1.0 - pass_probability(failed)), (passed, pass_probability(passed))];
    let trials_at = |load: f64| history.judged().filter(|(finished, _)| finished.trial.load == load).count();
    // At a low load, a quantile needs a trial that could take the whole budget, so that its length is that at the half-pass load.
    let length = &history.settings.length;
    let seconds = length.full_seconds_at(history.possible(estimate.half_pass.median.exp()));
    let repeat = |finished: &FinishedTrial| {
        let share = (seconds / length.full_seconds_at(finished.trial.load)).min(1.0);
        Checked::Repeat(history.trial(finished.trial.load, share, TrialPurpose::Check))
    };
    let is_new = |(finished, p): &&(&FinishedTrial, f64)| {
        *p < SURPRISING && trials_at(finished.trial.load) < TRIALS_AT_SURPRISE
    };
    let surprise = surprises.iter().find(is_new);
    let is_checked = history.judged_for(TrialPurpose::Check).any(|(finished, _)| {
        finished.trial.load == failed.trial.load || finished.trial.load == passed.trial.load
    });
    if surprise.is_none() && !is_checked {
        return Checked::Falls;
    }
    let p = falling_p(history);
    if is_not_monotone(p) {
        return Checked::NotMonotone;
    }
    if checks >= CHECKS_MAX {
        return Checked::Falls;
    }
    if let Some((finished, _)) = surprise {
        return repeat(finished);
    }
    let fewer = if trials_at(failed.trial.load) <= trials_at(passed.trial.load) { failed } else { passed };
    if p < SUSPICIOUS && trials_at(fewer.trial.load) < TRIALS_AT_SUSPECT {
        repeat(fewer)
    } else {
        Checked::Falls
    }
}

/// A short trial near the lower end of the range or far above the half-pass load, if there was none.
pub(crate) fn far_trial(history: &History, half_pass: f64) -> Option<NextTrial> {
    let tried =
        |is_far: &dyn Fn(f64) -> bool| history.judged().any(|(finished, _)| is_far(finished.trial.load));
    // The smallest load at which a short trial is not longer than a full one at the half-pass load.
    let length = &history.settings.length;
    let lowest = history.settings.lowest;
    let slowdown = length.shortest_seconds_at(lowest) / length.full_seconds_at(half_pass);
    let low = history.possible(lowest * slowdown.max(1.0));
    if low * NEAR_END < half_pass / NEAR_END && !tried(&|load| load <= low * NEAR_END) {
        return Some(history.trial(low, 0.0, TrialPurpose::Check));
    }
    let high = half_pass * FAR_ABOVE;
    if high < history.highest() && !tried(&|load| load >= high) {
        let load = history.possible(half_pass * CHECK_ABOVE);
        return (load >= high).then(|| history.trial(load, 0.0, TrialPurpose::Check));
    }
    None
}

/// A short trial between the largest load that failed and the upper end of the range, before nothing counts as passing.
pub(crate) fn trial_above_failures(history: &History) -> Option<NextTrial> {
    let largest = history.judged().map(|(finished, _)| finished.trial.load).reduce(f64::max)?;
    let has_checked = history.judged_for(TrialPurpose::Check).next().is_some();
    let load = history.possible((largest * history.highest()).sqrt());
    (!has_checked && load > FAR_ABOVE * largest).then(|| history.trial(load, 0.0, TrialPurpose::Check))
}
