//! Histograms with exponential buckets, as OpenTelemetry and Prometheus's native histograms have them.

use std::collections::BTreeMap;

use busyhour_sample::TimeCounts;

/// Times in buckets whose bounds, in seconds, are the powers of b = 2^(2^−scale): bucket i counts the times in
/// (b^i, b^(i+1)], as the OpenTelemetry data model numbers them. (Prometheus calls the same bucket i + 1.)
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ExponentialCounts {
    /// Times below 1 µs.
    pub(crate) zero: u64,
    /// Counts of the buckets that hold something, by their numbers.
    pub(crate) buckets: BTreeMap<i32, u64>,
}

impl ExponentialCounts {
    /// `times` by the scale `scale`. A time counts by the least value of its band of the run's histograms, which is up to
    /// 0.1 % below it.
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

    /// The buckets as Prometheus packs them: spans of adjacent buckets, each with its distance from the previous one (the
    /// first: its number), and the counts of all, each less the one before.
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
                // A time on a bound would be within both its neighbours' tolerance.
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
