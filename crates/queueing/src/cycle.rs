//! One user's cycle: a think time, then a response.

use rand::Rng;

/// The distribution of think times around their mean Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkDistribution {
    /// Always Z.
    Constant,
    /// Uniform on [0, 2Z], as JMeter's Uniform Random Timer without a constant part.
    Uniform,
    /// Exponential.
    Exponential,
}

/// The mean and the distribution of a think time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Think {
    /// The mean Z in seconds, at least 0.
    pub mean_s: f64,
    /// The distribution around the mean.
    pub law: ThinkDistribution,
}

impl Think {
    /// Draws a think time in seconds.
    pub fn draw_s(&self, random: &mut impl Rng) -> f64 {
        match self.law {
            ThinkDistribution::Constant => self.mean_s,
            ThinkDistribution::Uniform => 2.0 * self.mean_s * random.random::<f64>(),
            ThinkDistribution::Exponential => exponential_s(self.mean_s, random),
        }
    }

    /// Draws the remaining think time at a random point in time. Its density is (1 − F(x))/Z.
    pub fn draw_residual_s(&self, random: &mut impl Rng) -> f64 {
        let uniform: f64 = random.random();
        match self.law {
            ThinkDistribution::Constant => self.mean_s * uniform,
            // The survival function of the remaining time is (1 − x/2Z)².
            ThinkDistribution::Uniform => 2.0 * self.mean_s * (1.0 - uniform.sqrt()),
            ThinkDistribution::Exponential => exponential_s(self.mean_s, random),
        }
    }

    /// The variance in s².
    pub fn variance_s2(&self) -> f64 {
        match self.law {
            ThinkDistribution::Constant => 0.0,
            ThinkDistribution::Uniform => self.mean_s * self.mean_s / 3.0,
            ThinkDistribution::Exponential => self.mean_s * self.mean_s,
        }
    }

    /// The mean excess E[(T − x)⁺] in seconds over any x, which may be negative.
    pub fn excess_s(&self, x_s: f64) -> f64 {
        let z = self.mean_s;
        if x_s <= 0.0 {
            return z - x_s;
        }
        match self.law {
            ThinkDistribution::Constant => (z - x_s).max(0.0),
            ThinkDistribution::Uniform if x_s >= 2.0 * z => 0.0,
            ThinkDistribution::Uniform => (2.0 * z - x_s).powi(2) / (4.0 * z),
            ThinkDistribution::Exponential if z == 0.0 => 0.0,
            ThinkDistribution::Exponential => z * (-x_s / z).exp(),
        }
    }
}

/// Draws from the exponential distribution with this mean.
pub(crate) fn exponential_s(mean_s: f64, random: &mut impl Rng) -> f64 {
    // 1 − U is in (0, 1], so that the logarithm is finite.
    -mean_s * (1.0 - random.random::<f64>()).ln()
}

/// The cycle of a user whose response time does not depend on other users: a think time, then a constant response time.
///
/// ```text
///      think T        response R        think T
///  |----------------|============|-----------------|===
///                   ^ arrival                      ^ arrival
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// The think time.
    pub think: Think,
    /// The response time R in seconds, at least 0.
    pub response_s: f64,
}

impl Cycle {
    /// The mean R + Z in seconds.
    pub fn mean_s(&self) -> f64 {
        self.think.mean_s + self.response_s
    }

    /// The coefficient of variation (standard deviation over mean) of the cycle, and therefore of the gaps of one user.
    /// For any number of such users, the index of dispersion of counts tends, in long windows, to the square of this coefficient
    /// (Cox & Isham, *Point Processes*, 1980, section 4.5: the variances and the means of independent counts both add).
    pub fn cov(&self) -> f64 {
        self.think.variance_s2().sqrt() / self.mean_s()
    }

    /// The probability that, at a random time, the current cycle lasts for more than another `x_s` seconds:
    /// (1/μ) ∫ₓ^∞ (1 − F(u)) du = E[(C − x)⁺] / E[C].
    pub fn equilibrium_survival(&self, x_s: f64) -> f64 {
        self.think.excess_s(x_s - self.response_s) / self.mean_s()
    }

    /// The points at which derivatives of the survival function are discontinuous.
    pub(crate) fn kinks_s(&self) -> [f64; 2] {
        let end_s = match self.think.law {
            ThinkDistribution::Constant => self.response_s + self.think.mean_s,
            ThinkDistribution::Uniform => self.response_s + 2.0 * self.think.mean_s,
            ThinkDistribution::Exponential => self.response_s,
        };
        [self.response_s, end_s]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const LAWS: [ThinkDistribution; 3] =
        [ThinkDistribution::Constant, ThinkDistribution::Uniform, ThinkDistribution::Exponential];

    #[test]
    fn draws_have_the_mean_and_variance_of_their_law() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for law in LAWS {
            let think = Think { mean_s: 2.0, law };
            let draws: Vec<f64> = (0..40_000).map(|_| think.draw_s(&mut random)).collect();
            let mean = draws.iter().sum::<f64>() / 40_000.0;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 39_999.0;
            assert!((mean - 2.0).abs() < 0.05, "{law:?} {mean}");
            assert!((variance - think.variance_s2()).abs() < 0.15, "{law:?} {variance}");
        }
    }

    #[test]
    fn residual_think_times_have_the_mean_of_the_inspection_paradox() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        for law in LAWS {
            let think = Think { mean_s: 3.0, law };
            let mean = (0..40_000).map(|_| think.draw_residual_s(&mut random)).sum::<f64>() / 40_000.0;
            // E[T²] / 2E[T]
            let expected = (think.variance_s2() + 9.0) / 6.0;
            assert!((mean - expected).abs() < 0.05, "{law:?}: {mean} for {expected}");
        }
    }

    #[test]
    fn survival_starts_at_one_and_decreases() {
        for law in LAWS {
            let cycle = Cycle { think: Think { mean_s: 1.5, law }, response_s: 0.5 };
            assert!((cycle.equilibrium_survival(0.0) - 1.0).abs() < 1e-12);
            let mut previous = 1.0;
            for step in 1..100 {
                let survival = cycle.equilibrium_survival(f64::from(step) * 0.05);
                assert!((0.0..=previous).contains(&survival), "{law:?}");
                previous = survival;
            }
        }
    }

    #[test]
    fn one_uniform_thread_has_the_cov_of_the_uniform_distribution() {
        let cycle = Cycle { think: Think { mean_s: 10.0, law: ThinkDistribution::Uniform }, response_s: 0.0 };
        assert_eq!(format!("{:.3}", cycle.cov()), "0.577");
    }

    #[test]
    fn zero_think_time_is_supported() {
        for law in LAWS {
            let cycle = Cycle { think: Think { mean_s: 0.0, law }, response_s: 0.5 };
            assert_eq!(cycle.cov(), 0.0);
            assert_eq!(cycle.equilibrium_survival(0.5), 0.0, "{law:?}");
            assert_eq!(cycle.equilibrium_survival(0.25), 0.5, "{law:?}");
        }
    }
}
