//! Histograms of times in bounded memory.

/// Binary logarithm of the number of bins per power of two: the relative width of a bin is at most 1/64.
const BIN_BITS: u32 = 6;
/// Number of low bits of a double that do not affect the bin.
const SHIFT: u32 = 52 - BIN_BITS;

/// A histogram with bins of a relative width of 1.6 %. The bin of a time is determined by the exponent and the first six bits
/// of the fraction of its floating-point representation. The memory depends on the range of the times, not on their number.
/// Histograms can be merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    /// Number of the bin of the first element of `counts`.
    first: u32,
    counts: Vec<u64>,
    /// Number of times equal to 0.
    zeros: u64,
}

impl Histogram {
    /// Adds a time, which is at least 0.
    #[inline]
    pub(crate) fn add(&mut self, time_s: f64) {
        if time_s <= 0.0 {
            self.zeros += 1;
            return;
        }
        let bin = (time_s.to_bits() >> SHIFT) as u32;
        if let Some(count) = self.counts.get_mut(bin.wrapping_sub(self.first) as usize) {
            *count += 1;
        } else {
            self.grow(bin);
            self.counts[(bin - self.first) as usize] += 1;
        }
    }

    #[cold]
    fn grow(&mut self, bin: u32) {
        // The counts grow by whole powers of two, so that this is rare.
        let low = bin >> BIN_BITS << BIN_BITS;
        let high = low + (1 << BIN_BITS);
        if self.counts.is_empty() {
            self.first = low;
        }
        if low < self.first {
            let more = (self.first - low) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = low;
        }
        let length = (high - self.first) as usize;
        if length > self.counts.len() {
            self.counts.resize(length, 0);
        }
    }

    /// Adds all counts of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        for (bin, count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            if self.counts.get(bin.wrapping_sub(self.first) as usize).is_none() {
                self.grow(bin);
            }
            self.counts[(bin - self.first) as usize] += count;
        }
    }

    /// Clears the histogram.
    pub(crate) fn clear(&mut self) {
        self.zeros = 0;
        self.counts.fill(0);
    }

    /// Number of times that were added.
    pub(crate) fn total(&self) -> u64 {
        self.zeros + self.counts.iter().sum::<u64>()
    }

    /// The quantile for a share from 0 to 1, in seconds, with linear interpolation within a bin. `None` if the histogram is
    /// empty.
    pub(crate) fn quantile_s(&self, share: f64) -> Option<f64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let rank = share * total as f64;
        let mut below = self.zeros as f64;
        if self.zeros > 0 && rank <= below {
            return Some(0.0);
        }
        for (bin, &count) in (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let count = count as f64;
            if below + count >= rank {
                let edge = |bin: u32| f64::from_bits(u64::from(bin) << SHIFT);
                let (low, high) = (edge(bin), edge(bin + 1));
                return Some(low + (high - low) * (rank - below) / count);
            }
            below += count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_the_width_of_a_bin() {
        let mut histogram = Histogram::default();
        let times: Vec<f64> = (1..=10_000).map(|i| f64::from(i) * 1e-4).collect();
        for time in times.iter().rev() {
            histogram.add(*time);
        }
        for share in [0.01, 0.5, 0.9, 0.99, 1.0] {
            let found = histogram.quantile_s(share).unwrap();
            assert!((found / share - 1.0).abs() < 0.016, "{share}: {found}");
        }
        assert_eq!(histogram.total(), 10_000);
        // A range of 10,000 needs 14 powers of two, and one more for the start within a power of two.
        assert!(histogram.counts.len() <= 15 * 64, "{}", histogram.counts.len());
    }

    #[test]
    fn merged_histograms_equal_the_whole() {
        let (mut whole, mut left, mut right) = Default::default();
        for i in 0..1_000 {
            let time = if i % 10 == 0 { 0.0 } else { 1.5_f64.powi(i % 60 - 30) };
            Histogram::add(&mut whole, time);
            Histogram::add(if i < 300 { &mut left } else { &mut right }, time);
        }
        left.merge(&right);
        for share in [0.0, 0.05, 0.3, 0.5, 0.99] {
            assert_eq!(left.quantile_s(share), whole.quantile_s(share));
        }
        assert_eq!(left.total(), 1_000);
    }

    #[test]
    fn an_empty_histogram_has_no_quantiles() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile_s(0.5), None);
        histogram.add(3.0);
        histogram.clear();
        assert_eq!(histogram.quantile_s(0.5), None);
    }
}
