//! Think times drawn from continuous distributions.

use busyhour_program::element::{Delay, Timer};
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;
use rand_distr::{Distribution as _, Exp, LogNormal, Uniform};

/// The distribution of a think time before a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThinkLaw {
    /// Always this number of nanoseconds.
    Constant(u64),
    /// Uniform between two times in nanoseconds.
    Uniform(u64, u64),
    /// Exponential with this mean in nanoseconds.
    Exponential(u64),
    /// Lognormal with this mean in nanoseconds and coefficient of variation (standard deviation over mean).
    Lognormal(u64, f64),
}

impl ThinkLaw {
    /// Mean in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        match *self {
            ThinkLaw::Constant(ns) | ThinkLaw::Exponential(ns) | ThinkLaw::Lognormal(ns, _) => ns as f64,
            ThinkLaw::Uniform(low, high) => (low as f64 + high as f64) / 2.0,
        }
    }

    /// Draws a think time in nanoseconds.
    pub fn draw_ns(&self, random: &mut impl rand::Rng) -> u64 {
        match *self {
            ThinkLaw::Constant(ns) => ns,
            ThinkLaw::Uniform(low, high) => {
                Uniform::new_inclusive(low, high).map_or(low, |uniform| uniform.sample(random))
            }
            ThinkLaw::Exponential(0) => 0,
            ThinkLaw::Exponential(mean) => {
                Exp::new(1.0 / mean as f64).map_or(mean, |law| law.sample(random) as u64)
            }
            ThinkLaw::Lognormal(mean, cov) => {
                // For the underlying normal distribution: variance ln(1 + cov²), mean ln(mean) − variance/2.
                let variance = (cov * cov).ln_1p();
                let location = (mean as f64).ln() - variance / 2.0;
                LogNormal::new(location, variance.sqrt()).map_or(mean, |law| law.sample(random) as u64)
            }
        }
    }
}

/// A timer that draws from a [`ThinkLaw`].
#[derive(Clone, Copy, Debug)]
pub struct ThinkTimer(pub ThinkLaw);

impl Timer for ThinkTimer {
    fn delay(&self, user: &mut UserState) -> Delay {
        Delay { wait_ns: self.0.draw_ns(&mut user.random), slot: None::<Nanos> }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn means_and_deviations_are_those_of_the_laws() {
        const N: usize = 200_000;
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
        for (law, cov) in [
            (ThinkLaw::Constant(5_000_000), 0.0),
            (ThinkLaw::Uniform(0, 10_000_000), 1.0 / 3.0_f64.sqrt()),
            (ThinkLaw::Exponential(5_000_000), 1.0),
            (ThinkLaw::Lognormal(5_000_000, 0.8), 0.8),
        ] {
            let drawn: Vec<f64> = (0..N).map(|_| law.draw_ns(&mut random) as f64).collect();
            let mean = drawn.iter().sum::<f64>() / N as f64;
            let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64;
            assert!((mean / law.mean_ns() - 1.0).abs() < 0.01, "{law:?}: mean {mean}");
            assert!((variance.sqrt() / mean - cov).abs() < 0.02, "{law:?}: cov {}", variance.sqrt() / mean);
        }
        for law in [ThinkLaw::Exponential(0), ThinkLaw::Lognormal(0, 1.0), ThinkLaw::Uniform(5, 5)] {
            let _ = law.draw_ns(&mut random);
        }
    }
}
