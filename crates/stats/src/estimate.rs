//! An estimate with its confidence interval.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Confidence of the intervals of this crate.
pub const CONFIDENCE: f64 = 0.95;

/// How a confidence interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Delta method on batch means, with Student's t. Valid for dependent values if the range of dependence is short compared
    /// to a batch (there are 32 to 64 batches).
    BatchMeans,
    /// The union of [`IntervalMethod::BatchMeans`] and the chi-square interval for the variance of independent counts.
    BatchMeansAndChiSquare,
    /// The union of [`IntervalMethod::BatchMeans`] and Wilson's score interval for the share of independent values.
    BatchMeansAndScore,
    /// The spectrum at frequency zero ([`spectral_variance`](crate::spectral_variance)), with Student's t.
    Spectral,
    /// The spread of independent replications, with Student's t.
    Replications,
}

/// An estimate with a confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence of the interval, 0 to 1.
    pub confidence: f64,
    /// How the interval was computed.
    pub method: IntervalMethod,
}

impl Estimate {
    /// An interval with [`CONFIDENCE`] around `value`, from its standard error and the degrees of freedom of the standard
    /// error.
    #[must_use]
    pub fn from_standard_error(
        value: f64,
        standard_error: f64,
        freedom: f64,
        method: IntervalMethod,
    ) -> Estimate {
        Estimate::with_confidence(value, standard_error, freedom, CONFIDENCE, method)
    }

    /// Like [`Self::from_standard_error`], with another confidence above 0 and below 1.
    #[must_use]
    pub fn with_confidence(
        value: f64,
        standard_error: f64,
        freedom: f64,
        confidence: f64,
        method: IntervalMethod,
    ) -> Estimate {
        let half = standard_error * student_quantile(freedom, confidence);
        Estimate { value, low: value - half, high: value + half, confidence, method }
    }

    /// Half the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The estimate and its interval multiplied by `factor`, for another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Estimate {
        let (a, b) = (self.low * factor, self.high * factor);
        Estimate { value: self.value * factor, low: a.min(b), high: a.max(b), ..self }
    }
}

/// The two-sided quantile of Student's t; infinite for 0 degrees of freedom.
fn student_quantile(freedom: f64, confidence: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + confidence / 2.0))
}

/// The two-sided quantile of the normal distribution for [`CONFIDENCE`]: 1.96.
pub(crate) fn normal_quantile() -> f64 {
    Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_tabulated_values() {
        for (freedom, table) in [(5.0, 2.571), (30.0, 2.042), (63.0, 1.998)] {
            assert!((student_quantile(freedom, CONFIDENCE) - table).abs() < 5e-4, "{freedom}");
        }
        assert_eq!(student_quantile(0.0, CONFIDENCE), f64::INFINITY);
    }

    #[test]
    fn conversion_to_another_unit_applies_to_the_interval() {
        let estimate = Estimate::from_standard_error(2.0, 0.5, 30.0, IntervalMethod::BatchMeans).scaled(10.0);
        assert_eq!(estimate.value, 20.0);
        assert!((estimate.half_width() - 10.21).abs() < 0.01);
    }
}
