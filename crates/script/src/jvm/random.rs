//! The class `java.util.Random`: a linear congruential generator of 48 bits (Knuth, TAOCP 2, 3.2.1), as specified in Java's
//! documentation.

/// The generator, and the second normally distributed number of a pair.
#[derive(Debug)]
pub(super) struct JavaRandom {
    seed: u64,
    spare: Option<f64>,
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

impl JavaRandom {
    pub fn new(seed: i64) -> JavaRandom {
        JavaRandom { seed: (seed as u64 ^ MULTIPLIER) & MASK, spare: None }
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.seed = (self.seed.wrapping_mul(MULTIPLIER).wrapping_add(0xB)) & MASK;
        (self.seed >> (48 - bits)) as u32 as i32
    }

    pub fn int(&mut self) -> i32 {
        self.next(32)
    }

    /// A random int in [0, bound); `bound` must be positive.
    pub fn below(&mut self, bound: i32) -> i32 {
        if bound & bound.wrapping_neg() == bound {
            return ((i64::from(bound) * i64::from(self.next(31))) >> 31) as i32;
        }
        loop {
            let bits = self.next(31);
            let value = bits % bound;
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }

    pub fn long(&mut self) -> i64 {
        (i64::from(self.next(32)) << 32).wrapping_add(i64::from(self.next(32)))
    }

    pub fn boolean(&mut self) -> bool {
        self.next(1) != 0
    }

    pub fn float(&mut self) -> f32 {
        self.next(24) as f32 / (1_i32 << 24) as f32
    }

    pub fn double(&mut self) -> f64 {
        let high = i64::from(self.next(26)) << 27;
        (high + i64::from(self.next(27))) as f64 / (1_i64 << 53) as f64
    }

    /// A normally distributed number, by Marsaglia's polar method.
    pub fn gaussian(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.double() - 1.0, 2.0 * self.double() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::JavaRandom;

    #[test]
    fn numbers_are_the_same_as_in_java() {
        // Recorded from Java 17: new Random(42).
        let mut random = JavaRandom::new(42);
        assert_eq!((random.int(), random.below(100), random.below(16)), (-1_170_105_035, 63, 10));
        assert_eq!(random.long(), 884_324_181_205_335_268);
        assert_eq!((random.double(), random.boolean()), (0.942_073_543_028_212_8, true));
        assert_eq!((random.gaussian(), random.float()), (0.280_977_638_072_779_5, 0.368_782_88));
    }
}
