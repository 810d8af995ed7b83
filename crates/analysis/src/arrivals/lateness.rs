//! Lateness: actual start minus intended start.

use std::fmt;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Significant digits of the quantiles.
const DIGITS: u8 = 2;

/// Accumulates the lateness of arrivals in bounded memory. Tallies of several cores can be merged.
#[derive(Clone)]
pub struct LatenessTally {
    histogram: Histogram<u64>,
    early: u64,
}

/// Statistics of the lateness.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Number of arrivals.
    pub arrivals: u64,
    /// Median in ns, to two digits.
    pub p50_ns: u64,
    /// 99th percentile in ns, to two digits.
    pub p99_ns: u64,
    /// Maximum in ns, to two digits.
    pub max_ns: u64,
    /// Mean in ns.
    pub mean_ns: f64,
    /// Number of arrivals that started before their intended start; their lateness counts as 0.
    pub early: u64,
}

impl LatenessTally {
    /// Creates an empty tally.
    #[must_use]
    pub fn new() -> LatenessTally {
        // The only possible error is an invalid number of digits.
        let histogram =
            Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!("{DIGITS} digits are accepted"));
        LatenessTally { histogram, early: 0 }
    }

    /// Adds one arrival; both times in ns on the same clock.
    pub fn add(&mut self, intended_ns: u64, actual_ns: u64) {
        self.early += u64::from(actual_ns < intended_ns);
        // Cannot fail: the histogram resizes itself, and the value is limited to 292 years.
        let _ = self.histogram.record(actual_ns.saturating_sub(intended_ns).min(u64::MAX / 2));
    }

    /// Adds the arrivals of another core.
    pub fn merge(&mut self, other: &LatenessTally) {
        self.early += other.early;
        for bar in other.histogram.iter_recorded() {
            let value = bar.value_iterated_to().min(u64::MAX / 2);
            // Cannot fail: the histogram resizes itself, and the other histogram accepted the value.
            let _ = self.histogram.record_n(value, bar.count_at_value());
        }
    }

    /// The statistics; `None` without arrivals.
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
