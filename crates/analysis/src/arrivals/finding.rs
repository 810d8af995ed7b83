//! The result of judging arrivals, as a category.

use busyhour_stats::Decision;
use serde::{Deserialize, Serialize};

use super::measures::{Measure, Quantity};
use super::observed::Observed;
use super::requested::RequestedProcess;
use super::stalls;
use super::steady::Part;

/// Minimum number of arrivals for a verdict. With fewer, the error of the CoV is at least ± 0.16.
pub const ARRIVALS_FOR_VERDICT: u64 = 500;

/// Minimum number of gaps for which the narrow bands apply.
pub(super) const GAPS_NARROW: u64 = 5_200;

/// The result of comparing arrivals with the requested process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// All deciding measures are inside their bands.
    #[serde(rename = "as_asked")]
    AsRequested,
    /// All deciding measures are inside their bands, but there was a stall of at least 0.1 s.
    ExceptStalls,
    /// Gaps vary too much, or too many are short.
    Bunched,
    /// Gaps vary too little.
    TooEven,
    /// The CoV is that of the process, but counts in windows vary too little.
    CountsTooEven,
    /// The CoV is that of the process, but counts in windows vary too much.
    CountsTooUneven,
    /// The same pattern of starts recurs at a fixed interval.
    #[serde(rename = "repeats")]
    PeriodicStarts,
    /// The rate was not steady. The measures are those of the steady part, if there is one.
    RateVaries,
    /// Gaps and counts are those of a Poisson process, but the rate is not the requested one.
    OtherRate,
    /// The arrivals differ from a requested process.
    #[serde(rename = "not_as_asked")]
    NotAsRequested,
    /// The load is closed. It has no requested process and is only described.
    ClosedLoad,
    /// The load is closed, and its requests started later than the plan's delays and timers specify.
    LateClosedLoad,
    /// A confidence interval is partly inside and partly outside its band.
    Undecided,
    /// There are fewer than [`ARRIVALS_FOR_VERDICT`] arrivals.
    TooFew,
    /// All start times are equal.
    AllAtOnce,
    /// There is no part with a steady rate. Only earlier versions produced this finding; now it is [`Finding::RateVaries`].
    NeverSteady,
    /// The resolution of the start times is too coarse for the rate.
    #[serde(rename = "coarse")]
    StampsTooCoarse,
    /// The process requires a schedule for comparison, and there is none.
    #[serde(rename = "nothing_to_compare")]
    ScheduleMissing,
}

/// Whether the measures compare the arrivals with the theory of the Poisson process, not with a schedule.
pub(super) fn is_compared_with_poisson(requested: &RequestedProcess, has_schedule: bool) -> bool {
    match requested {
        RequestedProcess::Unknown | RequestedProcess::Closed { .. } => true,
        RequestedProcess::Poisson | RequestedProcess::FixedCount => !has_schedule,
        _ => false,
    }
}

/// The data on which the finding is based.
#[derive(Debug, Clone, Copy)]
pub(super) struct Basis<'a> {
    pub(super) observed: &'a Observed,
    pub(super) requested: &'a RequestedProcess,
    pub(super) measures: &'a [Measure],
    pub(super) has_schedule: bool,
    /// Whether the starts of a closed load were later than its plan specifies.
    pub(super) is_late: bool,
}

impl Basis<'_> {
    pub(super) fn is_poisson(&self) -> bool {
        is_compared_with_poisson(self.requested, self.has_schedule)
    }

    /// Combines the decisions of the measures: outside if any measure is outside its band, inside if all deciding measures are
    /// inside theirs.
    fn of_measures(&self) -> Decision {
        if !self.measures.iter().any(|measure| measure.decides) {
            return Decision::Inconclusive;
        }
        let decision = self
            .measures
            .iter()
            .filter(|measure| measure.decides || measure.decision == Decision::Outside)
            .filter(|measure| !self.observed.is_blurred(&measure.quantity))
            .fold(Decision::Inside, |all, measure| all.and(measure.decision));
        match decision {
            Decision::Inside if self.observed.is_too_coarse() => Decision::Inconclusive,
            decision => decision,
        }
    }

    /// Returns the decision and the finding.
    pub(super) fn decide(&self) -> (Decision, Finding) {
        let observed = self.observed;
        if observed.arrivals < ARRIVALS_FOR_VERDICT {
            return (Decision::Inconclusive, Finding::TooFew);
        }
        if observed.span_s == 0.0 {
            return (Decision::Inconclusive, Finding::AllAtOnce);
        }
        if matches!(self.requested, RequestedProcess::Closed { .. }) {
            // A closed load has no requested process. Its plan specifies only delays.
            return match self.is_late {
                true => (Decision::Outside, Finding::LateClosedLoad),
                false => (Decision::Inside, Finding::ClosedLoad),
            };
        }
        let of_measures = self.of_measures();
        let varies = self.is_poisson() && matches!(observed.part, Part::Steady | Part::NeverSteady);
        let has_stall = observed.stalls.iter().any(|stall| stall.length_s >= stalls::MATERIAL_S);
        match of_measures {
            _ if observed.part == Part::NeverSteady && self.is_poisson() => {
                (Decision::Outside, Finding::RateVaries)
            }
            Decision::Outside if self.is_poisson() => (Decision::Outside, against_poisson(self.measures)),
            Decision::Outside => (Decision::Outside, Finding::NotAsRequested),
            Decision::Inside | Decision::Inconclusive if varies => (Decision::Outside, Finding::RateVaries),
            Decision::Inside if has_stall => (Decision::Outside, Finding::ExceptStalls),
            Decision::Inside => (Decision::Inside, Finding::AsRequested),
            Decision::Inconclusive if self.measures.is_empty() => {
                (Decision::Inconclusive, Finding::ScheduleMissing)
            }
            Decision::Inconclusive if observed.is_too_coarse() => {
                (Decision::Inconclusive, Finding::StampsTooCoarse)
            }
            // A stall is never due to chance. It therefore determines the decision even if the measures are
            // inconclusive.
            Decision::Inconclusive if has_stall => (Decision::Outside, Finding::ExceptStalls),
            Decision::Inconclusive => (Decision::Inconclusive, Finding::Undecided),
        }
    }
}

/// CoV below which arrivals with a repeated pattern are called even.
pub(super) const NEARLY_EVEN: f64 = 0.5;
/// CoV above which arrivals with a repeated pattern are called bursty.
const VERY_BURSTY: f64 = 1.5;

fn against_poisson(measures: &[Measure]) -> Finding {
    let is_high = |select: fn(&Quantity) -> bool| {
        measures.iter().any(|measure| select(&measure.quantity) && measure.is_high())
    };
    let is_low = |select: fn(&Quantity) -> bool| {
        measures.iter().any(|measure| select(&measure.quantity) && measure.is_low())
    };
    let of_counts = |quantity: &Quantity| matches!(quantity, Quantity::Dispersion { .. });
    let of_gaps = |quantity: &Quantity| matches!(quantity, Quantity::Cov | Quantity::ShortGaps { .. });
    let cov = measures.iter().find(|measure| measure.quantity == Quantity::Cov);
    let is_characteristic = cov.is_none_or(|cov| (NEARLY_EVEN..VERY_BURSTY).contains(&cov.estimate.value));
    if is_high(|quantity| matches!(quantity, Quantity::Repetition { .. })) && is_characteristic {
        Finding::PeriodicStarts
    } else if is_high(of_gaps) {
        Finding::Bunched
    } else if is_low(of_gaps) {
        Finding::TooEven
    } else if is_high(of_counts) {
        Finding::CountsTooUneven
    } else if is_low(of_counts) {
        Finding::CountsTooEven
    } else {
        Finding::OtherRate
    }
}
