//! A sparse histogram of times with the bands of an HdrHistogram.

use serde::{Deserialize, Serialize};

use crate::time_histogram::{band_end, band_start, band_width};

/// A sparse histogram of times, with exact sum and extremes. It has the same bands as the run's histograms, so it can be merged
/// into them without loss.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeCounts {
    /// For each band that is not empty, in ascending order: its least value in µs, and its count.
    bands: Vec<(u64, u64)>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl TimeCounts {
    /// The histogram of times in ns. Sorts `times`.
    pub(crate) fn of(times: &mut [u64]) -> TimeCounts {
        times.sort_unstable();
        let mut counts = TimeCounts::default();
        for &ns in &*times {
            // Times are ascending, so the time belongs to the last band or to a new one.
            let us = band_start(ns / 1_000);
            match counts.bands.last_mut() {
                Some((last, count)) if *last == us => *count += 1,
                _ => counts.bands.push((us, 1)),
            }
            counts.sum_ns += u128::from(ns);
        }
        counts.count = times.len() as u64;
        counts.min_ns = times.first().copied().unwrap_or(0);
        counts.max_ns = times.last().copied().unwrap_or(0);
        counts
    }

    /// The histogram of times in ns, which can be in any order.
    #[must_use]
    pub fn from_ns(times: impl IntoIterator<Item = u64>) -> TimeCounts {
        TimeCounts::of(&mut times.into_iter().collect::<Vec<_>>())
    }

    /// Adds the times of `other`.
    pub fn merge(&mut self, other: &TimeCounts) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        let mut merged = Vec::with_capacity(self.bands.len().max(other.bands.len()));
        let (mut own, mut others) = (self.bands.iter().peekable(), other.bands.iter().peekable());
        loop {
            let next = match (own.peek(), others.peek()) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    let both = (a.0, a.1 + b.1);
                    own.next();
                    others.next();
                    both
                }
                (Some(a), Some(b)) if b.0 < a.0 => {
                    let b = **b;
                    others.next();
                    b
                }
                (Some(a), _) => {
                    let a = **a;
                    own.next();
                    a
                }
                (None, Some(b)) => {
                    let b = **b;
                    others.next();
                    b
                }
                (None, None) => break,
            };
            merged.push(next);
        }
        self.bands = merged;
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Removes times that were added by [`TimeCounts::merge`], for a moving window. If the minimum or maximum was removed, the
    /// edge of the outermost band takes its place.
    pub fn subtract(&mut self, earlier: &TimeCounts) {
        let mut gone = earlier.bands.iter().peekable();
        for (us, count) in &mut self.bands {
            while gone.next_if(|(other, _)| other < us).is_some() {}
            if let Some((_, times)) = gone.next_if(|(other, _)| other == us) {
                *count = count.saturating_sub(*times);
            }
        }
        self.bands.retain(|(_, count)| *count > 0);
        self.count = self.bands.iter().map(|(_, count)| count).sum();
        self.sum_ns = self.sum_ns.saturating_sub(earlier.sum_ns);
        let (Some((first, _)), Some((last, _))) = (self.bands.first(), self.bands.last()) else {
            *self = TimeCounts::default();
            return;
        };
        if earlier.min_ns <= self.min_ns {
            self.min_ns = self.min_ns.max(first * 1_000);
        }
        if earlier.max_ns >= self.max_ns {
            let edge = band_end(*last).saturating_mul(1_000).saturating_add(999);
            self.max_ns = self.max_ns.min(edge);
        }
    }

    /// For each band that is not empty, in ascending order: its least value in µs, and its count.
    #[must_use]
    pub fn bands(&self) -> &[(u64, u64)] {
        &self.bands
    }

    /// Number of times.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum in ns.
    #[must_use]
    pub const fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Mean in ms; `None` without times.
    #[must_use]
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e6)
    }

    /// Least time in ms; `None` without times.
    #[must_use]
    pub fn min_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.min_ns as f64 / 1e6)
    }

    /// Largest time in ms; `None` without times.
    #[must_use]
    pub fn max_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.max_ns as f64 / 1e6)
    }

    /// The quantile `q` (0..=1) in ms, as [`crate::TimeDistribution::quantile_ms`]: the least histogram value that at least
    /// `⌈q·n⌉` times do not exceed, limited to the exact extremes; `None` without times.
    #[must_use]
    pub fn quantile_ms(&self, q: f64) -> Option<f64> {
        let (min, max) = (self.min_ms()?, self.max_ms()?);
        let rank = ((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        let within = self.bands.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        let us = within.map_or(0, |(us, _)| band_end(*us));
        Some((us as f64 / 1e3).clamp(min, max))
    }

    /// Standard deviation (divisor n − 1) in ms, from the midpoints of the bands; `None` for fewer than two times.
    #[must_use]
    pub fn deviation_ms(&self) -> Option<f64> {
        let mean = self.mean_ms().filter(|_| self.count > 1)?;
        let middle = |us: u64| (us as f64 + band_width(us) as f64 / 2.0) / 1e3;
        let squares: f64 =
            self.bands.iter().map(|(us, count)| (middle(*us) - mean).powi(2) * *count as f64).sum();
        Some((squares / (self.count - 1) as f64).sqrt())
    }

    /// Number of times that are at most `ms`, with the precision of a band.
    #[must_use]
    pub fn count_up_to_ms(&self, ms: f64) -> u64 {
        let us = (ms * 1e3).max(0.0) as u64;
        self.bands.iter().take_while(|(least, _)| *least <= us).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::new_histogram;

    fn ns() -> impl Strategy<Value = u64> {
        prop_oneof![0..5_000_000_u64, 0..90_000_000_000_u64, Just(2_047_000), Just(2_048_000)]
    }

    proptest! {
        #[test]
        fn quantiles_equal_those_of_the_histogram(times in prop::collection::vec(ns(), 1..300), q in 0.0..=1.0) {
            let mut histogram = new_histogram();
            times.iter().for_each(|ns| histogram.record(ns / 1_000).unwrap());
            let counts = TimeCounts::from_ns(times.iter().copied());
            let (min, max) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
            let expected =
                (histogram.value_at_quantile(q) as f64 / 1e3).clamp(min as f64 / 1e6, max as f64 / 1e6);
            prop_assert_eq!(counts.quantile_ms(q), Some(expected));
            prop_assert_eq!(counts.max_ms(), Some(max as f64 / 1e6));
            // Recording the bands in a histogram gives the same histogram.
            let mut again = new_histogram();
            counts.bands().iter().for_each(|(us, count)| again.record_n(*us, *count).unwrap());
            prop_assert_eq!(again, histogram);
        }

        #[test]
        fn added_times_can_be_subtracted(
            a in prop::collection::vec(ns(), 0..100),
            b in prop::collection::vec(ns(), 0..100),
        ) {
            let (only, other) = (TimeCounts::from_ns(a.iter().copied()), TimeCounts::from_ns(b));
            let mut both = only.clone();
            both.merge(&other);
            both.subtract(&other);
            prop_assert_eq!((both.bands(), both.count(), both.sum_ns()), (only.bands(), only.count(), only.sum_ns()));
            if let (Some(min), Some(max)) = (only.min_ms(), only.max_ms()) {
                let (low, high) = (both.min_ms().unwrap(), both.max_ms().unwrap());
                prop_assert!(low <= min && min <= low * 1.001 + 0.001, "{} {}", low, min);
                prop_assert!(high >= max && high <= max * 1.001 + 0.001, "{} {}", high, max);
            }
        }

        #[test]
        fn merged_parts_equal_the_whole(
            a in prop::collection::vec(ns(), 0..100),
            b in prop::collection::vec(ns(), 0..100),
        ) {
            let mut merged = TimeCounts::from_ns(a.iter().copied());
            merged.merge(&TimeCounts::from_ns(b.iter().copied()));
            prop_assert_eq!(merged, TimeCounts::from_ns(a.into_iter().chain(b)));
        }
    }

    #[test]
    fn empty_counts_have_no_statistics() {
        let none = TimeCounts::default();
        assert_eq!(
            (none.mean_ms(), none.quantile_ms(0.5), none.min_ms(), none.max_ms()),
            (None, None, None, None)
        );
        assert_eq!((none.deviation_ms(), TimeCounts::from_ns([1]).deviation_ms()), (None, None));
        let some = TimeCounts::from_ns([1_000_000, 3_000_000]);
        assert!((some.deviation_ms().unwrap() - 2.0_f64.sqrt()).abs() < 0.001);
        assert_eq!((some.mean_ms(), some.count_up_to_ms(1.0), some.count_up_to_ms(3.0)), (Some(2.0), 1, 2));
    }
}
