//! The smallest effect that an experiment can show.

use statrs::distribution::{ContinuousCDF as _, Normal};
use statrs::function::gamma::ln_gamma;

use super::block_contrast::t_quantile;
use crate::scale::ResponseScale;

/// The probability with which the smallest effect is found.
pub const POWER: f64 = 0.9;

/// Limits on the number of steps of Simpson's rule for the integral over the distribution of the standard deviation.
const STEPS: (f64, f64) = (200.0, 4_000.0);

/// Precision of the smallest effect, as a share of it.
const PRECISION: f64 = 1e-6;

/// The probability that the t test over the blocks finds a difference: a mean of `difference` over `blocks` normal differences
/// with standard deviation `sd`, tested at `confidence`. `None` for fewer than two blocks or an invalid standard deviation.
#[must_use]
pub fn power_within_blocks(difference: f64, sd: f64, blocks: usize, confidence: f64) -> Option<f64> {
    if blocks < 2 || sd.is_nan() || sd <= 0.0 || !difference.is_finite() {
        return None;
    }
    let shift = difference.abs() * (blocks as f64).sqrt() / sd;
    Some(BlockTest::new(blocks, confidence).power(shift))
}

/// The smallest effect that is found with the probability [`POWER`], in percent or in percentage points: with `blocks`
/// differences of standard deviation `sd` on the scale of the analysis, tested at `confidence`. The stated effect is an increase.
///
/// Before the experiment, the standard deviation is a guess: for two cases whose trials have a coefficient of variation c within
/// a block, it is about c·√2. `None` for fewer than two blocks or an invalid standard deviation.
#[must_use]
pub fn smallest_effect(scale: ResponseScale, blocks: usize, sd: f64, confidence: f64) -> Option<f64> {
    smallest_shift(blocks, confidence).and_then(|shift| effect_of_shift(scale, blocks, sd, shift))
}

/// The difference that is found with the probability [`POWER`], in standard errors.
pub(super) fn smallest_shift(blocks: usize, confidence: f64) -> Option<f64> {
    if blocks < 2 {
        return None;
    }
    let test = BlockTest::new(blocks, confidence);
    let (mut low, mut high) = (0.0, test.critical + 1.0);
    while test.power(high) < POWER {
        low = high;
        high *= 2.0;
        if high > 1e9 {
            return None;
        }
    }
    while high - low > PRECISION * high {
        let middle = (low + high) / 2.0;
        if test.power(middle) < POWER { low = middle } else { high = middle }
    }
    Some(high)
}

/// The effect for a difference of `shift` standard errors, in percent or in percentage points.
pub(super) fn effect_of_shift(scale: ResponseScale, blocks: usize, sd: f64, shift: f64) -> Option<f64> {
    let is_valid = sd.is_finite() && sd > 0.0;
    let effect = scale.percent(shift * sd / (blocks as f64).sqrt());
    Some(effect).filter(|effect| is_valid && effect.is_finite())
}

/// The t test over the blocks at one confidence.
struct BlockTest {
    freedom: f64,
    critical: f64,
    /// The constant of the logarithm of the density of the standard deviation.
    constant: f64,
}

impl BlockTest {
    fn new(blocks: usize, confidence: f64) -> BlockTest {
        let freedom = blocks as f64 - 1.0;
        let half = freedom / 2.0;
        let constant = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
        BlockTest { freedom, critical: t_quantile(blocks, confidence), constant }
    }

    /// The power for a difference of `shift` standard errors.
    fn power(&self, shift: f64) -> f64 {
        // Let s be the ratio of the estimated to the true standard deviation. Given s, the test compares a normal variable with
        // critical·s. The distribution of freedom·s² is chi-square.
        let normal = Normal::standard();
        let significant_given =
            |s: f64| normal.cdf(shift - self.critical * s) + normal.cdf(-shift - self.critical * s);
        let density =
            |s: f64| (self.constant - self.freedom / 2.0 * s * s).exp() * s.powf(self.freedom - 1.0);
        let spread = 10.0 / (2.0 * self.freedom).sqrt();
        let (from, to) = ((1.0 - spread).max(0.0), 1.0 + spread);
        // The function of s is steeper for larger critical values.
        let steps = 2 * (4.0 * (to - from) * self.critical).clamp(STEPS.0 / 2.0, STEPS.1 / 2.0) as usize;
        let step = (to - from) / steps as f64;
        let weight = |at: usize| match at {
            at if at == 0 || at == steps => 1.0,
            at if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = (0..=steps)
            .map(|at| {
                let s = from + step * at as f64;
                weight(at) * density(s) * significant_given(s)
            })
            .sum();
        (sum * step / 3.0).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_equals_published_values() {
        // The first two are those of power.t.test(type = "paired") of R, the last one is from 400,000 simulated experiments.
        for (blocks, difference, power) in [(10, 1.0, 0.8031), (20, 0.5, 0.5645), (5, 2.0, 0.9089)] {
            let found = power_within_blocks(difference, 1.0, blocks, 0.95).unwrap();
            assert!((found - power).abs() < 1e-3, "{blocks} {found}");
        }
        let none = power_within_blocks(0.0, 1.0, 3, 0.95).unwrap();
        assert!((none - 0.05).abs() < 1e-4, "{none}");
        let none = power_within_blocks(0.0, 1.0, 2, 0.95).unwrap();
        assert!((none - 0.05).abs() < 1e-3, "{none}");
    }

    #[test]
    fn the_smallest_effect_has_its_power() {
        for blocks in [2, 3, 6, 30, 1_000] {
            let percent = smallest_effect(ResponseScale::Ratio, blocks, 0.05, 0.99).unwrap();
            let difference = ResponseScale::Ratio.from_percent(percent);
            let power = power_within_blocks(difference, 0.05, blocks, 0.99).unwrap();
            assert!((power - POWER).abs() < 1e-5, "{blocks} {power}");
        }
        assert_eq!(smallest_effect(ResponseScale::Ratio, 1, 0.05, 0.95), None);
        assert_eq!(smallest_effect(ResponseScale::Ratio, 5, 0.0, 0.95), None);
    }
}
