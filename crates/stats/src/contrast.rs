//! The difference between two groups, each given by a few independent values or by one value with its standard error.
//!
//! The interval uses Student's t with the degrees of freedom of Welch and Satterthwaite, which allows different variances in
//! the groups (Welch, "The generalization of 'Student's' problem when several different population variances are involved",
//! Biometrika 34, 1947).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean, the variance of that mean, and the degrees of freedom of the variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanWithError {
    /// The mean.
    pub value: f64,
    /// The variance of the mean: the square of its standard error.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub freedom: f64,
    /// Maximum error due to the resolution of the values.
    pub resolution: f64,
}

impl MeanWithError {
    /// The mean of independent values; `None` for fewer than two values, whose variance is unknown.
    #[must_use]
    pub fn of_values(values: &[f64]) -> Option<MeanWithError> {
        let moments: crate::Moments = values.iter().copied().collect();
        let n = values.len() as f64;
        Some(MeanWithError {
            value: moments.mean()?,
            variance: moments.variance()? / n,
            freedom: n - 1.0,
            resolution: 0.0,
        })
    }
}

/// The difference of two means, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// The second mean minus the first.
    pub difference: f64,
    /// The standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub freedom: f64,
    /// Maximum error due to the resolution of the values.
    pub resolution: f64,
}

impl Contrast {
    /// The difference `second` − `first` of two independent means.
    #[must_use]
    pub fn between(first: &MeanWithError, second: &MeanWithError) -> Contrast {
        let variance = first.variance + second.variance;
        let share = |mean: &MeanWithError| mean.variance * mean.variance / mean.freedom;
        let freedom = variance * variance / (share(first) + share(second));
        // If both variances are 0, the smaller number of degrees of freedom is used, which is conservative.
        let freedom = if freedom.is_finite() { freedom } else { first.freedom.min(second.freedom) };
        Contrast {
            difference: second.value - first.value,
            standard_error: variance.sqrt(),
            freedom,
            resolution: first.resolution + second.resolution,
        }
    }

    /// Half the width of the confidence interval of the difference.
    #[must_use]
    pub fn half_width(&self, confidence: f64) -> f64 {
        if !self.standard_error.is_finite() || !self.resolution.is_finite() {
            return f64::INFINITY;
        }
        let quantile = StudentsT::new(0.0, 1.0, self.freedom)
            .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + confidence / 2.0));
        // If the standard error is 0, only the resolution counts, even if the quantile is infinite.
        let random = if self.standard_error > 0.0 { quantile * self.standard_error } else { 0.0 };
        random + self.resolution
    }

    /// The two-sided p-value for the null hypothesis of no difference: 1 minus the confidence at which the interval reaches 0.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let beyond = self.difference.abs() - self.resolution;
        if beyond.is_nan() || beyond <= 0.0 {
            return 1.0;
        }
        if self.standard_error <= 0.0 {
            return 0.0;
        }
        let t = beyond / self.standard_error;
        StudentsT::new(0.0, 1.0, self.freedom).map_or(1.0, |student| (2.0 * student.cdf(-t)).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_contrast_equals_a_textbook_example_of_welch() {
        // The groups have 3 and 4 values, with means 2 and 5 and variances 1 and 16/3.
        let first = MeanWithError::of_values(&[1.0, 2.0, 3.0]).unwrap();
        let second = MeanWithError::of_values(&[3.0, 3.0, 7.0, 7.0]).unwrap();
        let found = Contrast::between(&first, &second);
        assert_eq!(found.difference, 3.0);
        let (a, b) = (1.0 / 3.0, (16.0 / 3.0) / 4.0);
        assert!((found.standard_error - f64::sqrt(a + b)).abs() < 1e-12);
        let freedom = (a + b) * (a + b) / (a * a / 2.0 + b * b / 3.0);
        assert!((found.freedom - freedom).abs() < 1e-12);
    }

    #[test]
    fn values_without_variance_are_exact_up_to_their_resolution() {
        let same = |value| MeanWithError { value, variance: 0.0, freedom: 2.0, resolution: 0.5 };
        let found = Contrast::between(&same(10.0), &same(13.0));
        assert_eq!((found.half_width(0.99), found.p_value()), (1.0, 0.0));
        assert_eq!(Contrast::between(&same(10.0), &same(10.9)).p_value(), 1.0);
    }

    #[test]
    fn one_value_has_no_variance() {
        assert_eq!(MeanWithError::of_values(&[1.0]), None);
        assert_eq!(MeanWithError::of_values(&[]), None);
    }

    proptest! {
        #[test]
        fn the_p_value_is_consistent_with_the_interval(
            difference in -5.0..5.0_f64, standard_error in 0.01..3.0_f64, freedom in 1.0..60.0_f64,
            resolution in 0.0..1.0_f64,
        ) {
            let contrast = Contrast { difference, standard_error, freedom, resolution };
            let p = contrast.p_value();
            if p < 1.0 && p > 1e-9 {
                let half = contrast.half_width(1.0 - p);
                prop_assert!((half - difference.abs()).abs() < 1e-4 * half, "{half} {difference}");
            } else if p == 1.0 {
                prop_assert!(difference.abs() <= resolution);
            }
        }
    }
}
