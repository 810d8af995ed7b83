//! Counts of times by upper bound.

use std::time::Duration;

/// Upper bounds of the buckets in seconds; there is one more bucket for longer times.
pub(super) const BOUNDS_S: [f64; 17] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// A histogram of times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Histogram {
    counts: [u64; BOUNDS_S.len() + 1],
    sum: Duration,
    max: Duration,
}

impl Histogram {
    pub(super) fn record(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.counts[BOUNDS_S.partition_point(|&bound| bound < seconds)] += 1;
        self.sum += time;
        self.max = self.max.max(time);
    }

    /// The number of times.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all times.
    pub(super) fn sum(&self) -> Duration {
        self.sum
    }

    /// The longest time.
    pub(super) fn max(&self) -> Duration {
        self.max
    }

    /// The upper bound of each bucket and the number of times up to it; the last bound is infinite.
    pub(super) fn buckets(&self) -> Vec<(f64, u64)> {
        let bounds = BOUNDS_S.iter().copied().chain([f64::INFINITY]);
        let mut total = 0;
        let buckets = bounds.zip(self.counts).map(|(bound, count)| {
            total += count;
            (bound, total)
        });
        buckets.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_in_all_buckets_from_its_own_on() {
        let mut times = Histogram::default();
        for ms in [1, 40, 70_000] {
            times.record(Duration::from_millis(ms));
        }
        let counts: Vec<u64> = times.buckets().iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
        assert_eq!((times.count(), times.sum().as_millis(), times.max().as_secs()), (3, 70_041, 70));
    }
}
