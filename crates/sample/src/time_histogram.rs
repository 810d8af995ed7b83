//! A histogram of times with the bands of an HdrHistogram with three significant digits. It allocates bands only up to the
//! largest time.

use hdrhistogram::Histogram;

/// Significant digits of every histogram.
pub const HISTOGRAM_DIGITS: u8 = 3;

/// Number of significant bits that distinguish bands. A histogram of [`HISTOGRAM_DIGITS`] = 3 has 2,048 bands in its first
/// scale (up to the first power of two above 2·10³), and half as many in each further scale.
const KEPT_BITS: u32 = 11;
const _: () = assert!(HISTOGRAM_DIGITS == 3);

/// Number of bands in each scale after the first.
const SCALE: usize = 1 << (KEPT_BITS - 1);

/// Number of bands that the search for a quantile adds up at once.
const CHUNK: usize = 32;

/// Number of low bits of `us` that its band ignores.
const fn cut_bits(us: u64) -> u32 {
    (u64::BITS - us.leading_zeros()).saturating_sub(KEPT_BITS)
}

/// The least value in µs of the band of `us`.
pub(crate) const fn band_start(us: u64) -> u64 {
    us >> cut_bits(us) << cut_bits(us)
}

/// The greatest value in µs of the band of `us`.
pub(crate) const fn band_end(us: u64) -> u64 {
    us | ((1 << cut_bits(us)) - 1)
}

/// The number of values in µs in the band of `us`.
pub(crate) const fn band_width(us: u64) -> u64 {
    1 << cut_bits(us)
}

/// The number of the band of `us`; bands are numbered in ascending order without gaps.
const fn band_number(us: u64) -> usize {
    let cut = cut_bits(us);
    cut as usize * SCALE + (us >> cut) as usize
}

/// The least value in µs of the band with this number.
const fn start_of(number: usize) -> u64 {
    let cut = (number / SCALE).saturating_sub(1);
    ((number - cut * SCALE) as u64) << cut
}

/// An HdrHistogram for times in µs, from 1 µs, that grows as needed.
pub fn new_histogram() -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 1_000_000, HISTOGRAM_DIGITS)
        .unwrap_or_else(|_| unreachable!("constant bounds are valid"));
    histogram.auto(true);
    histogram
}

/// A histogram of times with a precision of 0.1 %.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeHistogram {
    /// The count of each band, up to the end of the scale that contains the largest time.
    counts: Vec<u64>,
    count: u64,
}

impl TimeHistogram {
    /// Counts a time in µs.
    #[inline]
    pub(crate) fn add(&mut self, us: u64) {
        let number = band_number(us);
        self.count += 1;
        match self.counts.get_mut(number) {
            Some(count) => *count += 1,
            None => self.add_beyond(number),
        }
    }

    #[cold]
    fn add_beyond(&mut self, number: usize) {
        self.counts.resize((number + 1).next_multiple_of(SCALE), 0);
        self.counts[number] += 1;
    }

    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: &TimeHistogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
    }

    /// Number of times.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// For each band that is not empty, in ascending order: its least and greatest value in µs, and its count.
    pub fn bands(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let held = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        held.map(|(number, count)| (start_of(number), band_end(start_of(number)), *count))
    }

    /// The quantile `q` (0..=1) in µs: the greatest value of the first band for which at least `⌈q·n⌉` times are in this band
    /// or below. For `q` = 0 it is the least value of the first band that is not empty. Without times it is 0.
    #[must_use]
    pub fn quantile_us(&self, q: f64) -> u64 {
        let rank = ((q.min(1.0) * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (at, chunk) in self.counts.chunks(CHUNK).enumerate() {
            let together: u64 = chunk.iter().sum();
            if seen + together < rank {
                seen += together;
                continue;
            }
            let within = chunk.iter().position(|count| {
                seen += count;
                seen >= rank
            });
            let start = start_of(at * CHUNK + within.unwrap_or_default());
            return if q == 0.0 { start } else { band_end(start) };
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    fn us() -> impl Strategy<Value = u64> {
        prop_oneof![0..5_000_u64, 0..90_000_000_u64, 2_040..2_060_u64, 0..u64::MAX / 1_000]
    }

    proptest! {
        #[test]
        fn bands_equal_those_of_a_histogram_of_three_digits(
            times in prop::collection::vec(us(), 1..200),
            more in prop::collection::vec(us(), 0..50),
            q in prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0],
        ) {
            let mut known = Histogram::<u64>::new_with_bounds(1, 1_000_000, HISTOGRAM_DIGITS).unwrap();
            known.auto(true);
            let (mut ours, mut part) = (TimeHistogram::default(), TimeHistogram::default());
            times.iter().for_each(|us| ours.add(*us));
            more.iter().for_each(|us| part.add(*us));
            ours.merge(&part);
            times.iter().chain(&more).for_each(|us| known.record(*us).unwrap());
            prop_assert_eq!(ours.count(), known.len());
            prop_assert_eq!(ours.quantile_us(q), known.value_at_quantile(q));
            let bands: Vec<(u64, u64)> = ours.bands().map(|(_, end, count)| (end, count)).collect();
            let expected = known.iter_recorded().map(|bar| (bar.value_iterated_to(), bar.count_at_value()));
            prop_assert_eq!(bands, expected.collect::<Vec<_>>());
        }

        #[test]
        fn a_band_contains_the_values_between_its_ends(us in us()) {
            let (start, end) = (band_start(us), band_end(us));
            prop_assert!(start <= us && us <= end && end - start + 1 == band_width(us));
            prop_assert_eq!((band_number(start), start_of(band_number(us))), (band_number(us), start));
            prop_assert_eq!(band_number(end + 1), band_number(us) + 1);
        }
    }

    #[test]
    fn an_empty_histogram_has_no_quantiles() {
        assert_eq!(
            (TimeHistogram::default().quantile_us(0.5), TimeHistogram::default().bands().count()),
            (0, 0)
        );
    }
}
