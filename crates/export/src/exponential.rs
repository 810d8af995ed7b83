//! Histograms with exponential buckets, as used by OpenTelemetry and by Prometheus's native histograms.

use std::collections::BTreeMap;

use busyhour_sample::TimeCounts;

/// Counts of times in exponential buckets. The bounds, in seconds, are the powers of b = 2^(2^−scale). Bucket i counts the times
/// in (b^i, b^(i+1)], with the numbering of the OpenTelemetry data model. (Prometheus numbers the same bucket i + 1.)
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ExponentialCounts {
    /// Number of times below 1 µs.
    pub(crate) zero: u64,
    /// Counts of the non-empty buckets, by bucket number.
    pub(crate) buckets: BTreeMap<i32, u64>,
}

impl ExponentialCounts {
    /// Converts `times` to buckets with the scale `scale`. Each time is represented by the lowest value of its band in the run's
    /// histograms, which is up to 0.1 % below the time.
    pub(crate) fn of(times: &TimeCounts, scale: i32) -> ExponentialCounts {
        let mut counts = ExponentialCounts::default();
        for (us, count) in times.bands() {
            if *us == 0 {
                counts.zero += count;
                continue;
            }
            let index = ((*us as f64 / 1e6).log2() * f64::from(1 << scale)).ceil() as i32 - 1;
            *counts.buckets.entry(index).or_default() += count;
        }
        counts
    }

    /// The buckets in Prometheus's encoding: spans of adjacent buckets, each with its distance from the previous span (for the
    /// first span: its bucket number), and the count of each bucket minus the count of the previous one.
    pub(crate) fn spans(&self) -> (Vec<(i32, u32)>, Vec<i64>) {
        let (mut spans, mut deltas) = (Vec::<(i32, u32)>::new(), Vec::new());
        let (mut next, mut last) = (0, 0);
        for (index, count) in &self.buckets {
            let number = index + 1;
            match spans.last_mut() {
                Some((_, length)) if number == next => *length += 1,
                _ => spans.push((number - next, 1)),
            }
            next = number + 1;
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            deltas.push(count - last);
            last = count;
        }
        (spans, deltas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_its_bucket() {
        let us: Vec<u64> = (0..2_000).chain((1..400).map(|n| n * n * 37)).collect();
        let times = TimeCounts::from_ns(us.iter().map(|us| us * 1_000));
        for scale in [4, 5] {
            let counts = ExponentialCounts::of(&times, scale);
            assert_eq!(counts.zero, 1);
            assert_eq!(counts.zero + counts.buckets.values().sum::<u64>(), times.count());
            let base = 2_f64.powf(1.0 / f64::from(1 << scale));
            for (index, count) in &counts.buckets {
                let (low, high) = (base.powi(*index) * (1.0 - 1e-12), base.powi(index + 1) * (1.0 + 1e-12));
                let inside = |us: u64| (low..=high).contains(&(us as f64 / 1e6));
                let held: u64 =
                    times.bands().iter().filter(|(us, _)| inside(*us)).map(|(_, count)| count).sum();
                // `held` may be larger than the count: a time on a bound is within the tolerance of both adjacent buckets.
                assert!(held >= *count && *count > 0, "{index}: {held}, {count}");
            }
        }
        assert_eq!(ExponentialCounts::of(&TimeCounts::default(), 4), ExponentialCounts::default());
    }

    #[test]
    fn spans_are_runs_of_adjacent_buckets() {
        let counts = ExponentialCounts {
            zero: 0,
            buckets: BTreeMap::from([(-3, 5), (-2, 7), (4, 1), (5, 1), (6, 4)]),
        };
        assert_eq!(counts.spans(), (vec![(-2, 2), (5, 3)], vec![5, 2, -6, 0, 3]));
        assert_eq!(ExponentialCounts::default().spans(), (Vec::new(), Vec::new()));
    }
}
