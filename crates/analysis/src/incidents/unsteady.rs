//! Ways in which a whole run is not steady.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A way in which a whole run was not steady. Averages over such a run do not describe any state of the system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "pattern", rename_all = "snake_case")]
pub enum Unsteady {
    /// The 95th percentile rose or fell over the whole run.
    Drift {
        /// 95th percentile at the beginning, in ms.
        from_ms: f64,
        /// 95th percentile at the end, in ms.
        to_ms: f64,
    },
    /// The 95th percentile follows a pattern that repeats.
    Recurs {
        /// Length of the pattern in seconds.
        period_s: f64,
        /// The usual minimum of the 95th percentile, in ms: a tenth of the slices have at most this 95th percentile.
        low_ms: f64,
        /// The usual maximum of the 95th percentile, in ms: one in twenty slices has at least this 95th percentile.
        high_ms: f64,
    },
    /// There were several pauses, in which no request was completed.
    Pauses {
        /// Number of pauses.
        pauses: usize,
        /// Length of the longest pause in seconds.
        longest_s: u64,
    },
    /// The beginning was slower than the rest.
    WarmUp {
        /// End of the slow beginning, in seconds from the start of the run.
        until_s: u64,
        /// 95th percentile at the beginning, in ms.
        p95_ms: f64,
        /// 95th percentile after the beginning, in ms.
        later_ms: f64,
    },
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsteady::Drift { from_ms, to_ms } => {
                let verb = if to_ms > from_ms { "rose" } else { "fell" };
                let (from, to) = (Ms(*from_ms), Ms(*to_ms));
                write!(f, "not steady: response times {verb} over the run, p95 from {from} to {to}")
            }
            Unsteady::Recurs { period_s, low_ms, high_ms } => {
                let (low, high) = (Ms(*low_ms), Ms(*high_ms));
                write!(
                    f,
                    "not steady: response times rise and fall with a period of {period_s:.0} s, p95 between {low} and {high}"
                )
            }
            Unsteady::Pauses { pauses, longest_s } => {
                write!(
                    f,
                    "not steady: there were {pauses} pauses of up to {longest_s} s without a completed request"
                )
            }
            Unsteady::WarmUp { until_s, p95_ms, later_ms } => {
                let (p95, later) = (Ms(*p95_ms), Ms(*later_ms));
                write!(f, "the first {until_s} s were slower: p95 {p95}, later {later}")
            }
        }
    }
}

impl Unsteady {
    /// Advice for the user.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Unsteady::Drift { .. } => {
                "look for a queue, cache or table that grows; percentiles of the whole run depend on the run's length"
            }
            Unsteady::Recurs { .. } | Unsteady::Pauses { .. } => {
                "look for periodic work in the system under test: garbage collections, flushes, scheduled jobs"
            }
            Unsteady::WarmUp { .. } => "exclude the warm-up: --steady auto, or --window FROM,TO",
        }
    }
}

/// A time that is displayed with three digits: `0.412 ms`, `13.1 ms`, `2.31 s`.
struct Ms(f64);

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ms(ms) = *self;
        match ms {
            _ if ms >= 999.5 => write!(f, "{:.2} s", ms / 1e3),
            _ if ms >= 99.95 => write!(f, "{ms:.0} ms"),
            _ if ms >= 9.995 => write!(f, "{ms:.1} ms"),
            _ if ms >= 0.9995 => write!(f, "{ms:.2} ms"),
            _ => write!(f, "{ms:.3} ms"),
        }
    }
}
