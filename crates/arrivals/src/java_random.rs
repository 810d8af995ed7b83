//! `java.util.Random`, whose documentation specifies the algorithm. It determines the arrivals of a JMeter plan with a random
//! seed.

/// A linear congruential generator: x ← a·x + c modulo 2^48. The upper bits of x are the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JavaRandom {
    state: u64,
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

impl JavaRandom {
    /// The generator that `new Random(seed)` creates.
    pub(crate) fn new(seed: i64) -> JavaRandom {
        JavaRandom::from_state(seed as u64 ^ MULTIPLIER)
    }

    /// Creates a generator with this inner state, of which 48 bits are used.
    pub(crate) fn from_state(state: u64) -> JavaRandom {
        JavaRandom { state: state & MASK }
    }

    /// The inner state.
    pub(crate) fn state(self) -> u64 {
        self.state
    }

    fn next(&mut self, bits: u32) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        self.state >> (48 - bits)
    }

    /// The number that `nextDouble()` returns next: uniform in [0, 1).
    pub(crate) fn next_double(&mut self) -> f64 {
        let high = self.next(26) << 27;
        (high + self.next(27)) as f64 / (1_u64 << 53) as f64
    }

    /// The generator after `calls` calls of `nextDouble()`, each of which takes two steps. The steps are combined by repeated
    /// squaring.
    pub(crate) fn skip_doubles(mut self, calls: u64) -> JavaRandom {
        let mut steps = u128::from(calls) * 2;
        let (mut multiplier, mut increment) = (MULTIPLIER, INCREMENT);
        while steps > 0 {
            if steps % 2 == 1 {
                self.state = self.state.wrapping_mul(multiplier).wrapping_add(increment) & MASK;
            }
            increment = increment.wrapping_mul(multiplier.wrapping_add(1));
            multiplier = multiplier.wrapping_mul(multiplier);
            steps /= 2;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_equal_those_of_java() {
        // The first two values of `new java.util.Random(0).nextDouble()`.
        let mut random = JavaRandom::new(0);
        assert_eq!(random.next_double(), 0.730_967_787_376_657);
        assert_eq!(random.next_double(), 0.240_536_415_671_485_87);
    }

    #[test]
    fn skipping_equals_calling() {
        let mut called = JavaRandom::new(-77);
        for calls in 0..50 {
            assert_eq!(JavaRandom::new(-77).skip_doubles(calls), called);
            called.next_double();
        }
    }
}
