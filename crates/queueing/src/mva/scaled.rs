//! Non-negative numbers with an extended exponent.

/// 2^256 and 2^−256: the factors for one step of the exponent.
const UP: f64 = f64::from_bits((1023 + 256) << 52);
const DOWN: f64 = f64::from_bits((1023 - 256) << 52);
/// 2^128 and 2^−128: the limits of a normalized mantissa.
const HIGH: f64 = f64::from_bits((1023 + 128) << 52);
const LOW: f64 = f64::from_bits((1023 - 128) << 52);

/// A number of at least 0 that neither overflows nor underflows: mantissa × 2^(256·exponent).
///
/// The normalization constants of a network with 100,000 customers span more than e^±100,000. Only sums and products of
/// positive numbers are computed, so each step has the full precision of the mantissa; logarithms would lose precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaled {
    mantissa: f64,
    exponent: i32,
}

impl Scaled {
    pub(crate) const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };
    pub(crate) const ONE: Self = Self { mantissa: 1.0, exponent: 0 };

    #[inline]
    fn normalized(mut mantissa: f64, mut exponent: i32) -> Self {
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
        Self::normalized(self.mantissa * factor, self.exponent)
    }

    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        if self.exponent == other.exponent {
            return Self::normalized(self.mantissa + other.mantissa, self.exponent);
        }
        if self.mantissa == 0.0 {
            return other;
        }
        if other.mantissa == 0.0 {
            return self;
        }
        let (large, small) = if self.exponent > other.exponent { (self, other) } else { (other, self) };
        if large.exponent - small.exponent == 1 {
            Self::normalized(large.mantissa + small.mantissa * DOWN, large.exponent)
        } else {
            large
        }
    }

    /// The ratio to another number as an `f64`; NaN for 0/0.
    pub(crate) fn over(self, other: Self) -> f64 {
        let steps = f64::from(self.exponent) - f64::from(other.exponent);
        self.mantissa / other.mantissa * (256.0 * steps).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_beyond_the_range_of_f64() {
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
    fn sums_of_numbers_with_different_exponents() {
        let large = Scaled::ONE.times(HIGH / 2.0).times(4.0);
        let small = Scaled::ONE.times(HIGH / 4.0);
        assert!(((large.plus(small)).over(large) - (1.0 + 0.125)).abs() < 1e-15);
        assert!((small.over(large) - 0.125).abs() < 1e-15);
    }
}
