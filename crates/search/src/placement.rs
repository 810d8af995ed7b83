//! The load and the length of the next trial of the search.

use crate::estimate::{Estimate, EstimateBasis, stated_load};
use crate::history::History;
use crate::trial::{NextTrial, TrialPurpose};

/// Number of trials at the median of the half-pass load. Later trials are at a distance from it, to estimate the width.
const TRIALS_AT_MEDIAN: usize = 5;

/// The distance from the median in widths.
const DISTANCE: f64 = 1.2;

/// The distances of later trials from the median, in widths. At the last one, 95 % of the trials pass, so that the answer does
/// not rely only on the shape of the curve.
const PLACES: [f64; 5] = [-DISTANCE, DISTANCE, -DISTANCE, DISTANCE, -3.0];

/// The distances if there are measured values: around the answer, and above the half-pass load to estimate the slope.
const MEASURED_PLACES: [f64; 5] = [-3.0, 1.2, -4.5, -3.0, -0.5];

/// The distance of a trial that has to pass, in widths. If the width is the expected one, 88 % of such trials pass.
const SUPPORT_DISTANCE: f64 = 2.0;

/// After the share `LATE` of the budget, trials have at least the share `LATE_SHARE` of the full length, regardless of the
/// uncertainty.
const LATE: f64 = 0.4;
const LATE_SHARE: f64 = 0.5;

/// Minimum number of trials of full length before an answer counts as precise.
const FULL_TRIALS: usize = 6;

/// The next trial of the search.
///
/// Far from the half-pass load, a short trial has the same outcome as a long one. Trials have the full length once the uncertainty
/// of the half-pass load has fallen to the width.
pub(crate) fn search_trial(history: &History, estimate: &Estimate) -> NextTrial {
    let trials = history.judged_for(TrialPurpose::Search).count();
    let width = estimate.width;
    let side = match estimate.basis() {
        EstimateBasis::Outcomes if trials < TRIALS_AT_MEDIAN => 0.0,
        EstimateBasis::Outcomes => PLACES[trials % PLACES.len()],
        EstimateBasis::MeasuredValues => MEASURED_PLACES[trials % MEASURED_PLACES.len()],
    };
    let median = estimate.half_pass.median;
    let wanted = (median + side * width).exp();
    let load = history.possible(wanted);
    let is_late = history.spent_seconds() > LATE * history.settings.budget_seconds;
    // Short trials are less informative about the noise of trials of full length.
    let is_measured = estimate.basis() == EstimateBasis::MeasuredValues;
    let shortest = if is_late || is_measured { LATE_SHARE } else { 0.0 };
    let share = (width / estimate.half_pass_sd()).powi(2).clamp(shortest, 1.0);
    // At an end of the range, the uncertainty remains large. After the first trial there, trials of full length decide.
    let decides = |passed: bool| {
        history.judged().any(|(finished, outcome)| finished.trial.load == load && outcome == passed)
    };
    let is_at_end = load >= history.highest() && wanted >= load && decides(true)
        || load <= history.settings.lowest && wanted <= load && decides(false);
    history.trial(load, if is_at_end { 1.0 } else { share }, TrialPurpose::Search)
}

/// A trial of full length if there were only a few, if none failed, or if none passed at the answer or above: short trials may
/// pass because queues have not built up yet, and the first precise answer may be precise only by chance.
pub(crate) fn missing_full_trial(history: &History, estimate: &Estimate) -> Option<NextTrial> {
    let answer = history.settings.kind.round_down(stated_load(history, estimate));
    let has_passed = history.largest_passed().is_some_and(|load| load >= answer);
    let (passes, failures) = (history.full_trials(true).count(), history.full_trials(false).count());
    let side = match (has_passed, failures) {
        (false, _) => -DISTANCE,
        (true, 0) => DISTANCE,
        _ if passes + failures >= FULL_TRIALS => return None,
        _ if passes <= failures => -DISTANCE,
        _ => DISTANCE,
    };
    let load = history.possible((estimate.half_pass.median + side * estimate.width).exp());
    Some(history.trial(load, 1.0, TrialPurpose::Search))
}

/// A trial of full length that probably passes, if none passed at the lower end of the answer or above: no answer is above the
/// largest load that passed.
pub(crate) fn supporting_trial(
    history: &History,
    estimate: &Estimate,
    purpose: TrialPurpose,
) -> Option<NextTrial> {
    let low = history.settings.kind.round_down(stated_load(history, estimate));
    let is_supported = history.largest_passed().is_some_and(|passed| passed >= low);
    let is_possible = (history.settings.lowest..=history.highest()).contains(&low);
    let wanted = (estimate.half_pass.median - SUPPORT_DISTANCE * estimate.width).exp();
    let load = history.possible(wanted.max(low));
    (!is_supported && is_possible).then(|| history.trial(load, 1.0, purpose))
}

/// Shortens a trial to the remaining seconds. `None` if they do not suffice.
pub(crate) fn within(history: &History, trial: NextTrial, seconds: f64) -> Option<NextTrial> {
    let shortest = history.settings.length.shortest_seconds_at(trial.load);
    (seconds >= shortest.min(trial.seconds))
        .then(|| NextTrial { seconds: trial.seconds.min(seconds), ..trial })
}
