//! A histogram of times that is small where few values were seen: there is one per label and slice of a run.

/// Values below this many µs have a bucket each; above it the buckets of each octave are half this many: so a bucket is no
/// wider than 1/1024 of its values, as in a histogram of three significant digits.
const EXACT: u64 = 1 << (FINE_BITS + 1);
const FINE_BITS: u32 = 10;

/// Fewest values that wait to be sorted in.
const WAITING_MIN: usize = 64;

/// Counts of times in µs, cut to whole ones.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseHistogram {
    /// Bucket and count, by bucket.
    counts: Vec<(u32, u32)>,
    /// Buckets of values that are not sorted in yet.
    waiting: Vec<u32>,
}

/// The bucket of a value when `coarse` times two neighbouring buckets became one.
fn bucket(us: u64, coarse: u32) -> u32 {
    let octave = us.checked_ilog2().unwrap_or(0).saturating_sub(FINE_BITS);
    ((octave << FINE_BITS) + (us >> octave) as u32) >> coarse
}

/// The least value of a fine bucket.
fn least(fine: u32) -> u64 {
    let fine = u64::from(fine);
    if fine < EXACT {
        return fine;
    }
    let octave = (fine >> FINE_BITS) - 1;
    (fine - (octave << FINE_BITS)) << octave
}

/// The largest whole µs in a bucket, in ms: what stands for all values in it, as in the histograms of a run.
pub(super) fn upper_ms(bucket: u32, coarse: u32) -> f64 {
    (least((bucket + 1) << coarse) - 1) as f64 / 1e3
}

/// How wide a bucket is, in ms.
pub(super) fn width_ms(bucket: u32, coarse: u32) -> f64 {
    (least((bucket + 1) << coarse) - least(bucket << coarse)) as f64 / 1e3
}

impl SparseHistogram {
    /// Counts a value.
    pub(super) fn add(&mut self, us: u64, coarse: u32) {
        self.waiting.push(bucket(us, coarse));
        if self.waiting.len() >= WAITING_MIN.max(self.counts.len()) {
            self.settle();
        }
    }

    /// Sorts in what waits.
    pub(super) fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        self.waiting.sort_unstable();
        let mut new: Vec<(u32, u32)> = Vec::new();
        for bucket in self.waiting.drain(..) {
            match new.last_mut() {
                Some((last, count)) if *last == bucket => *count += 1,
                _ => new.push((bucket, 1)),
            }
        }
        self.counts = merged(&self.counts, &new);
        self.waiting = Vec::new();
    }

    /// Adds what `other` counted, in buckets of the same width.
    pub(super) fn merge(&mut self, other: &SparseHistogram) {
        self.waiting.extend_from_slice(&other.waiting);
        self.settle();
        self.counts = merged(&self.counts, &other.counts);
    }

    /// Makes two neighbouring buckets one.
    pub(super) fn coarsen(&mut self) {
        self.settle();
        let fine = std::mem::take(&mut self.counts);
        for (bucket, count) in fine {
            match self.counts.last_mut() {
                Some((last, sum)) if *last == bucket >> 1 => *sum += count,
                _ => self.counts.push((bucket >> 1, count)),
            }
        }
    }

    /// Buckets and counts by value; what was not settled is not among them.
    pub(super) fn counts(&self) -> &[(u32, u32)] {
        &self.counts
    }

    /// How many values were counted and settled.
    pub(super) fn len(&self) -> u64 {
        self.counts.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// How much is held: buckets and waiting values.
    pub(super) fn held(&self) -> usize {
        self.counts.len() + self.waiting.len()
    }

    /// The bucket of the quantile `q`: the least that at least ⌈q·n⌉ values do not exceed; `None` without values.
    pub(super) fn quantile(&self, q: f64) -> Option<u32> {
        let rank = rank(q, self.len());
        let mut below = 0;
        self.counts.iter().find_map(|(bucket, count)| {
            below += u64::from(*count);
            (below >= rank).then_some(*bucket)
        })
    }
}

/// Which of `n` ordered values is the quantile `q`, from 1.
pub(super) fn rank(q: f64, n: u64) -> u64 {
    ((q * n as f64).ceil() as u64).max(1)
}

/// Two lists of counts by bucket as one.
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
        fn a_bucket_holds_its_values_and_is_narrow(us in 0..1_u64 << 45, coarse in 0..4_u32) {
            let bucket = bucket(us, coarse);
            let (from, to) = (least(bucket << coarse), least((bucket + 1) << coarse));
            prop_assert!((from..to).contains(&us), "{from} {us} {to}");
            if from >= EXACT {
                prop_assert!(((to - from) as f64) <= from as f64 / f64::from(1 << (FINE_BITS - coarse)) * 1.000_001);
            }
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(
            mut values in proptest::collection::vec(0..2_000_u64, 1..400), q in 0.01..0.999_f64, cut in 0..400_usize,
        ) {
            let (mut left, mut right) = (SparseHistogram::default(), SparseHistogram::default());
            for (at, value) in values.iter().enumerate() {
                if at < cut { left.add(*value, 0) } else { right.add(*value, 0) }
            }
            right.settle();
            left.merge(&right);
            prop_assert_eq!(left.len(), values.len() as u64);
            values.sort_unstable();
            let wanted = values[rank(q, values.len() as u64) as usize - 1];
            prop_assert_eq!(left.quantile(q), Some(wanted as u32));
            prop_assert_eq!(upper_ms(wanted as u32, 0), wanted as f64 / 1e3);
            left.coarsen();
            prop_assert_eq!(left.quantile(q), Some(wanted as u32 >> 1));
        }
    }
}
