//! What is known beforehand of the stamps that will be tallied.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::stalls::StallRule;

/// How fine the clock was that made the stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Nanoseconds: gaps are taken as continuous.
    #[default]
    Nanosecond,
    /// Rounded down to whole milliseconds, as in a JTL: everything is compared with Poisson arrivals seen through the
    /// same clock.
    Millisecond,
}

impl Resolution {
    /// One tick of the clock, in ns.
    #[must_use]
    pub fn tick_ns(self) -> u64 {
        match self {
            Resolution::Nanosecond => 1,
            Resolution::Millisecond => 1_000_000,
        }
    }
}

/// A rate that was known beforehand, as the expected number of arrivals up to each time.
///
/// By the time-rescaling theorem (Papangelou 1972; Brown and others, "The time-rescaling theorem and its application to
/// neural spike train data analysis", Neural Computation 14, 2002) the arrivals of a Poisson process with the
/// cumulative rate Λ(t) are, at the times Λ(t), those of one with the rate 1. A ramp is judged on that clock; it is
/// scaled to the mean rate, so that windows and gaps keep their units.
#[derive(Clone)]
pub struct KnownRate {
    cumulative: Arc<dyn Fn(u64) -> f64 + Send + Sync>,
    /// ns on the new clock per expected arrival.
    per_arrival_ns: f64,
    end_ns: u64,
}

impl KnownRate {
    /// From Λ, the expected number of arrivals in \[0, t) for t in ns since the stamps' origin, and the schedule's end.
    /// `None` when nothing is expected.
    #[must_use]
    pub fn new(cumulative: Arc<dyn Fn(u64) -> f64 + Send + Sync>, end_ns: u64) -> Option<KnownRate> {
        let expected = cumulative(end_ns);
        let per_arrival_ns = end_ns as f64 / expected;
        (expected > 0.0 && per_arrival_ns > 0.0 && per_arrival_ns.is_finite()).then_some(KnownRate {
            cumulative,
            per_arrival_ns,
            end_ns,
        })
    }

    /// The stamp on the clock on which the rate is constant, in ns. After the schedule's end the clock goes on as it is:
    /// arrivals that are late there are not all at one instant.
    pub(super) fn rescale(&self, stamp_ns: u64) -> u64 {
        let expected = (self.cumulative)(stamp_ns.min(self.end_ns));
        let after_ns = stamp_ns.saturating_sub(self.end_ns);
        ((expected * self.per_arrival_ns).round() as u64).saturating_add(after_ns)
    }
}

impl fmt::Debug for KnownRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownRate").field("per_arrival_ns", &self.per_arrival_ns).finish_non_exhaustive()
    }
}

/// Most widths of windows in one tally.
pub(super) const SCALES_MAX: usize = 6;

/// What an [`ArrivalTally`](super::ArrivalTally) has to know.
#[derive(Debug, Clone)]
pub struct TallySettings {
    /// How fine the stamps are.
    pub resolution: Resolution,
    /// The rate, where it was known beforehand; otherwise the arrivals are judged where their rate is steady.
    pub known_rate: Option<KnownRate>,
    /// Whether all arrivals are judged together although their rate is not known: right for delivered arrivals and
    /// their schedule, which must be compared over the same part.
    pub all: bool,
    /// Which gaps are stalls, which are left out of the measures and reported on their own.
    pub stalls: StallRule,
    /// Widths, in ns, of the windows in which arrivals are counted; six at most.
    pub scales_ns: Vec<u64>,
}

impl TallySettings {
    /// Windows of 10 ms, 100 ms, 1 s and 10 s, and of 1 ms where the clock resolves them; no known rate.
    #[must_use]
    pub fn new(resolution: Resolution) -> TallySettings {
        let mut scales_ns = vec![10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];
        if resolution == Resolution::Nanosecond {
            scales_ns.insert(0, 1_000_000);
        }
        TallySettings { resolution, known_rate: None, all: false, stalls: StallRule::Poisson, scales_ns }
    }

    /// The same, with all arrivals judged together, whether or not their rate is steady.
    #[must_use]
    pub fn judging_all(mut self) -> TallySettings {
        self.all = true;
        self.stalls = StallRule::Ignore;
        self
    }

    /// The same with another rule for stalls.
    #[must_use]
    pub fn with_stall_rule(mut self, rule: StallRule) -> TallySettings {
        self.stalls = rule;
        self
    }

    /// The same, judged on the clock of a known rate.
    #[must_use]
    pub fn with_known_rate(mut self, rate: KnownRate) -> TallySettings {
        self.known_rate = Some(rate);
        self
    }
}

impl Default for TallySettings {
    fn default() -> TallySettings {
        TallySettings::new(Resolution::Nanosecond)
    }
}
