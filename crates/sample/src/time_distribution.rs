//! Distributions of times: exact sums and extremes, and a histogram.

use crate::time_histogram::TimeHistogram;

/// The distribution of service times or of response times.
#[derive(Debug, Clone)]
pub struct TimeDistribution {
    /// Histogram of the values, truncated to whole µs.
    pub histogram: TimeHistogram,
    /// Exact sum in ns.
    pub sum_ns: u128,
    /// Exact sum of squares in ns².
    pub sum_squares_ns2: u128,
    /// Least value in ns; `u64::MAX` without values.
    pub min_ns: u64,
    /// Largest value in ns.
    pub max_ns: u64,
}

impl TimeDistribution {
    pub(crate) fn new() -> TimeDistribution {
        TimeDistribution {
            histogram: TimeHistogram::default(),
            sum_ns: 0,
            sum_squares_ns2: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    pub(crate) fn add(&mut self, ns: u64) {
        self.histogram.add(ns / 1_000);
        self.sum_ns += u128::from(ns);
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(u128::from(ns) * u128::from(ns));
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub(crate) fn merge(&mut self, other: &TimeDistribution) {
        self.histogram.merge(&other.histogram);
        self.sum_ns += other.sum_ns;
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(other.sum_squares_ns2);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// Mean in ms from the exact sum; 0 without values.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ns as f64 / self.count() as f64 / 1e6 }
    }

    /// Standard deviation of the sample (divisor n − 1) in ms; 0 for fewer than two values.
    #[must_use]
    pub fn stddev_ms(&self) -> f64 {
        let n = self.count();
        if n < 2 {
            return 0.0;
        }
        // Computes n·Σx² − (Σx)² in integers, which avoids cancellation.
        let n = u128::from(n);
        let squares = n.checked_mul(self.sum_squares_ns2).zip(self.sum_ns.checked_mul(self.sum_ns));
        let spread = match squares {
            Some((left, right)) => left.saturating_sub(right) as f64,
            None => (n as f64 * self.sum_squares_ns2 as f64 - (self.sum_ns as f64).powi(2)).max(0.0),
        };
        (spread / (n as f64 * (n - 1) as f64)).sqrt() / 1e6
    }

    /// The quantile `q` (0..=1) in ms: the least histogram value that at least `⌈q·n⌉` samples do not exceed, limited
    /// to the exact extremes; 0 without values.
    #[must_use]
    pub fn quantile_ms(&self, q: f64) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        let us = self.histogram.quantile_us(q);
        ((us as f64) / 1e3).clamp(self.min_ms(), self.max_ms())
    }

    /// Least value in ms; 0 without values.
    #[must_use]
    pub fn min_ms(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.min_ns as f64 / 1e6 }
    }

    /// Largest value in ms.
    #[must_use]
    pub fn max_ms(&self) -> f64 {
        self.max_ns as f64 / 1e6
    }
}

/// Sum and extremes of JMeter's `elapsed` in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElapsedMs {
    /// Sum.
    pub sum: i64,
    /// Least value; `i64::MAX` without values.
    pub min: i64,
    /// Largest value; `i64::MIN` without values.
    pub max: i64,
}

impl ElapsedMs {
    pub(crate) const fn new() -> ElapsedMs {
        ElapsedMs { sum: 0, min: i64::MAX, max: i64::MIN }
    }

    pub(crate) fn add(&mut self, ms: i64) {
        self.sum += ms;
        self.min = self.min.min(ms);
        self.max = self.max.max(ms);
    }
}
