//! Points in time of a run.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of the run.
    pub const ZERO: Nanos = Nanos(0);
    /// The largest time: about 584 years.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// `secs` seconds after the start.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs.saturating_mul(1_000_000_000))
    }

    /// `ms` milliseconds after the start.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms.saturating_mul(1_000_000))
    }

    /// The nanoseconds from `earlier` to `self`; 0 if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Nanos) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The number of the second that contains this time.
    #[must_use]
    pub const fn second(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// Seconds since the start.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The duration since the start.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Nanos {
    fn from(value: Duration) -> Self {
        Nanos(u64::try_from(value.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Add<Duration> for Nanos {
    type Output = Nanos;
    fn add(self, rhs: Duration) -> Nanos {
        Nanos(self.0.saturating_add(Nanos::from(rhs).0))
    }
}

/// Adds nanoseconds; the result is at most [`Nanos::MAX`].
impl Add<u64> for Nanos {
    type Output = Nanos;
    fn add(self, rhs: u64) -> Nanos {
        Nanos(self.0.saturating_add(rhs))
    }
}

/// Subtracts nanoseconds; the result is at least [`Nanos::ZERO`].
impl Sub<u64> for Nanos {
    type Output = Nanos;
    fn sub(self, rhs: u64) -> Nanos {
        Nanos(self.0.saturating_sub(rhs))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.as_secs_f64())
    }
}
