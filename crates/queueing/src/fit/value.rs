//! Estimates with confidence intervals.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Confidence level of all intervals of fits.
pub const CONFIDENCE: f64 = 0.95;

/// An estimate with its confidence interval. Ends that the measurements do not determine are `None`.
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
    /// An estimate without an interval.
    #[must_use]
    pub const fn without_interval(value: f64) -> FittedValue {
        FittedValue { value, low: None, high: None }
    }

    /// An estimate with the interval of its standard error and degrees of freedom, whose lower end is at least `least`.
    pub(crate) fn with_error(value: f64, error: f64, freedom: f64, least: f64) -> FittedValue {
        let half = error * student_quantile(freedom);
        if !half.is_finite() {
            return FittedValue::without_interval(value);
        }
        FittedValue { value, low: Some((value - half).max(least)), high: Some(value + half) }
    }

    /// The estimate with as many digits as its interval supports: it is rounded at the second significant digit of the shorter
    /// half of the interval. Without an interval, it has six significant digits.
    #[must_use]
    pub fn rounded(&self) -> f64 {
        let halves = [self.low, self.high].into_iter().flatten().map(|end| (end - self.value).abs());
        let half = halves.filter(|half| *half > 0.0).fold(f64::INFINITY, f64::min);
        if half.is_finite() { round_to_digit(self.value, half, 2) } else { significant(self.value, 6) }
    }

    /// Whether the interval contains `value`. An unknown end is unlimited.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    /// The same estimate with the interval widened to contain the interval of `other`. Unknown ends stay unknown.
    pub(crate) fn widened_to(&self, other: &FittedValue) -> FittedValue {
        let end = |own: Option<f64>, other: Option<f64>, outer: fn(f64, f64) -> f64| {
            own.zip(other).map(|(own, other)| outer(own, other))
        };
        FittedValue {
            value: self.value,
            low: end(self.low, other.low.or(Some(other.value)), f64::min),
            high: end(self.high, other.high.or(Some(other.value)), f64::max),
        }
    }
}

/// Rounds a number to `digits` significant digits.
#[must_use]
pub fn significant(value: f64, digits: i32) -> f64 {
    round_to_digit(value, value.abs(), digits)
}

/// Rounds a number at the place of the given significant digit of `scale`, but keeps at least the number's own first digit.
fn round_to_digit(value: f64, scale: f64, digit: i32) -> f64 {
    if value == 0.0 || !value.is_finite() || scale <= 0.0 || !scale.is_finite() {
        return value;
    }
    let lowest = scale.log10().floor() as i32 - (digit - 1);
    let decimals = -lowest.min(value.abs().log10().floor() as i32);
    // Conversion via text returns the number nearest to the short decimal.
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
    fn estimates_are_rounded_to_the_precision_of_their_interval() {
        let value = |value: f64, low: f64, high: f64| FittedValue { value, low: Some(low), high: Some(high) };
        // A precision of ±8 % is ±0.00064.
        assert_eq!(value(0.008_012_345_678_9, 0.007_37, 0.008_65).rounded(), 0.008_01);
        assert_eq!(value(0.008_012_345_678_9, 0.008_010, 0.008_015).rounded(), 0.008_012_3);
        assert_eq!(value(1234.567, 200.0, 2300.0).rounded(), 1200.0);
        assert_eq!(value(0.012, 0.0, 5.0).rounded(), 0.012);
        assert_eq!(FittedValue::without_interval(1.0 / 157.0).rounded(), 0.006_369_43);
        assert_eq!(FittedValue::without_interval(0.0).rounded(), 0.0);
        assert_eq!(significant(0.500_123_456_789, 4), 0.5001);
    }
}
