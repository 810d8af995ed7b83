//! Positive numbers of any size.

/// 2^256 and 2^−256: steps of the exponent.
const UP: f64 = f64::from_bits((1023 + 256) << 52);
const DOWN: f64 = f64::from_bits((1023 - 256) << 52);
/// 2^128 and 2^−128: where a mantissa is taken back.
const HIGH: f64 = f64::from_bits((1023 + 128) << 52);
const LOW: f64 = f64::from_bits((1023 - 128) << 52);

/// A number of at least 0 that neither overflows nor underflows: mantissa × 2^(256·exponent). The constants of
/// normalization of a network with 100,000 customers span more than e^±100,000; as only sums and products of positive
/// numbers are taken, each step keeps the full precision of the mantissa, which a logarithm would not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaled {
    mantissa: f64,
    exponent: i32,
}

impl Scaled {
    pub(crate) const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };
    pub(crate) const ONE: Self = Self { mantissa: 1.0, exponent: 0 };

    #[inline]
    fn normal(mut mantissa: f64, mut exponent: i32) -> Self {
        if mantissa >= HIGH {
            mantissa *= DOWN;
            exponent += 1;
        } else if mantissa < LOW {
            if mantissa == 0.0 {
                return Self::ZERO;
            }
            mantissa *= UP;
            exponent -= 1;
        }
        Self { mantissa, exponent }
    }

    /// The product with an ordinary number from 2^−128 to 2^128, or 0.
    #[inline]
    pub(crate) fn times(self, factor: f64) -> Self {
        Self::normal(self.mantissa * factor, self.exponent)
    }

    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        if self.exponent == other.exponent {
            return Self::normal(self.mantissa + other.mantissa, self.exponent);
        }
        if self.mantissa == 0.0 {
            return other;
        }
        if other.mantissa == 0.0 {
            return self;
        }
        let (great, small) = if self.exponent > other.exponent { (self, other) } else { (other, self) };
        if great.exponent - small.exponent == 1 {
            Self::normal(great.mantissa + small.mantissa * DOWN, great.exponent)
        } else {
            great
        }
    }

    /// The ratio to another number as an ordinary one; NaN for 0/0.
    pub(crate) fn over(self, other: Self) -> f64 {
        let steps = f64::from(self.exponent) - f64::from(other.exponent);
        self.mantissa / other.mantissa * (256.0 * steps).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factorial_beyond_all_numbers() {
        let mut factorial = Scaled::ONE;
        for i in 1..=100_000 {
            factorial = factorial.times(f64::from(i));
        }
        let mut down = factorial;
        for i in (3..=100_000).rev() {
            down = down.times(1.0 / f64::from(i));
        }
        assert!((down.over(Scaled::ONE) - 2.0).abs() < 1e-10);
        assert!((factorial.plus(factorial).over(factorial) - 2.0).abs() < 1e-15);
        assert_eq!(factorial.plus(Scaled::ONE), factorial);
        assert_eq!(Scaled::ZERO.plus(factorial), factorial);
    }

    #[test]
    fn sums_across_a_step_of_the_exponent() {
        let great = Scaled::ONE.times(HIGH / 2.0).times(4.0);
        let small = Scaled::ONE.times(HIGH / 4.0);
        assert!(((great.plus(small)).over(great) - (1.0 + 0.125)).abs() < 1e-15);
        assert!((small.over(great) - 0.125).abs() < 1e-15);
    }
}
