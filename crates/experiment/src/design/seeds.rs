//! Random numbers that are the same in every version of the program, so that an interrupted experiment continues in its order.

/// The generator SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub(super) struct SplitMix64 {
    state: u64,
}

/// The purposes of seeds. Two purposes never share random numbers.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Order,
    Arrivals,
    WarmUp,
}

impl SplitMix64 {
    /// The generator of one block for one purpose.
    pub(super) fn of_block(seed: u64, block: u32, purpose: Purpose) -> SplitMix64 {
        let purpose: u64 = match purpose {
            Purpose::Order => 1,
            Purpose::Arrivals => 2,
            Purpose::WarmUp => 3,
        };
        // Each part goes through the generator, so that neighbouring seeds and blocks give unrelated numbers.
        let mixed = [seed, u64::from(block), purpose].into_iter().fold(0, |state, part| {
            let mut random = SplitMix64 { state: state ^ part };
            random.next()
        });
        SplitMix64 { state: mixed }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `below` − 1. The deviation from equal probabilities is below 2⁻³².
    fn below(&mut self, below: usize) -> usize {
        ((u128::from(self.next()) * below as u128) >> 64) as usize
    }

    /// A random order of the numbers from 1 to `count` (Fisher and Yates).
    pub(super) fn order(&mut self, count: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (1..=count).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_equals_its_published_values() {
        let mut random = SplitMix64 { state: 1_234_567 };
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.next(), random.next(), random.next()], expected);
    }

    #[test]
    fn all_orders_are_equally_frequent() {
        let mut counts = std::collections::BTreeMap::new();
        for block in 0..6_000 {
            *counts.entry(SplitMix64::of_block(7, block, Purpose::Order).order(3)).or_insert(0_u32) += 1;
        }
        // The standard deviation of each count is 29.
        assert!(counts.len() == 6 && counts.values().all(|count| count.abs_diff(1_000) < 120), "{counts:?}");
    }
}
