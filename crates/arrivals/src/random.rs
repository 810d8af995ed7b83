//! Keyed random numbers: reproducible streams, and variates of the distributions of gaps.

use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// 2^64 divided by the golden ratio: the increment of SplitMix64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

// One constant for each purpose for which a seed is used. Different constants give unrelated keys.
const FOR_TIMES: u64 = 0x7469_6D65_7300_0001;
const FOR_MARKS: u64 = 0x6D61_726B_7300_0002;
const FOR_GROUPS: u64 = 0x6772_6F75_7073_0003;
const FOR_PARTS: u64 = 0x7061_7274_7300_0004;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014; constants of Stafford's variant 13): a bijection of u64
/// in which every input bit changes every output bit with probability near a half.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The `position`-th output of a SplitMix64 generator with this key.
const fn draw(key: u64, position: u64) -> u64 {
    mix(key.wrapping_add(position.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// Chooses the group of an arrival, with probabilities proportional to `weights`.
///
/// `mark` is the arrival's random number ([`crate::Arrival::mark`]). A second random number is derived from it, so that the
/// choice is independent of the arrival's share. A weight that is negative or NaN counts as 0; a group with weight 0 is never
/// chosen. Returns 0 if no weight is positive; callers should reject such weights beforehand.
pub fn pick(weights: &[f64], mark: u64) -> usize {
    let weight = |w: &f64| if w.is_finite() && *w > 0.0 { *w } else { 0.0 };
    let total: f64 = weights.iter().map(weight).sum();
    let point = unit(draw(FOR_GROUPS, mark)) * total;
    let mut passed = 0.0;
    let mut last = 0;
    for (group, w) in weights.iter().map(weight).enumerate() {
        if w > 0.0 {
            last = group;
            passed += w;
            if point < passed {
                return group;
            }
        }
    }
    last
}

/// The seed of the part of a schedule that follows change number `part`, counted from 1.
pub(crate) fn part_seed(seed: u64, part: u64) -> u64 {
    draw(mix(mix(seed) ^ FOR_PARTS), part)
}

/// The key from which the marks of a schedule are drawn.
pub(crate) fn mark_key(seed: u64) -> u64 {
    mix(mix(seed) ^ FOR_MARKS)
}

/// The mark of an arrival: uniform over u64, and independent of its time.
pub(crate) fn mark(mark_key: u64, index: u64) -> u64 {
    draw(mark_key, index)
}

/// Converts 53 random bits to a number in [0, 1).
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// The random numbers for the times of one stage.
#[derive(Clone, Debug)]
pub(crate) struct Source(Xoshiro256PlusPlus);

impl Source {
    /// Creates the stream of a stage. Each stage has a separate stream, so that the numbers drawn by one stage do not affect
    /// others.
    pub(crate) fn new(seed: u64, stage: u32) -> Source {
        let key = draw(mix(mix(seed) ^ FOR_TIMES), u64::from(stage));
        Source(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// A uniform variate in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        unit(self.0.next_u64())
    }

    /// An exponential variate with mean 1, by inversion; the argument of the logarithm is in (0, 1].
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// A standard normal variate, by Marsaglia's polar method (the second value is discarded).
    fn normal(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }

    /// A gamma variate with this shape and scale 1 (Marsaglia and Tsang, "A simple method for generating gamma variables", ACM
    /// TOMS 26, 2000). For shapes below 1 it is a variate with shape + 1 times U^(1/shape).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * libm::exp(-self.exponential() / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            if root > 0.0 {
                let v = root * root * root;
                if -self.exponential() < 0.5 * x * x + d - d * v + d * libm::log(v) {
                    return d * v;
                }
            }
        }
    }
}
