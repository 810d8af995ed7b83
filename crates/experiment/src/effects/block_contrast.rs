//! A difference that was measured once in each block.

use busyhour_stats::{Contrast, MeanWithError};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Below this share of their size, the variation of differences is only rounding.
const ROUNDING: f64 = 1e-12;

/// The mean of a difference over the blocks, and its variation.
///
/// The interval is that of Student's t over the blocks. It needs neither equal variances of the cases nor equal levels of the
/// blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockContrast {
    mean: f64,
    sd: f64,
    blocks: usize,
}

impl BlockContrast {
    /// The contrast of one difference per block; `None` for fewer than two, or if one is not finite.
    #[must_use]
    pub fn of(differences: &[f64]) -> Option<BlockContrast> {
        if differences.iter().any(|difference| !difference.is_finite()) {
            return None;
        }
        let found = MeanWithError::of_values(differences)?;
        let blocks = differences.len();
        Some(BlockContrast { mean: found.value, sd: (found.variance * blocks as f64).sqrt(), blocks })
    }

    /// The mean difference.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the differences.
    #[must_use]
    pub fn sd(&self) -> f64 {
        self.sd
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Whether the difference is the same in all blocks, so that its variation is unknown. This happens with coarsely rounded
    /// values.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.sd <= ROUNDING * (1.0 + self.mean.abs())
    }

    /// Half the width of the interval at a confidence; infinite if the variation is unknown.
    #[must_use]
    pub fn half_width(&self, confidence: f64) -> f64 {
        if self.is_constant() {
            return f64::INFINITY;
        }
        t_quantile(self.blocks, confidence) * self.sd / (self.blocks as f64).sqrt()
    }

    /// The two-sided p value of the hypothesis that there is no difference.
    ///
    /// If the difference is the same in all blocks, it is the probability that all blocks have the same sign.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        if self.is_constant() {
            let is_zero = self.mean.abs() <= ROUNDING;
            return if is_zero { 1.0 } else { 0.5_f64.powi(self.blocks.min(1_000) as i32 - 1) };
        }
        let contrast = Contrast {
            difference: self.mean,
            standard_error: self.sd / (self.blocks as f64).sqrt(),
            freedom: self.blocks as f64 - 1.0,
            resolution: 0.0,
        };
        contrast.p_value()
    }
}

/// The two-sided quantile of Student's t for the mean of `blocks` values.
pub(super) fn t_quantile(blocks: usize, confidence: f64) -> f64 {
    StudentsT::new(0.0, 1.0, blocks as f64 - 1.0)
        .map_or(f64::INFINITY, |student| student.inverse_cdf(0.5 + confidence / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_a_paired_t_test() {
        // The differences in sleep of Student's paper, "The probable error of a mean", Biometrika 6, 1908.
        let sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let found = BlockContrast::of(&sleep).unwrap();
        assert!((found.mean() - 1.58).abs() < 1e-12);
        assert!((found.half_width(0.95) - 0.880_3).abs() < 1e-3, "{}", found.half_width(0.95));
        assert!((found.p_value() - 0.002_833).abs() < 1e-5, "{}", found.p_value());
    }

    #[test]
    fn equal_differences_are_not_conclusive() {
        let found = BlockContrast::of(&[0.1 + 0.2 - 0.2, 0.1, 0.1]).unwrap();
        assert_eq!((found.half_width(0.95), found.p_value()), (f64::INFINITY, 0.25));
        assert_eq!(BlockContrast::of(&[0.0; 9]).unwrap().p_value(), 1.0);
        assert_eq!(BlockContrast::of(&[0.1]), None);
        assert_eq!(BlockContrast::of(&[0.1, f64::NAN]), None);
    }
}
