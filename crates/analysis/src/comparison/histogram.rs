//! A sparse histogram of times. Each label has one histogram per slice of a run.

/// Each value below this number of µs has its own bucket. Above it, each octave has half as many buckets. The relative
/// width of a bucket is therefore at most 1/1024, as in a histogram with three significant digits.
const EXACT: u64 = 1 << (FINE_BITS + 1);
const FINE_BITS: u32 = 10;

/// Minimum number of pending values before they are merged.
const PENDING_MIN: usize = 64;

/// Counts of times, rounded down to µs.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseHistogram {
    /// Bucket and count, ordered by bucket.
    counts: Vec<(u32, u32)>,
    /// Buckets of values that are not yet in `counts`.
    pending: Vec<u32>,
}

/// The bucket of a value, after adjacent buckets were merged in pairs `coarse` times.
fn bucket(us: u64, coarse: u32) -> u32 {
    let octave = us.checked_ilog2().unwrap_or(0).saturating_sub(FINE_BITS);
    ((octave << FINE_BITS) + (us >> octave) as u32) >> coarse
}

/// The lower bound of a bucket at the finest resolution.
fn lower_bound(fine: u32) -> u64 {
    let fine = u64::from(fine);
    if fine < EXACT {
        return fine;
    }
    let octave = (fine >> FINE_BITS) - 1;
    (fine - (octave << FINE_BITS)) << octave
}

/// The largest whole µs of a bucket, in ms. This value represents all values in the bucket, as in the histograms of a run.
pub(super) fn upper_ms(bucket: u32, coarse: u32) -> f64 {
    (lower_bound((bucket + 1) << coarse) - 1) as f64 / 1e3
}

/// The width of a bucket, in ms.
pub(super) fn width_ms(bucket: u32, coarse: u32) -> f64 {
    (lower_bound((bucket + 1) << coarse) - lower_bound(bucket << coarse)) as f64 / 1e3
}

impl SparseHistogram {
    /// Adds a value.
    pub(super) fn add(&mut self, us: u64, coarse: u32) {
        self.pending.push(bucket(us, coarse));
        if self.pending.len() >= PENDING_MIN.max(self.counts.len()) {
            self.flush();
        }
    }

    /// Merges the pending values into `counts`.
    pub(super) fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.pending.sort_unstable();
        let mut new: Vec<(u32, u32)> = Vec::new();
        for bucket in self.pending.drain(..) {
            match new.last_mut() {
                Some((last, count)) if *last == bucket => *count += 1,
                _ => new.push((bucket, 1)),
            }
        }
        self.counts = merged(&self.counts, &new);
        self.pending = Vec::new();
    }

    /// Adds the counts of another histogram with buckets of the same width.
    pub(super) fn merge(&mut self, other: &SparseHistogram) {
        self.pending.extend_from_slice(&other.pending);
        self.flush();
        self.counts = merged(&self.counts, &other.counts);
    }

    /// Merges adjacent buckets in pairs.
    pub(super) fn coarsen(&mut self) {
        self.flush();
        let fine = std::mem::take(&mut self.counts);
        for (bucket, count) in fine {
            match self.counts.last_mut() {
                Some((last, sum)) if *last == bucket >> 1 => *sum += count,
                _ => self.counts.push((bucket >> 1, count)),
            }
        }
    }

    /// Buckets and counts, ordered by value, without pending values.
    pub(super) fn counts(&self) -> &[(u32, u32)] {
        &self.counts
    }

    /// Number of values, without pending values.
    pub(super) fn len(&self) -> u64 {
        self.counts.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Number of entries in memory: buckets and pending values.
    pub(super) fn entries(&self) -> usize {
        self.counts.len() + self.pending.len()
    }

    /// The bucket of the quantile `q`: the first bucket for which at least ⌈q·n⌉ values are in it or in lower buckets;
    /// `None` without values.
    pub(super) fn quantile(&self, q: f64) -> Option<u32> {
        let rank = rank(q, self.len());
        let mut below = 0;
        self.counts.iter().find_map(|(bucket, count)| {
            below += u64::from(*count);
            (below >= rank).then_some(*bucket)
        })
    }
}

/// The rank, from 1, of the quantile `q` among `n` ordered values.
pub(super) fn rank(q: f64, n: u64) -> u64 {
    ((q * n as f64).ceil() as u64).max(1)
}

/// Merges two lists of counts that are ordered by bucket.
fn merged(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    if a.is_empty() || b.is_empty() {
        return [a, b].concat();
    }
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some((left, _)), Some((right, _))) if left == right => {
                let sum = |x: Option<&(u32, u32)>| x.map_or(0, |(_, count)| *count);
                Some((*left, sum(a.next()).saturating_add(sum(b.next()))))
            }
            (Some((left, _)), Some((right, _))) if left < right => a.next().copied(),
            (Some(_), None) => a.next().copied(),
            _ => b.next().copied(),
        };
        match next {
            Some(entry) => out.push(entry),
            None => break,
        }
    }
    out.shrink_to_fit();
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bucket_contains_its_values_and_is_narrow(us in 0..1_u64 << 45, coarse in 0..4_u32) {
            let bucket = bucket(us, coarse);
            let (from, to) = (lower_bound(bucket << coarse), lower_bound((bucket + 1) << coarse));
            prop_assert!((from..to).contains(&us), "{from} {us} {to}");
            if from >= EXACT {
                prop_assert!(((to - from) as f64) <= from as f64 / f64::from(1 << (FINE_BITS - coarse)) * 1.000_001);
            }
        }

        #[test]
        fn quantiles_equal_those_of_the_sorted_values(
            mut values in proptest::collection::vec(0..2_000_u64, 1..400), q in 0.01..0.999_f64, cut in 0..400_usize,
        ) {
            let (mut left, mut right) = (SparseHistogram::default(), SparseHistogram::default());
            for (at, value) in values.iter().enumerate() {
                if at < cut { left.add(*value, 0) } else { right.add(*value, 0) }
            }
            right.flush();
            left.merge(&right);
            prop_assert_eq!(left.len(), values.len() as u64);
            values.sort_unstable();
            let expected = values[rank(q, values.len() as u64) as usize - 1];
            prop_assert_eq!(left.quantile(q), Some(expected as u32));
            prop_assert_eq!(upper_ms(expected as u32, 0), expected as f64 / 1e3);
            left.coarsen();
            prop_assert_eq!(left.quantile(q), Some(expected as u32 >> 1));
        }
    }
}
