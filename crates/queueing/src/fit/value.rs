//! A fitted number with its interval.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Confidence of all intervals here.
pub const CONFIDENCE: f64 = 0.95;

/// A fitted number. An end of its interval that the measurements do not determine is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FittedValue {
    /// The estimate.
    pub value: f64,
    /// Lower end at [`CONFIDENCE`].
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl FittedValue {
    /// A number of which nothing else is known.
    #[must_use]
    pub const fn bare(value: f64) -> FittedValue {
        FittedValue { value, low: None, high: None }
    }

    /// With the interval of its standard error and the degrees of freedom behind it, cut off at `least`.
    pub(crate) fn with_error(value: f64, error: f64, freedom: f64, least: f64) -> FittedValue {
        let half = error * student_quantile(freedom);
        if !half.is_finite() {
            return FittedValue::bare(value);
        }
        FittedValue { value, low: Some((value - half).max(least)), high: Some(value + half) }
    }

    /// The estimate with as many digits as its interval supports: the last one is the second digit of the shorter half of the
    /// interval. Six significant digits where there is no interval.
    #[must_use]
    pub fn rounded(&self) -> f64 {
        let halves = [self.low, self.high].into_iter().flatten().map(|end| (end - self.value).abs());
        let half = halves.filter(|half| *half > 0.0).fold(f64::INFINITY, f64::min);
        if half.is_finite() { to_digit_of(self.value, half, 2) } else { significant(self.value, 6) }
    }

    /// Whether the interval holds `value`; an unknown end holds everything on its side.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    /// The same estimate with an interval that contains another one, too. An unknown end stays unknown.
    pub(crate) fn containing(&self, other: &FittedValue) -> FittedValue {
        let end = |own: Option<f64>, other: Option<f64>, of: fn(f64, f64) -> f64| {
            own.zip(other).map(|(own, other)| of(own, other))
        };
        FittedValue {
            value: self.value,
            low: end(self.low, other.low.or(Some(other.value)), f64::min),
            high: end(self.high, other.high.or(Some(other.value)), f64::max),
        }
    }
}

/// A number with so many significant digits.
#[must_use]
pub fn significant(value: f64, digits: i32) -> f64 {
    to_digit_of(value, value.abs(), digits)
}

/// A number without what is below that digit of a scale, but not without its own first digit.
fn to_digit_of(value: f64, scale: f64, digit: i32) -> f64 {
    if value == 0.0 || !value.is_finite() || scale <= 0.0 || !scale.is_finite() {
        return value;
    }
    let lowest = scale.log10().floor() as i32 - (digit - 1);
    let decimals = -lowest.min(value.abs().log10().floor() as i32);
    // By text, so that the nearest number to the short decimal is found.
    let text = if decimals >= 0 {
        format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
    } else {
        let unit = 10_f64.powi(-decimals);
        return (value / unit).round() * unit;
    };
    text.parse().unwrap_or(value)
}

/// The two-sided quantile of Student's t at [`CONFIDENCE`]; infinite without a degree of freedom.
pub(crate) fn student_quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + CONFIDENCE / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_that_the_interval_supports() {
        let value = |value: f64, low: f64, high: f64| FittedValue { value, low: Some(low), high: Some(high) };
        // Known to ±8 %: ±0.00064.
        assert_eq!(value(0.008_012_345_678_9, 0.007_37, 0.008_65).rounded(), 0.008_01);
        assert_eq!(value(0.008_012_345_678_9, 0.008_010, 0.008_015).rounded(), 0.008_012_3);
        assert_eq!(value(1234.567, 200.0, 2300.0).rounded(), 1200.0);
        assert_eq!(value(0.012, 0.0, 5.0).rounded(), 0.012);
        assert_eq!(FittedValue::bare(1.0 / 157.0).rounded(), 0.006_369_43);
        assert_eq!(FittedValue::bare(0.0).rounded(), 0.0);
        assert_eq!(significant(0.500_123_456_789, 4), 0.5001);
    }
}
