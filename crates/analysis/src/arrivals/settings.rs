//! Settings of a tally of arrivals.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::stalls::StallRule;

/// Resolution of the start times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Nanoseconds; gaps are treated as continuous.
    #[default]
    Nanosecond,
    /// Rounded down to whole milliseconds, as in a JTL. Statistics are compared with those of Poisson arrivals that are rounded in
    /// the same way.
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

/// A known rate, given as the expected number of arrivals up to each time.
///
/// The time-rescaling theorem (Papangelou 1972; Brown and others, "The time-rescaling theorem and its application to
/// neural spike train data analysis", Neural Computation 14, 2002) applies to a Poisson process with the cumulative
/// rate Λ(t). If each arrival time t is replaced by Λ(t), the arrivals form a Poisson process with rate 1. A ramp is
/// judged in this rescaled time, which is multiplied by the mean gap so that windows and gaps keep their units.
#[derive(Clone)]
pub struct KnownRate {
    cumulative: Arc<dyn Fn(u64) -> f64 + Send + Sync>,
    /// Nanoseconds of rescaled time per expected arrival.
    per_arrival_ns: f64,
    end_ns: u64,
}

impl KnownRate {
    /// Creates a known rate from Λ, the expected number of arrivals in \[0, t) for t in ns since the origin of the start times, and
    /// the end of the schedule. `None` if no arrivals are expected.
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

    /// Rescales a start time so that the rate is constant, in ns. Time after the end of the schedule is not rescaled, so that late
    /// arrivals do not all coincide.
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

/// Maximum number of window widths in a tally.
pub(super) const SCALES_MAX: usize = 6;

/// Settings of an [`ArrivalTally`](super::ArrivalTally).
#[derive(Debug, Clone)]
pub struct TallySettings {
    /// Resolution of the start times.
    pub resolution: Resolution,
    /// Largest error, in ns, of the time between two arrivals of different generators; 0 for arrivals of one generator.
    pub clock_bound_ns: u64,
    /// The known rate. Without it, only the part with a steady rate is judged.
    pub known_rate: Option<KnownRate>,
    /// Whether all arrivals are judged even if their rate is not steady. Used for delivered arrivals and their schedule, which must
    /// be compared over the same part.
    pub all: bool,
    /// Rule for detecting stalls, which are excluded from the measures and reported separately.
    pub stalls: StallRule,
    /// Widths, in ns, of the windows in which arrivals are counted; at most six.
    pub scales_ns: Vec<u64>,
}

impl TallySettings {
    /// Default settings: windows of 10 ms, 100 ms, 1 s and 10 s, and of 1 ms for a resolution of nanoseconds; no known rate.
    #[must_use]
    pub fn new(resolution: Resolution) -> TallySettings {
        let mut scales_ns = vec![10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];
        if resolution == Resolution::Nanosecond {
            scales_ns.insert(0, 1_000_000);
        }
        TallySettings {
            resolution,
            clock_bound_ns: 0,
            known_rate: None,
            all: false,
            stalls: StallRule::Poisson,
            scales_ns,
        }
    }

    /// Judges all arrivals, whether or not their rate is steady.
    #[must_use]
    pub fn judging_all(mut self) -> TallySettings {
        self.all = true;
        self.stalls = StallRule::NoStalls;
        self
    }

    /// Sets the rule for stalls.
    #[must_use]
    pub fn with_stall_rule(mut self, rule: StallRule) -> TallySettings {
        self.stalls = rule;
        self
    }

    /// Sets the largest error of the time between two arrivals of different generators, in ns.
    #[must_use]
    pub fn with_clock_bound(mut self, bound_ns: u64) -> TallySettings {
        self.clock_bound_ns = bound_ns;
        self
    }

    /// Sets the known rate.
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
