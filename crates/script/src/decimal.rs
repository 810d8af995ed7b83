//! Groovy's decimal numbers (`java.math.BigDecimal`), with an unscaled value of at most 128 bits.

use std::cmp::Ordering;
use std::fmt;

/// `digits · 10^(−scale)`. Two decimals of equal value and different scale print differently, as in Java.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    digits: i128,
    scale: i32,
}

/// Minimum number of decimal places to which Groovy rounds a non-terminating quotient.
const QUOTIENT_SCALE_MIN: i32 = 10;
/// Digits of precision that Groovy adds to the precision of the operands for such a quotient.
const QUOTIENT_EXTRA_DIGITS: u32 = 10;

impl Decimal {
    /// A whole number, of scale 0.
    #[must_use]
    pub fn whole(value: i64) -> Decimal {
        Decimal { digits: value.into(), scale: 0 }
    }

    /// Parses a literal such as `1.50` or `1.0E10`; `None` if it is invalid or too long.
    #[must_use]
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        // For larger scales, the powers of ten below do not fit into 128 bits.
        (scale.abs() <= 1000).then_some(Decimal { digits, scale })
    }

    /// Number of decimal places.
    #[must_use]
    pub fn scale(self) -> i32 {
        self.scale
    }

    /// The same number without trailing zeros (`stripTrailingZeros`).
    #[must_use]
    pub fn without_trailing_zeros(self) -> Decimal {
        let mut stripped = self;
        while stripped.digits != 0 && stripped.digits % 10 == 0 && stripped.scale > -1000 {
            stripped.digits /= 10;
            stripped.scale -= 1;
        }
        if stripped.digits == 0 { Decimal::whole(0) } else { stripped }
    }

    /// The double that is nearest to the number.
    #[must_use]
    pub fn to_double(self) -> f64 {
        format!("{}e{}", self.digits, -self.scale).parse().unwrap_or(f64::NAN)
    }

    /// The integer part (rounded towards zero), if it fits.
    #[must_use]
    pub fn truncate(self) -> Option<i64> {
        if self.scale <= 0 {
            return i64::try_from(self.digits.checked_mul(power(self.scale.unsigned_abs())?)?).ok();
        }
        match power(self.scale.unsigned_abs()) {
            Some(divisor) => i64::try_from(self.digits / divisor).ok(),
            None => Some(0),
        }
    }

    fn rescaled(self, scale: i32) -> Option<i128> {
        self.digits.checked_mul(power(u32::try_from(scale.checked_sub(self.scale)?).ok()?)?)
    }

    fn aligned(self, other: Decimal) -> Option<(i128, i128, i32)> {
        let scale = self.scale.max(other.scale);
        Some((self.rescaled(scale)?, other.rescaled(scale)?, scale))
    }

    /// The sum; `None` if its digits do not fit.
    #[must_use]
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { digits: left.checked_add(right)?, scale })
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Decimal) -> Option<Decimal> {
        self.plus(other.negate()?)
    }

    /// The product; its scale is the sum of the scales.
    #[must_use]
    pub fn times(self, other: Decimal) -> Option<Decimal> {
        Some(Decimal {
            digits: self.digits.checked_mul(other.digits)?,
            scale: self.scale.checked_add(other.scale)?,
        })
    }

    /// The number with the opposite sign.
    #[must_use]
    pub fn negate(self) -> Option<Decimal> {
        Some(Decimal { digits: self.digits.checked_neg()?, scale: self.scale })
    }

    /// Whether the value is zero, whatever its scale.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// Groovy's quotient. A terminating quotient is exact. Any other quotient is rounded twice, half up: first to the digits
    /// of the longer operand plus ten, then to ten decimal places (or to the places of the operands, if they have more).
    /// `None` if the digits do not fit or the divisor is zero.
    #[must_use]
    pub fn divide(self, divisor: Decimal) -> Option<Decimal> {
        if divisor.digits == 0 {
            return None;
        }
        let preferred = self.scale.checked_sub(divisor.scale)?;
        if self.digits == 0 {
            return Some(Decimal { digits: 0, scale: preferred });
        }
        let common = gcd(self.digits.unsigned_abs(), divisor.digits.unsigned_abs());
        let denominator = divisor.digits.unsigned_abs() / common;
        let (twos, fives, rest) = split_two_five(denominator);
        if rest == 1 {
            let shift = twos.max(fives);
            let digits = self.digits.checked_mul(power(shift)?)? / divisor.digits;
            let mut quotient = Decimal { digits, scale: preferred.checked_add(i32::try_from(shift).ok()?)? };
            while quotient.scale > preferred && quotient.digits % 10 == 0 {
                quotient = Decimal { digits: quotient.digits / 10, scale: quotient.scale - 1 };
            }
            return Some(quotient);
        }
        let precision = digit_count(self.digits).max(digit_count(divisor.digits)) + QUOTIENT_EXTRA_DIGITS;
        let rounded = self.divide_to_precision(divisor, precision, preferred)?;
        let scale_max = self.scale.max(divisor.scale).max(QUOTIENT_SCALE_MIN);
        if rounded.scale > scale_max {
            let cut = power(u32::try_from(rounded.scale - scale_max).ok()?)?;
            return Some(Decimal { digits: divide_half_up(rounded.digits, cut), scale: scale_max });
        }
        Some(rounded)
    }

    fn divide_to_precision(self, divisor: Decimal, precision: u32, preferred: i32) -> Option<Decimal> {
        // The first estimate of the shift may be off by one; the number of digits of the quotient corrects it.
        let mut shift = i64::from(precision) + i64::from(digit_count(divisor.digits))
            - i64::from(digit_count(self.digits));
        loop {
            let digits = if shift >= 0 {
                divide_half_up(self.digits.checked_mul(power(u32::try_from(shift).ok()?)?)?, divisor.digits)
            } else {
                divide_half_up(self.digits, divisor.digits.checked_mul(power(u32::try_from(-shift).ok()?)?)?)
            };
            match digit_count(digits).cmp(&precision) {
                Ordering::Greater => shift -= 1,
                Ordering::Less => shift += 1,
                Ordering::Equal => {
                    return Some(Decimal {
                        digits,
                        scale: preferred.checked_add(i32::try_from(shift).ok()?)?,
                    });
                }
            }
        }
    }

    /// The absolute value.
    #[must_use]
    pub fn absolute(self) -> Decimal {
        Decimal { digits: self.digits.abs(), scale: self.scale }
    }

    /// The number rounded to `scale` decimal places with Java's `RoundingMode` of this name. `None` if the digits do not fit,
    /// or if rounding is necessary in the mode `UNNECESSARY`.
    #[must_use]
    pub fn set_scale(self, scale: i32, mode: &str) -> Option<Decimal> {
        if scale >= self.scale {
            return Some(Decimal { digits: self.rescaled(scale)?, scale });
        }
        let cut = power(u32::try_from(self.scale.checked_sub(scale)?).ok()?)?;
        let (quotient, rest) = (self.digits / cut, self.digits % cut);
        let away = self.digits.signum();
        let twice = rest.abs().checked_mul(2)?.cmp(&cut);
        let up = match mode {
            "UNNECESSARY" if rest != 0 => return None,
            "UP" => rest != 0,
            "DOWN" | "UNNECESSARY" => false,
            "CEILING" => rest > 0,
            "FLOOR" => rest < 0,
            "HALF_DOWN" => twice.is_gt(),
            "HALF_EVEN" => twice.is_gt() || (twice.is_eq() && quotient % 2 != 0),
            _ => twice.is_ge(),
        };
        Some(Decimal { digits: if up { quotient + away } else { quotient }, scale })
    }

    /// Compares the values, whatever their scales; `None` if the digits do not fit after scaling to a common scale.
    #[must_use]
    pub fn compare(self, other: Decimal) -> Option<Ordering> {
        let (left, right, _) = self.aligned(other)?;
        Some(left.cmp(&right))
    }
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

fn digit_count(value: i128) -> u32 {
    value.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn split_two_five(mut value: u128) -> (u32, u32, u128) {
    let (mut twos, mut fives) = (0, 0);
    while value.is_multiple_of(2) {
        value /= 2;
        twos += 1;
    }
    while value.is_multiple_of(5) {
        value /= 5;
        fives += 1;
    }
    (twos, fives, value)
}

fn divide_half_up(value: i128, divisor: i128) -> i128 {
    let (quotient, remainder) = (value / divisor, value % divisor);
    let away = if (value < 0) == (divisor < 0) { 1 } else { -1 };
    // remainder ≥ divisor / 2, without overflow.
    if remainder.unsigned_abs() >= divisor.unsigned_abs() - remainder.unsigned_abs() {
        quotient + away
    } else {
        quotient
    }
}

impl fmt::Display for Decimal {
    /// Formats the number like Java's `BigDecimal.toString`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs().to_string();
        let adjusted = i64::from(-self.scale) + digits.len() as i64 - 1;
        if self.scale == 0 {
            return write!(f, "{sign}{digits}");
        }
        if self.scale > 0 && adjusted >= -6 {
            let scale = self.scale as usize;
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let point = padded.len() - scale;
            return write!(f, "{sign}{}.{}", &padded[..point], &padded[point..]);
        }
        write!(f, "{sign}{}", &digits[..1])?;
        if digits.len() > 1 {
            write!(f, ".{}", &digits[1..])?;
        }
        if adjusted != 0 { write!(f, "E{adjusted:+}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).expect("a decimal")
    }

    #[test]
    fn quotients_are_rounded_as_in_groovy() {
        // Recorded from Groovy 3.0.20.
        for (left, right, expected) in [
            ("7", "2", "3.5"),
            ("8", "2", "4"),
            ("1", "3", "0.3333333333"),
            ("2", "3", "0.6666666667"),
            ("100", "7", "14.2857142857"),
            ("1000000", "3", "333333.3333333333"),
            ("7.0", "2", "3.5"),
            ("3", "4", "0.75"),
        ] {
            assert_eq!(decimal(left).divide(decimal(right)).unwrap().to_string(), expected, "{left}/{right}");
        }
    }

    #[test]
    fn decimals_print_as_in_java() {
        for (text, expected) in [
            ("1.50", "1.50"),
            ("1e3", "1E+3"),
            ("1.0E10", "1.0E+10"),
            ("1e-7", "1E-7"),
            ("0.0000001", "1E-7"),
            ("0.000001", "0.000001"),
        ] {
            assert_eq!(decimal(text).to_string(), expected);
        }
        assert_eq!(decimal("1.5").minus(decimal("1.5")).unwrap().to_string(), "0.0");
    }
}
