//! A bounded subsample of gaps, in blocks of consecutive ones.

/// Consecutive gaps in a block.
const LENGTH: usize = 512;

/// Blocks kept: every second one is dropped when they are full.
const BLOCKS_MAX: usize = 64;

/// Gaps that followed one another.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// End of its first gap, ns.
    pub(super) from_ns: u64,
    /// End of its last gap, ns.
    pub(super) to_ns: u64,
    /// The gaps, ns.
    pub(super) gaps_ns: Vec<f64>,
}

/// Blocks spread evenly over all gaps: at most 64 of 512 gaps each, a quarter of a MiB.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// One of so many blocks is kept.
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
        let number = self.seen / LENGTH as u64;
        let first = self.seen.is_multiple_of(LENGTH as u64);
        self.seen += 1;
        if !number.is_multiple_of(self.stride) {
            return;
        }
        if first {
            if self.blocks.len() == BLOCKS_MAX {
                self.stride *= 2;
                let mut index = 0;
                self.blocks.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
            }
            // BLOCKS_MAX is even, so the block that filled the store is one that the doubled stride keeps.
            self.blocks.push(Block { from_ns: end_ns, to_ns: end_ns, gaps_ns: Vec::with_capacity(LENGTH) });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.to_ns = end_ns;
            block.gaps_ns.push(gap_ns);
        }
    }

    /// The blocks that lie inside (from, to].
    pub(super) fn within(&self, from_ns: u64, to_ns: u64) -> Vec<&[f64]> {
        let inside = |block: &&Block| block.from_ns > from_ns && block.to_ns <= to_ns;
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
        let kept = blocks.within(0, u64::MAX);
        assert!((BLOCKS_MAX / 2 - 1..=BLOCKS_MAX).contains(&kept.len()), "{}", kept.len());
        let starts: Vec<f64> = kept.iter().map(|block| block[0]).collect();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == starts[1] - starts[0]), "{starts:?}");
        assert!(kept.iter().all(|block| block.windows(2).all(|pair| pair[1] == pair[0] + 1.0)));
    }

    #[test]
    fn a_short_run_is_kept_whole() {
        let mut blocks = Blocks::new();
        for i in 1..=700_u64 {
            blocks.add(i, 1.0);
        }
        assert_eq!(blocks.within(0, 700).iter().map(|block| block.len()).sum::<usize>(), 700);
    }
}
