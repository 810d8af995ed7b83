//! How times are distributed, in bounded memory.

/// Parts into which each doubling is cut: a part is at most 1/64 of its times wide.
const PARTS_BITS: u32 = 6;
/// Bits of a double that do not matter.
const SHIFT: u32 = 52 - PARTS_BITS;

/// Counts of times in parts of equal relative width (1.6 %), as the bits of a double have it: its exponent and the
/// first six bits of its fraction. Grows with the range of the times, not with their number. Histograms of parts of a
/// stream can be joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    /// The part that the first count is for.
    first: u32,
    counts: Vec<u64>,
    /// Times of 0.
    zeros: u64,
}

impl Histogram {
    /// Adds one time of at least 0.
    #[inline]
    pub(crate) fn add(&mut self, time_s: f64) {
        if time_s <= 0.0 {
            self.zeros += 1;
            return;
        }
        let part = (time_s.to_bits() >> SHIFT) as u32;
        if let Some(count) = self.counts.get_mut(part.wrapping_sub(self.first) as usize) {
            *count += 1;
        } else {
            self.grow(part);
            self.counts[(part - self.first) as usize] += 1;
        }
    }

    #[cold]
    fn grow(&mut self, part: u32) {
        // Whole doublings, so that this is seldom.
        let low = part >> PARTS_BITS << PARTS_BITS;
        let high = low + (1 << PARTS_BITS);
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

    /// Adds all of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        for (part, count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            if self.counts.get(part.wrapping_sub(self.first) as usize).is_none() {
                self.grow(part);
            }
            self.counts[(part - self.first) as usize] += count;
        }
    }

    /// Clears the histogram.
    pub(crate) fn clear(&mut self) {
        self.zeros = 0;
        self.counts.fill(0);
    }

    /// How many times were added.
    pub(crate) fn total(&self) -> u64 {
        self.zeros + self.counts.iter().sum::<u64>()
    }

    /// The time that a share of all (0 to 1) does not exceed, in seconds; between the ends of a part by proportion.
    /// `None` of nothing.
    pub(crate) fn quantile_s(&self, share: f64) -> Option<f64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let wanted = share * total as f64;
        let mut below = self.zeros as f64;
        if self.zeros > 0 && wanted <= below {
            return Some(0.0);
        }
        for (part, &count) in (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let count = count as f64;
            if below + count >= wanted {
                let edge = |part: u32| f64::from_bits(u64::from(part) << SHIFT);
                let (low, high) = (edge(part), edge(part + 1));
                return Some(low + (high - low) * (wanted - below) / count);
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
    fn quantiles_are_near_the_exact_ones() {
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
        // A factor of 10,000 is 14 doublings, and one for the rest.
        assert!(histogram.counts.len() <= 15 * 64, "{}", histogram.counts.len());
    }

    #[test]
    fn joined_parts_are_the_whole() {
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
    fn of_nothing_nothing_is_known() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile_s(0.5), None);
        histogram.add(3.0);
        histogram.clear();
        assert_eq!(histogram.quantile_s(0.5), None);
    }
}
