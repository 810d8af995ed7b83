//! Families of laws: maximum likelihood fits, random draws and distribution functions.

use rand::Rng;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Gamma, Normal};
use statrs::function::gamma::{digamma, ln_gamma};

/// Maximum number of steps of an iteration for a parameter.
const STEPS_MAX: usize = 300;

/// A law with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "law", rename_all = "snake_case")]
pub enum FittedLaw {
    /// Exponential.
    Exponential {
        /// Mean in seconds.
        mean_s: f64,
    },
    /// Sum of exponential stages with equal means.
    Erlang {
        /// Number of stages.
        shape: u32,
        /// Mean in seconds.
        mean_s: f64,
    },
    /// Gamma.
    Gamma {
        /// Shape k.
        shape: f64,
        /// Mean in seconds.
        mean_s: f64,
    },
    /// Lognormal.
    Lognormal {
        /// Median in seconds.
        median_s: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Weibull.
    Weibull {
        /// Shape k.
        shape: f64,
        /// Scale in seconds.
        scale_s: f64,
    },
    /// Pareto (type I), with a power-law tail.
    Pareto {
        /// The exponent of the tail.
        alpha: f64,
        /// The smallest value in seconds.
        least_s: f64,
    },
    /// Mixture of two exponentials, for example of two kinds of requests.
    Hyperexponential {
        /// Probability of the first exponential.
        share: f64,
        /// Mean of the first exponential in seconds.
        first_s: f64,
        /// Mean of the second exponential in seconds.
        second_s: f64,
    },
}

/// A family of laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Exponential,
    Erlang,
    Gamma,
    Lognormal,
    Weibull,
    Pareto,
    Hyperexponential,
}

pub(super) const FAMILIES: [Family; 7] = [
    Family::Exponential,
    Family::Erlang,
    Family::Gamma,
    Family::Lognormal,
    Family::Weibull,
    Family::Pareto,
    Family::Hyperexponential,
];

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}

impl Family {
    /// The member with the largest likelihood for sorted positive values; `None` if there is none.
    pub(super) fn fit(self, sorted: &[f64]) -> Option<FittedLaw> {
        let n = sorted.len();
        let mean_s = mean(sorted.iter().copied(), n);
        let mean_log = mean(sorted.iter().map(|value| value.ln()), n);
        match self {
            Family::Exponential => Some(FittedLaw::Exponential { mean_s }),
            Family::Gamma => Some(FittedLaw::Gamma { shape: gamma_shape(mean_s.ln() - mean_log)?, mean_s }),
            Family::Erlang => {
                let shape = gamma_shape(mean_s.ln() - mean_log)?;
                // Shape 1 is excluded, because it is the exponential law.
                let near = [shape.floor(), shape.ceil()].map(|shape| shape.clamp(2.0, 1e6) as u32);
                let laws = near.map(|shape| FittedLaw::Erlang { shape, mean_s });
                let [low, high] = laws.map(|law| law.log_likelihood(sorted));
                Some(if low >= high { laws[0] } else { laws[1] })
            }
            Family::Lognormal => {
                let variance = mean(sorted.iter().map(|value| (value.ln() - mean_log).powi(2)), n);
                (variance > 0.0)
                    .then(|| FittedLaw::Lognormal { median_s: mean_log.exp(), sigma: variance.sqrt() })
            }
            Family::Weibull => weibull(sorted, mean_log),
            Family::Pareto => {
                let least_s = sorted[0];
                let alpha = (mean_log - least_s.ln()).recip();
                alpha.is_finite().then_some(FittedLaw::Pareto { alpha, least_s })
            }
            Family::Hyperexponential => hyperexponential(sorted, mean_s),
        }
    }
}

/// The shape k of a gamma law, which solves ln k − ψ(k) = `gap`, the logarithm of the mean minus the mean logarithm. The
/// start of the iteration has an error of at most 1.5 % (Minka, "Estimating a Gamma distribution", 2002).
fn gamma_shape(gap: f64) -> Option<f64> {
    if gap.is_nan() || gap <= 1e-12 {
        return None;
    }
    let mut shape = (3.0 - gap + ((gap - 3.0).powi(2) + 24.0 * gap).sqrt()) / (12.0 * gap);
    for _ in 0..STEPS_MAX {
        let value = shape.ln() - digamma(shape) - gap;
        let slope = {
            let step = 1e-5 * shape;
            let next = (shape + step).ln() - digamma(shape + step) - gap;
            (next - value) / step
        };
        let next = (shape - value / slope).max(shape / 4.0);
        let is_converged = (next / shape - 1.0).abs() < 1e-10;
        shape = next;
        if is_converged {
            break;
        }
    }
    (shape.is_finite() && shape > 0.0).then_some(shape)
}

/// Solves Σ xᵏ ln x / Σ xᵏ − 1/k = mean ln x for the shape k by bisection; the left side increases with k.
fn weibull(sorted: &[f64], mean_log: f64) -> Option<FittedLaw> {
    let largest = sorted[sorted.len() - 1];
    // Relative to the largest value, so that no power overflows.
    let excess = |shape: f64| {
        let (mut powers, mut weighted) = (0.0, 0.0);
        for value in sorted {
            let power = (shape * (value / largest).ln()).exp();
            powers += power;
            weighted += power * value.ln();
        }
        weighted / powers - shape.recip() - mean_log
    };
    let (mut low, mut high) = (1e-3, 1.0);
    while excess(high) < 0.0 {
        high *= 2.0;
        if high > 1e4 {
            return None;
        }
    }
    while high - low > 1e-9 * high {
        let middle = (low + high) / 2.0;
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    let shape = (low + high) / 2.0;
    let power = mean(sorted.iter().map(|value| (shape * (value / largest).ln()).exp()), sorted.len());
    Some(FittedLaw::Weibull { shape, scale_s: largest * power.powf(shape.recip()) })
}

/// Expectation maximisation (Dempster, Laird & Rubin, JRSS B 39, 1977), starting from the law with balanced means that matches
/// two moments. `None` if the values vary less than exponential ones, which no law of the family does.
fn hyperexponential(sorted: &[f64], mean_s: f64) -> Option<FittedLaw> {
    let n = sorted.len();
    let squared_cov = mean(sorted.iter().map(|value| (value - mean_s).powi(2)), n) / (mean_s * mean_s);
    if squared_cov <= 1.0 {
        return None;
    }
    let mut share = 0.5 * (1.0 + ((squared_cov - 1.0) / (squared_cov + 1.0)).sqrt());
    let (mut first_s, mut second_s) = (mean_s / (2.0 * share), mean_s / (2.0 * (1.0 - share)));
    for _ in 0..STEPS_MAX {
        let (mut count_first, mut sum_first, mut sum) = (0.0, 0.0, 0.0);
        for value in sorted {
            let first = share / first_s * (-value / first_s).exp();
            let second = (1.0 - share) / second_s * (-value / second_s).exp();
            let weight = if first + second > 0.0 { first / (first + second) } else { 0.0 };
            count_first += weight;
            sum_first += weight * value;
            sum += value;
        }
        let previous = share;
        share = (count_first / n as f64).clamp(1e-9, 1.0 - 1e-9);
        first_s = sum_first / count_first.max(1e-300);
        second_s = (sum - sum_first) / (n as f64 - count_first).max(1e-300);
        if (share - previous).abs() < 1e-7 {
            break;
        }
    }
    let is_valid = [first_s, second_s].iter().all(|mean_s| mean_s.is_finite() && *mean_s > 0.0);
    is_valid.then_some(FittedLaw::Hyperexponential { share, first_s, second_s })
}

impl FittedLaw {
    /// Name of the family.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            FittedLaw::Exponential { .. } => "exponential",
            FittedLaw::Erlang { .. } => "Erlang",
            FittedLaw::Gamma { .. } => "gamma",
            FittedLaw::Lognormal { .. } => "lognormal",
            FittedLaw::Weibull { .. } => "Weibull",
            FittedLaw::Pareto { .. } => "Pareto",
            FittedLaw::Hyperexponential { .. } => "hyperexponential",
        }
    }

    /// The parameters as text.
    #[must_use]
    pub fn parameters(&self) -> String {
        let ms = |seconds: f64| format!("{:.3} ms", seconds * 1e3);
        match self {
            FittedLaw::Exponential { mean_s } => format!("mean {}", ms(*mean_s)),
            FittedLaw::Erlang { shape, mean_s } => format!("{shape} stages, mean {}", ms(*mean_s)),
            FittedLaw::Gamma { shape, mean_s } => format!("shape {shape:.3}, mean {}", ms(*mean_s)),
            FittedLaw::Lognormal { median_s, sigma } => format!("median {}, σ {sigma:.3}", ms(*median_s)),
            FittedLaw::Weibull { shape, scale_s } => format!("shape {shape:.3}, scale {}", ms(*scale_s)),
            FittedLaw::Pareto { alpha, least_s } => format!("α {alpha:.3}, minimum {}", ms(*least_s)),
            FittedLaw::Hyperexponential { share, first_s, second_s } => {
                format!("{:.1} % with mean {}, the others {}", share * 100.0, ms(*first_s), ms(*second_s))
            }
        }
    }

    /// Number of free parameters.
    pub(super) fn free_parameters(&self) -> f64 {
        match self {
            FittedLaw::Exponential { .. } => 1.0,
            FittedLaw::Hyperexponential { .. } => 3.0,
            _ => 2.0,
        }
    }

    /// Mean in seconds; `None` if it does not exist.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        match *self {
            FittedLaw::Exponential { mean_s }
            | FittedLaw::Erlang { mean_s, .. }
            | FittedLaw::Gamma { mean_s, .. } => Some(mean_s),
            FittedLaw::Lognormal { median_s, sigma } => Some(median_s * (sigma * sigma / 2.0).exp()),
            FittedLaw::Weibull { shape, scale_s } => Some(scale_s * ln_gamma(1.0 + shape.recip()).exp()),
            FittedLaw::Pareto { alpha, least_s } => (alpha > 1.0).then(|| alpha * least_s / (alpha - 1.0)),
            FittedLaw::Hyperexponential { share, first_s, second_s } => {
                Some(share * first_s + (1.0 - share) * second_s)
            }
        }
    }

    /// Logarithm of the likelihood of positive values.
    pub(super) fn log_likelihood(&self, values: &[f64]) -> f64 {
        match *self {
            FittedLaw::Erlang { shape, mean_s } => {
                FittedLaw::Gamma { shape: f64::from(shape), mean_s }.log_likelihood(values)
            }
            FittedLaw::Gamma { shape, mean_s } => {
                let (rate, constant) = (shape / mean_s, shape * (shape / mean_s).ln() - ln_gamma(shape));
                values.iter().map(|x| constant + (shape - 1.0) * x.ln() - rate * x).sum()
            }
            _ => values.iter().map(|x| self.log_density(*x)).sum(),
        }
    }

    fn log_density(&self, x: f64) -> f64 {
        match *self {
            FittedLaw::Exponential { mean_s } => -mean_s.ln() - x / mean_s,
            FittedLaw::Lognormal { median_s, sigma } => {
                let z = (x / median_s).ln() / sigma;
                -0.5 * z * z - (x * sigma).ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
            }
            FittedLaw::Weibull { shape, scale_s } => {
                let ratio = x / scale_s;
                (shape / scale_s).ln() + (shape - 1.0) * ratio.ln() - ratio.powf(shape)
            }
            FittedLaw::Pareto { alpha, least_s } => {
                if x < least_s {
                    f64::NEG_INFINITY
                } else {
                    alpha.ln() + alpha * least_s.ln() - (alpha + 1.0) * x.ln()
                }
            }
            FittedLaw::Hyperexponential { share, first_s, second_s } => {
                (share / first_s * (-x / first_s).exp() + (1.0 - share) / second_s * (-x / second_s).exp())
                    .ln()
            }
            FittedLaw::Erlang { .. } | FittedLaw::Gamma { .. } => self.log_likelihood(&[x]),
        }
    }

    /// The distribution function at `x`.
    pub(super) fn cdf(&self, x: f64) -> f64 {
        match *self {
            FittedLaw::Exponential { mean_s } => -(-x / mean_s).exp_m1(),
            FittedLaw::Erlang { shape, mean_s } => {
                FittedLaw::Gamma { shape: f64::from(shape), mean_s }.cdf(x)
            }
            FittedLaw::Gamma { shape, mean_s } => {
                Gamma::new(shape, shape / mean_s).map_or(f64::NAN, |law| law.cdf(x))
            }
            FittedLaw::Lognormal { median_s, sigma } => Normal::standard().cdf((x / median_s).ln() / sigma),
            FittedLaw::Weibull { shape, scale_s } => -(-(x / scale_s).powf(shape)).exp_m1(),
            FittedLaw::Pareto { alpha, least_s } => {
                if x <= least_s {
                    0.0
                } else {
                    1.0 - (least_s / x).powf(alpha)
                }
            }
            FittedLaw::Hyperexponential { share, first_s, second_s } => {
                -share * (-x / first_s).exp_m1() - (1.0 - share) * (-x / second_s).exp_m1()
            }
        }
    }

    /// Draws a random value.
    pub(super) fn draw(&self, random: &mut (impl Rng + ?Sized)) -> f64 {
        // 1 − u is in (0, 1], so that its logarithm is finite.
        let exponential = |random: &mut _| -(1.0 - uniform(random)).ln();
        match *self {
            FittedLaw::Exponential { mean_s } => mean_s * exponential(random),
            FittedLaw::Erlang { shape, mean_s } => {
                FittedLaw::Gamma { shape: f64::from(shape), mean_s }.draw(random)
            }
            FittedLaw::Gamma { shape, mean_s } => mean_s / shape * standard_gamma(shape, random),
            FittedLaw::Lognormal { median_s, sigma } => median_s * (sigma * standard_normal(random)).exp(),
            FittedLaw::Weibull { shape, scale_s } => scale_s * exponential(random).powf(shape.recip()),
            FittedLaw::Pareto { alpha, least_s } => least_s * (exponential(random) / alpha).exp(),
            FittedLaw::Hyperexponential { share, first_s, second_s } => {
                let mean_s = if uniform(random) < share { first_s } else { second_s };
                mean_s * exponential(random)
            }
        }
    }
}

fn uniform<R: Rng + ?Sized>(random: &mut R) -> f64 {
    random.random::<f64>()
}

/// Box and Muller's method.
fn standard_normal<R: Rng + ?Sized>(random: &mut R) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(random)).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * uniform(random)).cos()
}

/// Marsaglia and Tsang's method ("A simple method for generating gamma variables", ACM TOMS 26, 2000).
fn standard_gamma<R: Rng + ?Sized>(shape: f64, random: &mut R) -> f64 {
    if shape < 1.0 {
        let power = (1.0 - uniform(random)).powf(shape.recip());
        return standard_gamma(shape + 1.0, random) * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = (9.0 * d).sqrt().recip();
    loop {
        let x = standard_normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - uniform(random)).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}
