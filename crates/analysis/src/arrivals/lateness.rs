//! How late starts were against their schedule.

use std::fmt;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Significant digits that quantiles of lateness keep.
const DIGITS: u8 = 2;

/// Delivered minus scheduled start, over many arrivals, in bounded memory. Tallies of several cores are merged.
#[derive(Clone)]
pub struct LatenessTally {
    histogram: Histogram<u64>,
    early: u64,
}

/// How late starts were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Arrivals it is about.
    pub arrivals: u64,
    /// Half of them were later than this, in ns, to two digits.
    pub p50_ns: u64,
    /// One in a hundred was later than this, in ns, to two digits.
    pub p99_ns: u64,
    /// The latest, in ns, to two digits.
    pub max_ns: u64,
    /// Mean, in ns.
    pub mean_ns: f64,
    /// Arrivals that were delivered before their time, which count as not late.
    pub early: u64,
}

impl LatenessTally {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> LatenessTally {
        // Only the number of digits could be refused, and two are accepted.
        let histogram =
            Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!("{DIGITS} digits are accepted"));
        LatenessTally { histogram, early: 0 }
    }

    /// Adds one arrival: both times in ns of one clock.
    pub fn add(&mut self, scheduled_ns: u64, delivered_ns: u64) {
        self.early += u64::from(delivered_ns < scheduled_ns);
        // It grows by itself up to any time a run can last: half of u64 is 292 years.
        let _ = self.histogram.record(delivered_ns.saturating_sub(scheduled_ns).min(u64::MAX / 2));
    }

    /// Adds the arrivals of another core.
    pub fn merge(&mut self, other: &LatenessTally) {
        self.early += other.early;
        for bar in other.histogram.iter_recorded() {
            let value = bar.value_iterated_to().min(u64::MAX / 2);
            // It grows by itself, and the other held the value.
            let _ = self.histogram.record_n(value, bar.count_at_value());
        }
    }

    /// The quantiles; `None` without arrivals.
    #[must_use]
    pub fn finish(&self) -> Option<Lateness> {
        (!self.histogram.is_empty()).then(|| Lateness {
            arrivals: self.histogram.len(),
            p50_ns: self.histogram.value_at_quantile(0.5),
            p99_ns: self.histogram.value_at_quantile(0.99),
            max_ns: self.histogram.max(),
            mean_ns: self.histogram.mean(),
            early: self.early,
        })
    }
}

impl Default for LatenessTally {
    fn default() -> LatenessTally {
        LatenessTally::new()
    }
}

impl fmt::Debug for LatenessTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatenessTally").field("found", &self.finish()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_early_starts() {
        let (mut left, mut right) = (LatenessTally::new(), LatenessTally::new());
        assert_eq!(left.finish(), None);
        for i in 0..100_u64 {
            left.add(1_000 * i, 1_000 * i + 12);
        }
        right.add(5_000, 4_000);
        right.add(0, 60_000_000_000);
        left.merge(&right);
        let found = left.finish().unwrap();
        assert_eq!((found.arrivals, found.p50_ns, found.early), (102, 12, 1));
        assert!((found.max_ns as f64 / 60e9 - 1.0).abs() < 0.01);
    }
}
