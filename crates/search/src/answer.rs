//! The answer of a search with its evidence.

use serde::Serialize;

use crate::checks::{falling_p, is_not_monotone};
use crate::end::SearchEnd;
use crate::estimate::{Estimate, EstimateBasis, is_precise, stated_load};
use crate::history::History;
use crate::posterior::{Quantiles, TENTH_DISTANCE};
use crate::repeats::{Confirmation, Hysteresis, confirmation, hysteresis};
use crate::trial::{TrialOutcome, TrialPurpose, VoidCause};

/// Confirmation runs may widen the interval of a precise answer by this factor.
const WIDENED_MAX: f64 = 1.25;

/// From this probability on, the shape is known.
const SHAPE_KNOWN: f64 = 0.8;

/// The largest load that keeps the thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum LargestLoad {
    /// The largest load with at least 95 % passes: the median of its distribution, but at most so high that it exceeds the largest
    /// load by more than the precision with a probability of 5 %.
    Found {
        /// The load.
        load: f64,
    },
    /// The trials narrow the largest load less than the precision requires: more time would narrow it further.
    Between {
        /// Lower end of the interval of 95 %.
        low: f64,
        /// Upper end.
        high: f64,
        /// The median of the distribution of the largest load.
        estimate: f64,
    },
    /// No failure was seen: the largest load is this one or a larger one.
    AtLeast {
        /// The load.
        load: f64,
    },
    /// There is no answer.
    Unavailable {
        /// The reason.
        reason: NoLoad,
    },
}

/// Why there is no largest load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoLoad {
    /// Higher loads pass more often than lower ones.
    NotMonotone,
    /// No trial of full length passed.
    NothingPassed,
    /// No trial failed, but the budget did not suffice for one of full length.
    SmallBudget,
    /// The load is below the range.
    BelowRange,
}

impl NoLoad {
    /// The reason as a sentence without a full stop.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            NoLoad::NotMonotone => SearchEnd::NotMonotone.reason(),
            NoLoad::NothingPassed => {
                "no trial of full length passed; start at a lower load or raise the budget"
            }
            NoLoad::SmallBudget => {
                "no trial failed, but the budget was too small for a trial of full length; raise the budget"
            }
            NoLoad::BelowRange => {
                "the smallest load of the range may pass in less than 95 % of the trials; start at a lower load"
            }
        }
    }
}

/// A load with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoadInterval {
    /// Lower end; `None` if nothing passed.
    pub low: Option<f64>,
    /// Median; `None` if an end is missing.
    pub median: Option<f64>,
    /// Upper end; `None` if nothing failed.
    pub high: Option<f64>,
}

/// How passes turn to failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveShape {
    /// The loads with 90 % and 10 % passes differ by less than the precision.
    Cliff,
    /// They differ by more.
    Gradual,
    /// The trials do not show it.
    Undetermined,
}

/// The width of the pass curve: half the relative distance of the loads with 90 % and 10 % passes, such as 0.02 for ± 2 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurveWidth {
    /// The shape.
    pub shape: CurveShape,
    /// The probability of a cliff.
    pub cliff_probability: f64,
    /// Lower end of the interval of 95 %.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// A threshold that failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedThreshold {
    /// Its name.
    pub threshold: String,
    /// Trials in which it failed by the most.
    pub trials: u32,
    /// The smallest of their loads.
    pub smallest_load: f64,
    /// The relative excess over its limit there, if known.
    pub margin: Option<f64>,
}

/// The result of a search, or its state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchReport {
    /// Why the search ended; `None` while it continues.
    pub end: Option<SearchEnd>,
    /// The largest load that keeps the thresholds in 95 % of trials of full length.
    pub largest_load: LargestLoad,
    /// The interval of the largest load.
    pub interval: LoadInterval,
    /// The load at which half of the trials pass.
    pub half_pass: LoadInterval,
    /// What the loads are estimated from.
    pub basis: EstimateBasis,
    /// The width of the pass curve. `None` unless trials passed and failed.
    pub width: Option<CurveWidth>,
    /// The thresholds that failed at the smallest loads, these first.
    pub failed_thresholds: Vec<FailedThreshold>,
    /// The confirmation runs. `None` if there were none.
    pub confirmation: Option<Confirmation>,
    /// The trials from above. `None` if there were none.
    pub hysteresis: Option<Hysteresis>,
    /// The probability of outcomes that fit a falling pass rate as badly, if it falls.
    pub monotone_p: f64,
    /// The largest load that the generator may deliver, if larger ones were not delivered.
    pub generator_limit: Option<f64>,
    /// Trials with an outcome.
    pub trials: u32,
    /// Trials for which the load was not delivered.
    pub void_not_delivered: u32,
    /// Trials that were spoiled on the host.
    pub void_host_spoiled: u32,
    /// Seconds under load, with those of void trials.
    pub load_seconds: f64,
}

/// The recommended load: that of [`stated_load`], or a confirmed load near it. Without measured values, it is at most the largest load
/// that passed, and `None` if no trial of full length passed.
pub(crate) fn recommended(history: &History, estimate: &Estimate) -> Option<f64> {
    let supported = match estimate.basis() {
        EstimateBasis::MeasuredValues => f64::INFINITY,
        EstimateBasis::Outcomes => history.largest_passed()?,
    };
    let stated = stated_load(history, estimate).min(supported);
    // Confirmation runs change the estimate a little, which does not need other runs.
    let last_confirmed =
        history.judged_for(TrialPurpose::Confirm).next_back().map(|(finished, _)| finished.trial.load);
    let is_near = |load: &f64| (load / stated).ln().abs() <= history.settings.precision.ln_1p() / 2.0;
    Some(last_confirmed.filter(is_near).unwrap_or(history.settings.kind.round_down(stated)))
}

/// Everything that is known.
pub(crate) fn report(history: &History, end: Option<SearchEnd>) -> SearchReport {
    let estimate = Estimate::new(history);
    let (has_passes, has_failures) = (history.has_outcome(true), history.has_outcome(false));
    let interval = |quantiles: Quantiles| LoadInterval {
        low: has_passes.then(|| quantiles.low.exp()),
        median: (has_passes && has_failures).then(|| quantiles.median.exp()),
        high: has_failures.then(|| quantiles.high.exp()),
    };
    let monotone_p = falling_p(history);
    let not_monotone = end == Some(SearchEnd::NotMonotone) || is_not_monotone(monotone_p);
    let widened = if end == Some(SearchEnd::Precise) { WIDENED_MAX } else { 1.0 };
    let is_wide = has_passes && has_failures && !is_precise(history, &estimate, widened);
    let largest_load = match recommended(history, &estimate) {
        _ if not_monotone => LargestLoad::Unavailable { reason: NoLoad::NotMonotone },
        None if has_passes && !has_failures => LargestLoad::Unavailable { reason: NoLoad::SmallBudget },
        None => LargestLoad::Unavailable { reason: NoLoad::NothingPassed },
        Some(_) if is_wide && estimate.answer.median >= history.settings.lowest.ln() => {
            let Quantiles { low, median, high, .. } = estimate.answer;
            LargestLoad::Between { low: low.exp(), high: high.exp(), estimate: median.exp() }
        }
        Some(load) if load < history.settings.lowest => {
            LargestLoad::Unavailable { reason: NoLoad::BelowRange }
        }
        Some(load) if has_failures => LargestLoad::Found { load },
        Some(load) => LargestLoad::AtLeast { load },
    };
    SearchReport {
        end,
        largest_load,
        interval: interval(estimate.answer),
        half_pass: interval(estimate.half_pass),
        basis: estimate.basis(),
        width: (has_passes && has_failures).then(|| width(&estimate, history.settings.precision)),
        failed_thresholds: failed_thresholds(history),
        confirmation: confirmation(history),
        hysteresis: hysteresis(history, &estimate),
        monotone_p,
        generator_limit: history.generator_limit(),
        trials: history.trials.iter().filter(|finished| !History::is_void(finished)).count() as u32,
        void_not_delivered: history.void_trials(VoidCause::LoadNotDelivered) as u32,
        void_host_spoiled: history.void_trials(VoidCause::HostSpoiled) as u32,
        load_seconds: history.spent_seconds(),
    }
}

fn width(estimate: &Estimate, precision: f64) -> CurveWidth {
    let is_cliff = |tenth: f64| (2.0 * tenth).exp_m1() <= precision;
    let share = |is_cliff: bool| f64::from(u8::from(is_cliff));
    let (tenth, cliff_probability) = match &estimate.margins {
        Some(margins) => (margins.tenth(), margins.mean_of_tenth(|tenth| share(is_cliff(tenth)))),
        None => {
            let tenth = estimate.outcomes.quantiles(|curve| TENTH_DISTANCE * curve.width);
            let probability = estimate.outcomes.mean(|curve| share(is_cliff(TENTH_DISTANCE * curve.width)));
            (tenth, probability)
        }
    };
    let shape = if cliff_probability >= SHAPE_KNOWN {
        CurveShape::Cliff
    } else if cliff_probability <= 1.0 - SHAPE_KNOWN {
        CurveShape::Gradual
    } else {
        CurveShape::Undetermined
    };
    CurveWidth {
        shape,
        cliff_probability,
        low: tenth.low.exp_m1(),
        median: tenth.median.exp_m1(),
        high: tenth.high.exp_m1(),
    }
}

fn failed_thresholds(history: &History) -> Vec<FailedThreshold> {
    let mut found: Vec<FailedThreshold> = Vec::new();
    for (finished, _) in history.judged() {
        let TrialOutcome::Failed { threshold, margin } = &finished.outcome else { continue };
        match found.iter_mut().find(|known| known.threshold == *threshold) {
            Some(known) => {
                known.trials += 1;
                if finished.trial.load < known.smallest_load {
                    (known.smallest_load, known.margin) = (finished.trial.load, *margin);
                }
            }
            None => found.push(FailedThreshold {
                threshold: threshold.clone(),
                trials: 1,
                smallest_load: finished.trial.load,
                margin: *margin,
            }),
        }
    }
    found.sort_by(|one, two| one.smallest_load.total_cmp(&two.smallest_load));
    found
}
