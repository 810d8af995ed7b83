//! A subsample of gaps of bounded size, in blocks of consecutive gaps.

/// Number of gaps in a block.
const LENGTH: usize = 512;

/// Maximum number of blocks; when it is exceeded, every second block is removed.
const BLOCKS_MAX: usize = 64;

/// Consecutive gaps.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// End of the first gap, in ns.
    pub(super) from_ns: u64,
    /// End of the last gap, in ns.
    pub(super) to_ns: u64,
    /// The gaps, in ns.
    pub(super) gaps_ns: Vec<f64>,
}

/// Blocks spread evenly over all gaps: at most 64 blocks of 512 gaps, a quarter of a MiB.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// Only one of every `stride` blocks is stored. A power of two.
    stride: u64,
    seen: u64,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        Blocks { blocks: Vec::new(), stride: 1, seen: 0 }
    }

    /// Adds the gap that ends at `end_ns`.
    #[inline]
    pub(super) fn add(&mut self, end_ns: u64, gap_ns: f64) {
        self.add_many(end_ns, gap_ns, 1);
    }

    /// Adds `count` equal gaps, the last of which ends at `end_ns`.
    #[inline]
    pub(super) fn add_many(&mut self, end_ns: u64, gap_ns: f64, count: u64) {
        let mut left = count;
        while left > 0 {
            let (number, within) = (self.seen / LENGTH as u64, self.seen % LENGTH as u64);
            let here = left.min(LENGTH as u64 - within);
            left -= here;
            self.seen += here;
            if number & (self.stride - 1) == 0 {
                self.store(within == 0, end_ns, gap_ns, here as usize);
            }
        }
    }

    /// Adds equal gaps to the last block, or to a new block.
    fn store(&mut self, first: bool, end_ns: u64, gap_ns: f64, count: usize) {
        if first {
            if self.blocks.len() == BLOCKS_MAX {
                self.stride *= 2;
                let mut index = 0;
                self.blocks.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
            }
            // BLOCKS_MAX is even, so the index of this block, counted before removal, is a multiple of the doubled stride.
            self.blocks.push(Block { from_ns: end_ns, to_ns: end_ns, gaps_ns: Vec::with_capacity(LENGTH) });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.to_ns = end_ns;
            block.gaps_ns.extend(std::iter::repeat_n(gap_ns, count));
        }
    }

    /// The blocks inside (from, to] that overlap none of the excluded intervals.
    pub(super) fn within(&self, from_ns: u64, to_ns: u64, left_out: &[(u64, u64)]) -> Vec<&[f64]> {
        let inside = |block: &&Block| {
            let overlaps = |(from, to): &(u64, u64)| block.from_ns <= *to && block.to_ns > *from;
            block.from_ns > from_ns && block.to_ns <= to_ns && !left_out.iter().any(overlaps)
        };
        self.blocks.iter().filter(inside).map(|block| block.gaps_ns.as_slice()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_consecutive_and_spread_evenly() {
        let mut blocks = Blocks::new();
        for i in 0..1_000_000_u64 {
            blocks.add(i, i as f64);
        }
        let kept = blocks.within(0, u64::MAX, &[]);
        assert!((BLOCKS_MAX / 2 - 1..=BLOCKS_MAX).contains(&kept.len()), "{}", kept.len());
        let starts: Vec<f64> = kept.iter().map(|block| block[0]).collect();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == starts[1] - starts[0]), "{starts:?}");
        assert!(kept.iter().all(|block| block.windows(2).all(|pair| pair[1] == pair[0] + 1.0)));
    }

    #[test]
    fn equal_gaps_can_be_added_together() {
        let (mut single, mut together) = (Blocks::new(), Blocks::new());
        for i in 0..10_000_u64 {
            let count = i * 7_919 % 40 + 1;
            (0..count).for_each(|_| single.add(i, i as f64));
            together.add_many(i, i as f64, count);
        }
        assert_eq!(single.within(0, u64::MAX, &[]), together.within(0, u64::MAX, &[]));
        assert_eq!((single.seen, single.stride), (together.seen, together.stride));
    }

    #[test]
    fn all_gaps_of_a_short_run_are_stored() {
        let mut blocks = Blocks::new();
        for i in 1..=700_u64 {
            blocks.add(i, 1.0);
        }
        assert_eq!(blocks.within(0, 700, &[]).iter().map(|block| block.len()).sum::<usize>(), 700);
    }
}
