//! Exact fractions of a load.

use std::fmt;

/// A fraction in [0, 1], in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) numerator: u64,
    pub(crate) denominator: u64,
}

impl Fraction {
    pub(crate) const ZERO: Fraction = Fraction { numerator: 0, denominator: 1 };
    pub(crate) const ONE: Fraction = Fraction { numerator: 1, denominator: 1 };

    pub(crate) fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The number of values of [`crate::Arrival::mark`] below the fraction: ⌊fraction · 2^64⌋.
    pub(crate) fn of_marks(self) -> u128 {
        (u128::from(self.numerator) << 64) / u128::from(self.denominator)
    }

    pub(crate) fn between(self, to: Fraction, numerator: u64, denominator: u64) -> Option<Fraction> {
        let common = u128::from(self.denominator).checked_mul(u128::from(to.denominator))?;
        let from = u128::from(self.numerator) * u128::from(to.denominator);
        let width = u128::from(to.numerator) * u128::from(self.denominator) - from;
        let (from, width, common) = lowest_terms(from, width, common);
        let top = from
            .checked_mul(u128::from(denominator))?
            .checked_add(width.checked_mul(u128::from(numerator))?)?;
        let bottom = common.checked_mul(u128::from(denominator))?;
        let (top, _, bottom) = lowest_terms(top, 0, bottom);
        Some(Fraction { numerator: u64::try_from(top).ok()?, denominator: u64::try_from(bottom).ok()? })
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

pub(crate) fn greatest_common_divisor<T>(mut a: T, mut b: T) -> T
where
    T: Copy + Default + PartialEq + std::ops::Rem<Output = T>,
{
    while b != T::default() {
        (a, b) = (b, a % b);
    }
    a
}

fn lowest_terms(a: u128, b: u128, c: u128) -> (u128, u128, u128) {
    let divisor = greatest_common_divisor(greatest_common_divisor(a, b), c).max(1);
    (a / divisor, b / divisor, c / divisor)
}
