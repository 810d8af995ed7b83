//! Draws random times.

use std::sync::Arc;

use busyhour_queueing::network::TimeLaw;
use libm::tgamma;
use rand::Rng as _;
use rand_distr::{Distribution as _, Exp1, Gamma, LogNormal, Pareto, StandardNormal, Weibull};

use crate::random::Stream;

/// Number of times from which [`Sampler::draw_residual_s`] selects one.
const RESIDUAL_CANDIDATES: usize = 32;

/// Draws times from a distribution, in seconds. Some distributions have a state.
#[derive(Clone, Debug)]
pub(crate) enum Sampler {
    /// A constant.
    Constant(f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Hyperexponential, a mixture of two exponentials: the probability of the first, and both means.
    Hyperexponential(f64, [f64; 2]),
    /// Coxian, with one or two exponential phases: the probability of the second phase, and both means.
    Coxian(f64, [f64; 2]),
    /// Gamma, and Erlang (gamma with an integer shape).
    Gamma(Gamma<f64>),
    /// Lognormal.
    LogNormal(LogNormal<f64>),
    /// Normal, truncated at 0: mean and standard deviation before truncation.
    Normal(f64, f64),
    /// Pareto.
    Pareto(Pareto<f64>),
    /// Uniform: the lower end and the width.
    Uniform(f64, f64),
    /// Weibull.
    Weibull(Weibull<f64>),
    /// The gaps of a Poisson process whose rate switches between two values.
    Mmpp2(Mmpp2),
    /// Recorded times in their order, repeated cyclically. The second field is the index of the next time.
    Replay(Arc<[f64]>, usize),
}

/// The state of a Markov-modulated Poisson process with two states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mmpp2 {
    /// Events per second in each state.
    pub(crate) rates_per_s: [f64; 2],
    /// Transitions per second out of each state.
    pub(crate) leave_per_s: [f64; 2],
    /// The current state.
    pub(crate) state: usize,
}

impl Mmpp2 {
    /// Draws the time to the next event.
    fn draw_s(&mut self, stream: &mut Stream) -> f64 {
        let mut passed_s = 0.0;
        loop {
            let (event, leave) = (self.rates_per_s[self.state], self.leave_per_s[self.state]);
            let exponential: f64 = Exp1.sample(stream);
            passed_s += exponential / (event + leave);
            if stream.random::<f64>() * (event + leave) < event {
                return passed_s;
            }
            self.state = 1 - self.state;
        }
    }
}

impl Sampler {
    /// `None` if the parameters are out of range or the mean is infinite. Validation of the network excludes both cases.
    pub(crate) fn new(law: &TimeLaw) -> Option<Self> {
        let mean_s = law.mean_s();
        if !(mean_s.is_finite() && mean_s >= 0.0) {
            return None;
        }
        if mean_s == 0.0 {
            return Some(Self::Constant(0.0));
        }
        let by_shape = |shape: f64| Gamma::new(shape, mean_s / shape).ok().map(Self::Gamma);
        match law {
            TimeLaw::Deterministic { .. } => Some(Self::Constant(mean_s)),
            TimeLaw::Exponential { .. } | TimeLaw::Erlang { phases: 1, .. } => {
                Some(Self::Exponential(mean_s))
            }
            // The sum of k exponential variates is a gamma variate with shape k.
            TimeLaw::Erlang { phases, .. } => by_shape(f64::from(*phases)),
            TimeLaw::Gamma { cv, .. } => by_shape(1.0 / (cv * cv)),
            TimeLaw::Hyperexponential { first_probability, first_mean_s, second_mean_s } => {
                Some(Self::Hyperexponential(*first_probability, [*first_mean_s, *second_mean_s]))
            }
            TimeLaw::Coxian { first_mean_s, second_mean_s, second_probability } => {
                Some(Self::Coxian(*second_probability, [*first_mean_s, *second_mean_s]))
            }
            TimeLaw::Lognormal { cv, .. } => LogNormal::from_mean_cv(mean_s, *cv).ok().map(Self::LogNormal),
            TimeLaw::NormalTruncated { untruncated_mean_s, untruncated_sd_s } => {
                Some(Self::Normal(*untruncated_mean_s, *untruncated_sd_s))
            }
            TimeLaw::Pareto { shape, .. } => {
                Pareto::new(mean_s * (shape - 1.0) / shape, *shape).ok().map(Self::Pareto)
            }
            TimeLaw::Uniform { from_s, to_s } => Some(Self::Uniform(*from_s, to_s - from_s)),
            TimeLaw::Weibull { shape, .. } => {
                Weibull::new(mean_s / tgamma(1.0 + 1.0 / shape), *shape).ok().map(Self::Weibull)
            }
            TimeLaw::Mmpp2 { rates_per_s, leave_per_s } => {
                Some(Self::Mmpp2(Mmpp2 { rates_per_s: *rates_per_s, leave_per_s: *leave_per_s, state: 0 }))
            }
            TimeLaw::Replay { values_s, .. } => Some(Self::Replay(values_s.as_slice().into(), 0)),
        }
    }

    /// Draws the next time.
    #[inline]
    pub(crate) fn draw_s(&mut self, stream: &mut Stream) -> f64 {
        match self {
            Self::Constant(time_s) => *time_s,
            Self::Exponential(mean_s) => {
                let exponential: f64 = Exp1.sample(stream);
                exponential * *mean_s
            }
            other => other.draw_other_s(stream),
        }
    }

    /// Draws the residual time of this distribution at a random point in time. A random point is in a long time more often than
    /// in a short one. Therefore one of several times is selected with a probability proportional to its length, and then a
    /// random point within it. This is exact in the limit of infinitely many times.
    pub(crate) fn draw_residual_s(&mut self, stream: &mut Stream) -> f64 {
        if let Self::Exponential(_) = self {
            return self.draw_s(stream);
        }
        let (mut sum_s, mut chosen_s) = (0.0, 0.0);
        for _ in 0..RESIDUAL_CANDIDATES {
            let time_s = self.draw_s(stream);
            sum_s += time_s;
            if stream.random::<f64>() * sum_s < time_s {
                chosen_s = time_s;
            }
        }
        chosen_s * stream.random::<f64>()
    }

    fn draw_other_s(&mut self, stream: &mut Stream) -> f64 {
        match self {
            Self::Constant(time_s) => *time_s,
            Self::Exponential(mean_s) => {
                let exponential: f64 = Exp1.sample(stream);
                exponential * *mean_s
            }
            Self::Hyperexponential(first, means_s) => {
                let branch = usize::from(stream.random::<f64>() >= *first);
                let exponential: f64 = Exp1.sample(stream);
                exponential * means_s[branch]
            }
            Self::Coxian(second, means_s) => {
                let exponential: f64 = Exp1.sample(stream);
                let mut time_s = exponential * means_s[0];
                if stream.random::<f64>() < *second {
                    let exponential: f64 = Exp1.sample(stream);
                    time_s += exponential * means_s[1];
                }
                time_s
            }
            Self::Gamma(law) => law.sample(stream),
            Self::LogNormal(law) => law.sample(stream),
            Self::Normal(mean_s, sd_s) => loop {
                let normal: f64 = StandardNormal.sample(stream);
                let time_s = *mean_s + *sd_s * normal;
                if time_s >= 0.0 {
                    break time_s;
                }
            },
            Self::Pareto(law) => law.sample(stream),
            Self::Uniform(low_s, width_s) => *low_s + *width_s * stream.random::<f64>(),
            Self::Weibull(law) => law.sample(stream),
            Self::Mmpp2(process) => process.draw_s(stream),
            Self::Replay(values_s, next) => {
                let time_s = values_s[*next];
                *next = (*next + 1) % values_s.len();
                time_s
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn samples_have_the_moments_of_their_law() {
        let laws = [
            TimeLaw::Deterministic { mean_s: 2.0 },
            TimeLaw::Exponential { mean_s: 2.0 },
            TimeLaw::Erlang { mean_s: 2.0, phases: 4 },
            TimeLaw::hyperexponential(2.0, 2.0),
            TimeLaw::Coxian { first_mean_s: 1.0, second_mean_s: 4.0, second_probability: 0.25 },
            TimeLaw::Gamma { mean_s: 2.0, cv: 0.7 },
            TimeLaw::Lognormal { mean_s: 2.0, cv: 0.8 },
            TimeLaw::NormalTruncated { untruncated_mean_s: 1.0, untruncated_sd_s: 1.5 },
            TimeLaw::Pareto { mean_s: 2.0, shape: 5.0 },
            TimeLaw::Uniform { from_s: 1.0, to_s: 3.0 },
            TimeLaw::Weibull { mean_s: 2.0, shape: 0.8 },
            TimeLaw::Mmpp2 { rates_per_s: [2.0, 0.2], leave_per_s: [1.0, 1.0] },
            TimeLaw::Replay { file: "values.csv".into(), values_s: vec![1.0, 2.0, 3.0] },
        ];
        let n = 300_000_u32;
        for law in laws {
            let mut sampler = Sampler::new(&law).unwrap();
            let mut stream = Stream::seed_from_u64(9);
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..n {
                let time_s = sampler.draw_s(&mut stream);
                assert!(time_s >= 0.0 && time_s.is_finite(), "{law:?}");
                sum += time_s;
                squares += time_s * time_s;
            }
            let mean = sum / f64::from(n);
            let scv = squares / f64::from(n) / (mean * mean) - 1.0;
            assert!((mean / law.mean_s() - 1.0).abs() < 0.01, "{law:?}: {mean}");
            assert!((scv - law.scv()).abs() < 0.05 * (1.0 + law.scv()), "{law:?}: {scv} for {}", law.scv());
        }
    }

    #[test]
    fn residual_times_have_the_mean_of_renewal_theory() {
        // The mean residual time is E[T²]/2E[T]. With selection among 32 times, it is slightly too low for highly variable
        // times.
        for law in [
            TimeLaw::Deterministic { mean_s: 2.0 },
            TimeLaw::Exponential { mean_s: 2.0 },
            TimeLaw::Uniform { from_s: 1.0, to_s: 3.0 },
            TimeLaw::Lognormal { mean_s: 2.0, cv: 1.0 },
        ] {
            let mut sampler = Sampler::new(&law).unwrap();
            let mut stream = Stream::seed_from_u64(3);
            let n = 20_000;
            let mean = (0..n).map(|_| sampler.draw_residual_s(&mut stream)).sum::<f64>() / f64::from(n);
            let exact = 2.0 * (1.0 + law.scv()) / 2.0;
            assert!((mean / exact - 1.0).abs() < 0.1, "{law:?}: {mean} for {exact}");
        }
    }

    #[test]
    fn recorded_values_are_replayed_cyclically() {
        let law = TimeLaw::Replay { file: "values.csv".into(), values_s: vec![1.0, 3.0] };
        let mut sampler = Sampler::new(&law).unwrap();
        let mut stream = Stream::seed_from_u64(1);
        assert_eq!([(); 5].map(|()| sampler.draw_s(&mut stream)), [1.0, 3.0, 1.0, 3.0, 1.0]);
    }

    #[test]
    fn the_gaps_of_a_modulated_process_are_correlated() {
        let law = TimeLaw::Mmpp2 { rates_per_s: [10.0, 0.1], leave_per_s: [0.05, 0.05] };
        let mut sampler = Sampler::new(&law).unwrap();
        let mut stream = Stream::seed_from_u64(2);
        let gaps: Vec<f64> = (0..50_000).map(|_| sampler.draw_s(&mut stream)).collect();
        let found = busyhour_stats::autocorrelations(&[&gaps], 1).unwrap();
        assert!(found.coefficients[0] > 0.1, "{found:?}");
    }
}
