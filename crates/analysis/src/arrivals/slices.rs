//! Sums over time slices.
//!
//! The part of a run with a steady rate is known only at its end, but start times are not stored. All sums are therefore computed
//! per time slice and can be added up over any part. When there are too many slices, adjacent slices are merged. Slices also serve
//! as batches for confidence intervals.

use busyhour_stats::PowerSums;

use super::settings::SCALES_MAX;

/// Maximum number of slices; when it is exceeded, they are merged in pairs.
const SLICES_MAX: usize = 512;

/// Initial width of a slice, in ns.
const WIDTH_FIRST_NS: u64 = 1_000;

/// Lengths below which gaps are counted, in ns: 1, 2 and 5 per decade, from 10 ns to 5 s.
pub(super) const GAP_LIMITS_NS: [u64; 27] = gap_limits();

const fn gap_limits() -> [u64; 27] {
    let mut gap_limits = [0; 27];
    let (mut i, mut decade) = (0, 10);
    while i < 27 {
        gap_limits[i] = decade * [1, 2, 5][i % 3];
        if i % 3 == 2 {
            decade *= 10;
        }
        i += 1;
    }
    gap_limits
}

/// Sums over the time (begin, end] of one slice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slice {
    /// Gaps that end in the slice, relative to the tally's pivot.
    pub(super) gaps: PowerSums,
    /// Number of these gaps, by the shortest of [`GAP_LIMITS_NS`] that exceeds them.
    pub(super) by_limit: [u32; GAP_LIMITS_NS.len()],
    /// Per scale, the counts of windows that end in the slice.
    pub(super) windows: [PowerSums; SCALES_MAX],
}

impl Slice {
    /// Adds the sums of a later slice.
    pub(super) fn merge(&mut self, other: &Slice) {
        self.gaps.merge(&other.gaps);
        for (mine, theirs) in self.by_limit.iter_mut().zip(&other.by_limit) {
            *mine = mine.saturating_add(*theirs);
        }
        for (mine, theirs) in self.windows.iter_mut().zip(&other.windows) {
            mine.merge(theirs);
        }
    }

    /// Number of gaps below the limit with this index.
    pub(super) fn shorter(&self, limit: usize) -> f64 {
        self.by_limit[..=limit].iter().map(|&count| f64::from(count)).sum()
    }
}

/// All slices from the first stamp on.
#[derive(Debug, Clone)]
pub(super) struct Slices {
    origin_ns: u64,
    width_ns: u64,
    slices: Vec<Slice>,
}

impl Slices {
    pub(super) fn new(origin_ns: u64) -> Slices {
        Slices { origin_ns, width_ns: WIDTH_FIRST_NS, slices: Vec::new() }
    }

    /// Width of a slice, in ns.
    pub(super) fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// All slices; the last may be incomplete.
    pub(super) fn all(&self) -> &[Slice] {
        &self.slices
    }

    /// The slice that contains a time after the origin.
    pub(super) fn at(&mut self, stamp_ns: u64) -> &mut Slice {
        let mut index = self.index(stamp_ns);
        while index >= SLICES_MAX {
            self.join();
            index = self.index(stamp_ns);
        }
        if index >= self.slices.len() {
            self.slices.resize(index + 1, Slice::default());
        }
        &mut self.slices[index]
    }

    fn index(&self, stamp_ns: u64) -> usize {
        let passed = stamp_ns.saturating_sub(self.origin_ns).saturating_sub(1);
        usize::try_from(passed / self.width_ns).unwrap_or(usize::MAX)
    }

    fn join(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        let joined = self.slices.chunks(2).map(|pair| {
            let mut slice = pair[0];
            if let Some(later) = pair.get(1) {
                slice.merge(later);
            }
            slice
        });
        self.slices = joined.collect();
    }

    /// Adds consecutive windows of one scale with the same count.
    pub(super) fn add_windows(&mut self, scale: usize, width_ns: u64, ended: busyhour_stats::Windows) {
        let (mut left, mut end) = (ended.windows, ended.first_end);
        while left > 0 {
            self.at(end);
            let slice_end =
                self.origin_ns.saturating_add((self.index(end) as u64 + 1).saturating_mul(self.width_ns));
            let here = (1 + slice_end.saturating_sub(end) / width_ns).min(left);
            self.at(end).windows[scale].add_many(ended.count as f64, here as f64);
            left -= here;
            end = end.saturating_add(here * width_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_limits_are_one_two_five_per_decade() {
        assert_eq!(GAP_LIMITS_NS[..4], [10, 20, 50, 100]);
        assert_eq!(GAP_LIMITS_NS[26], 5_000_000_000);
    }

    #[test]
    fn merging_slices_preserves_sums() {
        let mut slices = Slices::new(0);
        for i in 1..=10_000_u64 {
            slices.at(i * 1_000_000).gaps.add(1.0);
        }
        assert_eq!(slices.width_ns(), 32_768_000);
        assert_eq!(slices.all().iter().map(|slice| slice.gaps.n).sum::<f64>(), 10_000.0);
        assert_eq!(slices.all()[0].gaps.n, 32.0, "a slice includes its right end, but not its left one");
    }

    #[test]
    fn windows_of_a_pause_are_spread_over_its_slices() {
        let mut slices = Slices::new(0);
        slices.at(100_000_000);
        let ended = busyhour_stats::Windows { count: 0, windows: 1_000, first_end: 100_000 };
        slices.add_windows(1, 100_000, ended);
        assert!(slices.all().iter().all(|slice| (1.0..=3.0).contains(&slice.windows[1].n)));
        assert_eq!(slices.all().iter().map(|slice| slice.windows[1].n).sum::<f64>(), 1_000.0);
    }
}
