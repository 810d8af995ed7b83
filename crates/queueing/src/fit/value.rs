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

/// The two-sided quantile of Student's t at [`CONFIDENCE`]; infinite without a degree of freedom.
pub(crate) fn student_quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + CONFIDENCE / 2.0))
}
