//! Quantiles of an interval from two scrapes of a classic histogram.

/// The buckets of one histogram at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramBuckets {
    /// Upper bounds with cumulative counts, in increasing order of the bounds.
    cumulative: Vec<(f64, f64)>,
}

impl HistogramBuckets {
    /// The buckets with these upper bounds (`le`; the last one should be infinite) and cumulative counts, in any order.
    /// Pairs with NaN or a negative count are left out; of a repeated bound the last one counts.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let valid = pairs.into_iter().filter(|(bound, count)| !bound.is_nan() && *count >= 0.0);
        let mut cumulative: Vec<(f64, f64)> = valid.collect();
        cumulative.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        cumulative.dedup_by(|later, earlier| {
            let is_repeated = later.0 == earlier.0;
            if is_repeated {
                earlier.1 = later.1;
            }
            is_repeated
        });
        Self { cumulative }
    }

    /// The observations since `earlier`. If a count has decreased or the bounds differ, the histogram was reset, and all its
    /// observations are returned.
    #[must_use]
    pub fn since(&self, earlier: &HistogramBuckets) -> HistogramBuckets {
        let (now, before) = (&self.cumulative, &earlier.cumulative);
        let continues = now.len() == before.len()
            && now.iter().zip(before).all(|(now, before)| now.0 == before.0 && now.1 >= before.1);
        if !continues {
            return self.clone();
        }
        let difference = now.iter().zip(before).map(|(now, before)| (now.0, now.1 - before.1));
        HistogramBuckets { cumulative: difference.collect() }
    }

    /// The number of observations; `None` without the bucket `+Inf`.
    #[must_use]
    pub fn count(&self) -> Option<f64> {
        let (bound, count) = self.cumulative.last()?;
        (*bound == f64::INFINITY).then_some(*count)
    }

    /// The quantile `q` (0 to 1), in the unit of the bounds, as Prometheus's `histogram_quantile` estimates it:
    /// interpolated linearly within its bucket, with 0 as the lower bound of the first bucket. A quantile above the
    /// highest finite bound is returned as this bound. `None` if nothing was observed, the bucket `+Inf` is missing, or
    /// it is the only bucket.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let count = self.count().filter(|count| *count > 0.0)?;
        if !(0.0..=1.0).contains(&q) || self.cumulative.len() < 2 {
            return None;
        }
        let rank = q * count;
        let (mut lower, mut below) = (None, 0.0_f64);
        for &(upper, cumulative) in &self.cumulative {
            // Scrapes are not atomic: a higher bucket may have a lower count.
            let cumulative = cumulative.max(below);
            if cumulative >= rank && cumulative > below || upper == f64::INFINITY {
                let lower = lower.unwrap_or(if upper > 0.0 { 0.0 } else { upper });
                if upper == f64::INFINITY {
                    return Some(lower);
                }
                return Some(
                    lower + (upper - lower) * ((rank - below) / (cumulative - below)).clamp(0.0, 1.0),
                );
            }
            (lower, below) = (Some(upper), cumulative);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(counts: [f64; 4]) -> HistogramBuckets {
        HistogramBuckets::new(
            [f64::INFINITY, 0.1, 0.5, 1.0].into_iter().zip([counts[3], counts[0], counts[1], counts[2]]),
        )
    }

    #[test]
    fn quantiles_are_interpolated_as_by_prometheus() {
        let all = buckets([10.0, 30.0, 40.0, 50.0]);
        assert_eq!(all.quantile(0.1), Some(0.05));
        assert_eq!(all.quantile(0.4), Some(0.1 + 0.4 * 0.5));
        assert_eq!(all.quantile(0.99), Some(1.0), "above the highest finite bound");
        assert_eq!(all.quantile(1.5), None);
    }

    #[test]
    fn empty_and_incomplete_histograms_have_no_quantile() {
        assert_eq!(buckets([0.0; 4]).quantile(0.5), None);
        assert_eq!(HistogramBuckets::new([(1.0, 4.0)]).quantile(0.5), None);
        assert_eq!(HistogramBuckets::new([(f64::INFINITY, 4.0)]).quantile(0.5), None);
        assert_eq!(HistogramBuckets::default().quantile(0.5), None);
    }

    #[test]
    fn an_interval_is_a_difference_and_a_reset_starts_again() {
        let (first, second) = (buckets([1.0, 2.0, 3.0, 3.0]), buckets([1.0, 12.0, 13.0, 13.0]));
        assert_eq!(second.since(&first), buckets([0.0, 10.0, 10.0, 10.0]));
        assert_eq!(second.since(&first).quantile(0.5), Some(0.1 + 0.4 * 0.5));
        assert_eq!(first.since(&second), first);
        assert_eq!(first.since(&HistogramBuckets::default()), first);
    }

    #[test]
    fn decreasing_counts_of_a_scrape_that_is_not_atomic_are_levelled() {
        assert_eq!(buckets([10.0, 8.0, 20.0, 20.0]).quantile(0.5), Some(0.1));
        assert_eq!(HistogramBuckets::new([(-1.0, 4.0), (f64::INFINITY, 4.0)]).quantile(0.5), Some(-1.0));
    }
}
