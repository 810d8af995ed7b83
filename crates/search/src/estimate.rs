//! The estimate of the pass curve that the search uses: from measured values if they suffice, or else from passes and failures.

use serde::{Deserialize, Serialize};

use crate::history::History;
use crate::margins::MarginEstimate;
use crate::posterior::{ANSWER_DISTANCE, Posterior, Quantiles};

/// Measured values are not used if passes and failures are this much less probable with them, as the logarithm: then the
/// measured values jump at a limit, such as the size of a pool.
const CONTRADICTION: f64 = 3.0;

/// What an estimate is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateBasis {
    /// How far the measured values of the thresholds are from their limits.
    MeasuredValues,
    /// Only whether trials passed.
    Outcomes,
}

/// The estimate of the pass curve.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    /// The pass curves by passes and failures alone.
    pub outcomes: Posterior,
    /// The estimate from measured values, if they suffice.
    pub margins: Option<MarginEstimate>,
    /// The logarithm of the half-pass load.
    pub half_pass: Quantiles,
    /// The logarithm of the largest load that passes with a probability of at least 95 %.
    pub answer: Quantiles,
    /// The expected width of the pass curve.
    pub width: f64,
}

impl Estimate {
    pub(crate) fn new(history: &History) -> Estimate {
        let outcomes = Posterior::new(&history.prior(), &history.observations());
        let has_both = history.has_outcome(true) && history.has_outcome(false);
        let margins = has_both
            .then(|| MarginEstimate::new(&history.measured(), outcomes.half_pass.median))
            .flatten()
            .filter(|margins| fits(history, &outcomes, margins));
        let Some(found) = &margins else {
            let (half_pass, answer, width) = (outcomes.half_pass, outcomes.answer, outcomes.width);
            return Estimate { outcomes, margins, half_pass, answer, width };
        };
        let (half_pass, answer) = (found.half_pass, found.answer);
        let width = ((half_pass.median - answer.median) / ANSWER_DISTANCE).max(outcomes.smallest_width());
        Estimate { outcomes, margins, half_pass, answer, width }
    }

    pub(crate) fn basis(&self) -> EstimateBasis {
        if self.margins.is_some() { EstimateBasis::MeasuredValues } else { EstimateBasis::Outcomes }
    }

    /// The standard deviation of the half-pass load.
    pub(crate) fn half_pass_sd(&self) -> f64 {
        if self.margins.is_some() { self.half_pass.deviation() } else { self.outcomes.half_pass_sd() }
    }

    /// The probability that a trial of full length passes.
    pub(crate) fn pass_probability(&self, x: f64) -> f64 {
        match &self.margins {
            Some(margins) => margins.pass_probability(x, 1.0),
            None => self.outcomes.mean(|curve| curve.pass_probability(x, 1.0)),
        }
    }
}

/// The load to report: the median of the answer, reduced if necessary so that it rarely exceeds the largest load by more than
/// the precision.
pub(crate) fn stated_load(history: &History, estimate: &Estimate) -> f64 {
    let answer = estimate.answer;
    answer.median.min(answer.fifth + history.settings.precision.ln_1p()).exp()
}

/// Whether the interval of the answer is at most twice as wide as the precision, times a factor. Users are whole numbers, so that both
/// ends may be the same one.
pub(crate) fn is_precise(history: &History, estimate: &Estimate, factor: f64) -> bool {
    if !history.has_outcome(true) || !history.has_outcome(false) {
        return false;
    }
    let answer = estimate.answer;
    let kind = history.settings.kind;
    let is_one_load = kind.round_down(answer.low.exp()) == kind.round_down(answer.high.exp());
    is_one_load || answer.high - answer.low <= 2.0 * history.settings.precision.ln_1p() * factor
}

/// Whether the curve by measured values is about as probable as that by passes and failures, given the latter.
fn fits(history: &History, outcomes: &Posterior, margins: &MarginEstimate) -> bool {
    let reach = (margins.half_pass.median - margins.answer.low).max(0.1);
    let near = history.observations();
    let near = near.iter().filter(|one| (one.x - margins.half_pass.median).abs() <= reach);
    let log = |probability: f64, passed: bool| {
        (if passed { probability } else { 1.0 - probability }).max(1e-3).ln()
    };
    let difference = near.map(|one| {
        let by_outcomes = outcomes.mean(|curve| curve.pass_probability(one.x, one.share));
        log(by_outcomes, one.passed) - log(margins.pass_probability(one.x, one.share), one.passed)
    });
    difference.sum::<f64>() < CONTRADICTION
}
