//! The order of the trials of a block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::seeds::{Purpose, SplitMix64};

/// The order of the trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialOrder {
    /// Every block contains every case once, in a fresh random order.
    Interleaved,
    /// As `interleaved`, but every second block reverses the order of the block before it. A steady drift of the machine then
    /// cancels out in each pair of blocks.
    #[default]
    Mirrored,
    /// All trials of the first case, then all of the second, and so on. A drift of the machine looks like an effect.
    Sequential,
}

impl TrialOrder {
    /// The numbers of the cases in the order of a block; blocks are counted from 1.
    pub(super) fn of_block(self, seed: u64, block: u32, cases: u32) -> Vec<u32> {
        match self {
            TrialOrder::Interleaved => SplitMix64::of_block(seed, block, Purpose::Order).order(cases),
            TrialOrder::Mirrored if block.is_multiple_of(2) => {
                let mut order = SplitMix64::of_block(seed, block - 1, Purpose::Order).order(cases);
                order.reverse();
                order
            }
            TrialOrder::Mirrored => SplitMix64::of_block(seed, block, Purpose::Order).order(cases),
            TrialOrder::Sequential => (1..=cases).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_contains_every_case_once() {
        for order in [TrialOrder::Interleaved, TrialOrder::Mirrored, TrialOrder::Sequential] {
            for block in 1..20 {
                let mut cases = order.of_block(5, block, 7);
                cases.sort_unstable();
                assert_eq!(cases, [1, 2, 3, 4, 5, 6, 7]);
            }
        }
        assert_ne!(TrialOrder::Interleaved.of_block(5, 1, 7), TrialOrder::Interleaved.of_block(5, 2, 7));
    }

    #[test]
    fn the_second_block_of_a_pair_mirrors_the_first() {
        let (mut first, second) =
            (TrialOrder::Mirrored.of_block(5, 3, 7), TrialOrder::Mirrored.of_block(5, 4, 7));
        first.reverse();
        assert_eq!(first, second);
    }

    #[test]
    fn the_order_of_a_seed_never_changes() {
        // Interrupted experiments of earlier versions continue in this order.
        assert_eq!(TrialOrder::Interleaved.of_block(1, 1, 6), [4, 5, 3, 1, 6, 2]);
    }
}
