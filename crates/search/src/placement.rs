//! Where the next trial of the search is, and how long it takes.

use crate::estimate::{Estimate, EstimateBasis, stated_load};
use crate::history::History;
use crate::trial::{NextTrial, TrialPurpose};

/// Trials at the median of the half-pass load; later ones are beside it, to learn the width.
const TRIALS_AT_MEDIAN: usize = 5;

/// The distance from the median in widths.
const DISTANCE: f64 = 1.2;

/// The places of later trials in widths. At the last one, 95 % of the trials pass: the answer does not rely on the form of the
/// curve alone.
const PLACES: [f64; 5] = [-DISTANCE, DISTANCE, -DISTANCE, DISTANCE, -3.0];

/// The places if there are measured values: around the answer, and above the half-pass load, which shows the slope.
const MEASURED_PLACES: [f64; 5] = [-3.0, 1.2, -4.5, -3.0, -0.5];

/// The distance of a trial that has to pass, in widths: by the expected width, 88 % pass.
const SUPPORT_DISTANCE: f64 = 2.0;

/// After this share of the budget, trials have at least this share of the full length, whatever the uncertainty.
const LATE: f64 = 0.4;
const LATE_SHARE: f64 = 0.5;

/// Trials of full length before an answer is precise.
const FULL_TRIALS: usize = 6;

/// The next trial of the search.
///
/// Far from the half-pass load, a short trial has the same outcome as a long one. Its length is the full one when the uncertainty of
/// the half-pass load has fallen to the width.
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
    // The noise of short trials says less about that of trials of full length.
    let is_measured = estimate.basis() == EstimateBasis::MeasuredValues;
    let shortest = if is_late || is_measured { LATE_SHARE } else { 0.0 };
    let share = (width / estimate.half_pass_sd()).powi(2).clamp(shortest, 1.0);
    // At an end of the range, the uncertainty remains large. Trials of full length decide after the first one.
    let decides = |passed: bool| {
        history.judged().any(|(finished, outcome)| finished.trial.load == load && outcome == passed)
    };
    let is_at_end = load >= history.highest() && wanted >= load && decides(true)
        || load <= history.settings.lowest && wanted <= load && decides(false);
    history.trial(load, if is_at_end { 1.0 } else { share }, TrialPurpose::Search)
}

/// A trial of full length if there were few, none that failed, or none that passed at the answer or above: short trials may pass
/// before queues have built up, and the first precise answer may be so by chance.
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

/// A trial of full length that probably passes, if none passed at the lower end of the answer or above: no answer is above a load
/// that passed.
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
