//! Laws of times: service, think and interarrival times.

use super::error::NotationError;
use libm::{erfc, tgamma};

/// How a time varies. Its moments come from the standard texts (Johnson, Kotz & Balakrishnan, *Continuous Univariate
/// Distributions*), except where a source is named.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeLaw {
    /// Always the same.
    Deterministic {
        /// The time in seconds, at least 0.
        mean_s: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean in seconds.
        mean_s: f64,
    },
    /// The sum of `phases` exponentials of the same mean.
    Erlang {
        /// Mean of the sum in seconds.
        mean_s: f64,
        /// How many phases, at least 1.
        phases: u32,
    },
    /// One of two exponentials.
    Hyperexponential {
        /// The probability of the first.
        first_probability: f64,
        /// Mean of the first in seconds.
        first_mean_s: f64,
        /// Mean of the second in seconds.
        second_mean_s: f64,
    },
    /// An exponential, after which a second one follows or not.
    Coxian {
        /// Mean of the first in seconds.
        first_mean_s: f64,
        /// Mean of the second in seconds.
        second_mean_s: f64,
        /// The probability that the second follows.
        second_probability: f64,
    },
    /// Gamma.
    Gamma {
        /// Mean in seconds.
        mean_s: f64,
        /// Coefficient of variation; the shape is 1/cv².
        cv: f64,
    },
    /// Lognormal.
    Lognormal {
        /// Mean of the time itself (not of its logarithm) in seconds.
        mean_s: f64,
        /// Coefficient of variation of the time itself.
        cv: f64,
    },
    /// Normal, drawn again while negative.
    NormalTruncated {
        /// Mean in seconds before what is negative is cut off.
        untruncated_mean_s: f64,
        /// Standard deviation in seconds before the cut.
        untruncated_sd_s: f64,
    },
    /// Pareto from its smallest value mean·(shape − 1)/shape on.
    Pareto {
        /// Mean in seconds.
        mean_s: f64,
        /// Shape, greater than 1; up to 2 the variance is infinite.
        shape: f64,
    },
    /// Uniform.
    Uniform {
        /// The shortest time in seconds.
        from_s: f64,
        /// The longest time in seconds.
        to_s: f64,
    },
    /// Weibull.
    Weibull {
        /// Mean in seconds.
        mean_s: f64,
        /// Shape: below 1 more variable than exponential, above it less.
        shape: f64,
    },
    /// The gaps of a Poisson process whose rate jumps between two values (Markov-modulated, two states).
    Mmpp2 {
        /// Events per second in each state.
        rates_per_s: [f64; 2],
        /// How often per second each state is left.
        leave_per_s: [f64; 2],
    },
    /// Recorded values, one after the other and again from the beginning.
    Replay {
        /// The file they are in, as the model names it.
        file: String,
        /// The values in seconds; the caller reads them from the file.
        values_s: Vec<f64>,
    },
}

impl TimeLaw {
    /// The hyperexponential with that mean and coefficient of variation (more than 1) whose two branches carry the
    /// same share of the time (balanced means).
    #[must_use]
    pub fn hyperexponential(mean_s: f64, cv: f64) -> Self {
        let scv = cv * cv;
        let first_probability = 0.5 * (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt());
        Self::Hyperexponential {
            first_probability,
            first_mean_s: mean_s / (2.0 * first_probability),
            second_mean_s: mean_s / (2.0 * (1.0 - first_probability)),
        }
    }

    /// The scale of a Weibull law of that mean: mean/Γ(1 + 1/shape).
    #[must_use]
    pub fn weibull_scale_s(mean_s: f64, shape: f64) -> f64 {
        mean_s / tgamma(1.0 + 1.0 / shape)
    }

    /// Mean in seconds; NaN for a replay without values.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        match self {
            Self::Deterministic { mean_s }
            | Self::Exponential { mean_s }
            | Self::Erlang { mean_s, .. }
            | Self::Gamma { mean_s, .. }
            | Self::Lognormal { mean_s, .. }
            | Self::Pareto { mean_s, .. }
            | Self::Weibull { mean_s, .. } => *mean_s,
            Self::Hyperexponential { first_probability: p, first_mean_s, second_mean_s } => {
                p * first_mean_s + (1.0 - p) * second_mean_s
            }
            Self::Coxian { first_mean_s, second_mean_s, second_probability } => {
                first_mean_s + second_probability * second_mean_s
            }
            Self::NormalTruncated { untruncated_mean_s, untruncated_sd_s } => {
                let (hazard, _) = truncation(*untruncated_mean_s, *untruncated_sd_s);
                untruncated_mean_s + untruncated_sd_s * hazard
            }
            Self::Uniform { from_s, to_s } => 0.5 * (from_s + to_s),
            Self::Mmpp2 { rates_per_s: [r0, r1], leave_per_s: [l0, l1] } => (l0 + l1) / (r0 * l1 + r1 * l0),
            Self::Replay { values_s, .. } => values_s.iter().sum::<f64>() / values_s.len() as f64,
        }
    }

    /// Squared coefficient of variation Var/mean²; infinite where the variance is; 0 for a time that is always 0.
    #[must_use]
    pub fn scv(&self) -> f64 {
        match self {
            Self::Deterministic { .. } => 0.0,
            Self::Exponential { .. } => 1.0,
            Self::Erlang { phases, .. } => 1.0 / f64::from(*phases),
            Self::Hyperexponential { first_probability: p, first_mean_s, second_mean_s } => {
                let second_moment = 2.0 * (p * first_mean_s.powi(2) + (1.0 - p) * second_mean_s.powi(2));
                second_moment / self.mean_s().powi(2) - 1.0
            }
            Self::Coxian { first_mean_s: a, second_mean_s: b, second_probability: p } => {
                (2.0 * a * a + 2.0 * p * b * (a + b)) / self.mean_s().powi(2) - 1.0
            }
            Self::Gamma { cv, .. } | Self::Lognormal { cv, .. } => cv * cv,
            Self::NormalTruncated { untruncated_mean_s, untruncated_sd_s } => {
                let (hazard, at) = truncation(*untruncated_mean_s, *untruncated_sd_s);
                let variance = untruncated_sd_s.powi(2) * (1.0 + at * hazard - hazard * hazard);
                variance / self.mean_s().powi(2)
            }
            Self::Pareto { shape, .. } => {
                if *shape > 2.0 {
                    1.0 / (shape * (shape - 2.0))
                } else {
                    f64::INFINITY
                }
            }
            Self::Uniform { from_s, to_s } => (to_s - from_s).powi(2) / 12.0 / self.mean_s().powi(2),
            Self::Weibull { shape, .. } => {
                tgamma(1.0 + 2.0 / shape) / tgamma(1.0 + 1.0 / shape).powi(2) - 1.0
            }
            // Heffes & Lucantoni, IEEE J. Sel. Areas Commun. 4 (1986).
            Self::Mmpp2 { rates_per_s: [r0, r1], leave_per_s: [l0, l1] } => {
                1.0 + 2.0 * (r0 - r1).powi(2) * l0 * l1 / ((l0 + l1).powi(2) * (r0 * r1 + r0 * l1 + r1 * l0))
            }
            Self::Replay { values_s, .. } => {
                let mean_s = self.mean_s();
                let squares: f64 = values_s.iter().map(|value| (value - mean_s).powi(2)).sum();
                squares / values_s.len() as f64 / mean_s.powi(2)
            }
        }
    }

    /// The tail index: moments E\[Sᵏ\] are finite for k below it, and infinite from it on. Infinite when all moments are
    /// finite.
    #[must_use]
    pub fn tail_index(&self) -> f64 {
        match self {
            Self::Pareto { shape, .. } => *shape,
            // Exponential tails or lighter ones, except: all moments of a lognormal law and of a Weibull law of any shape are
            // finite, and recorded values are bounded.
            Self::Deterministic { .. }
            | Self::Exponential { .. }
            | Self::Erlang { .. }
            | Self::Hyperexponential { .. }
            | Self::Coxian { .. }
            | Self::Gamma { .. }
            | Self::Lognormal { .. }
            | Self::NormalTruncated { .. }
            | Self::Uniform { .. }
            | Self::Weibull { .. }
            | Self::Mmpp2 { .. }
            | Self::Replay { .. } => f64::INFINITY,
        }
    }

    /// Whether the law is memoryless, that is, exponential.
    #[must_use]
    pub fn is_exponential(&self) -> bool {
        match self {
            Self::Exponential { .. } => true,
            Self::Erlang { phases, .. } => *phases == 1,
            Self::Hyperexponential { first_probability, first_mean_s, second_mean_s } => {
                first_mean_s == second_mean_s || *first_probability == 1.0 || *first_probability == 0.0
            }
            Self::Coxian { second_probability, second_mean_s, .. } => {
                *second_probability == 0.0 || *second_mean_s == 0.0
            }
            Self::Gamma { cv, .. } => *cv == 1.0,
            Self::Weibull { shape, .. } => *shape == 1.0,
            Self::Mmpp2 { rates_per_s: [r0, r1], .. } => r0 == r1,
            Self::Deterministic { mean_s } => *mean_s == 0.0,
            _ => false,
        }
    }

    /// The same law with all times multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut law = self.clone();
        match &mut law {
            Self::Deterministic { mean_s }
            | Self::Exponential { mean_s }
            | Self::Erlang { mean_s, .. }
            | Self::Gamma { mean_s, .. }
            | Self::Lognormal { mean_s, .. }
            | Self::Pareto { mean_s, .. }
            | Self::Weibull { mean_s, .. } => *mean_s *= factor,
            Self::Hyperexponential { first_mean_s: a, second_mean_s: b, .. }
            | Self::Coxian { first_mean_s: a, second_mean_s: b, .. }
            | Self::NormalTruncated { untruncated_mean_s: a, untruncated_sd_s: b }
            | Self::Uniform { from_s: a, to_s: b } => {
                *a *= factor;
                *b *= factor;
            }
            Self::Mmpp2 { rates_per_s, leave_per_s } => {
                rates_per_s.iter_mut().chain(leave_per_s).for_each(|rate| *rate /= factor);
            }
            Self::Replay { values_s, .. } => values_s.iter_mut().for_each(|value| *value *= factor),
        }
        law
    }

    /// What is wrong with its numbers, in words.
    pub(super) fn check(&self) -> Result<(), NotationError> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(format!("{name} must be greater than 0, not {value}").into())
            }
        };
        let time = |name: &str, value: f64| {
            if value >= 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(format!("{name} must be a time of at least 0, not {value}").into())
            }
        };
        let share = |name: &str, value: f64| {
            if (0.0..=1.0).contains(&value) {
                Ok(())
            } else {
                Err(format!("{name} must be a probability from 0 to 1, not {value}"))
            }
        };
        match self {
            Self::Deterministic { mean_s } | Self::Exponential { mean_s } => time("the mean", *mean_s),
            Self::Erlang { mean_s, phases } => {
                time("the mean", *mean_s)?;
                if *phases > 0 { Ok(()) } else { Err("an Erlang law has at least 1 phase".into()) }
            }
            Self::Hyperexponential { first_probability, first_mean_s, second_mean_s } => {
                share("p", *first_probability)?;
                time("the first mean", *first_mean_s)?;
                time("the second mean", *second_mean_s)
            }
            Self::Coxian { first_mean_s, second_mean_s, second_probability } => {
                share("`continue`", *second_probability)?;
                time("the first mean", *first_mean_s)?;
                time("the second mean", *second_mean_s)
            }
            Self::Gamma { mean_s, cv } | Self::Lognormal { mean_s, cv } => {
                time("the mean", *mean_s)?;
                positive("the coefficient of variation", *cv)
            }
            Self::NormalTruncated { untruncated_mean_s, untruncated_sd_s } => {
                time("the mean", *untruncated_mean_s)?;
                positive("the standard deviation", *untruncated_sd_s)
            }
            Self::Pareto { mean_s, shape } => {
                time("the mean", *mean_s)?;
                if *shape > 1.0 && shape.is_finite() {
                    Ok(())
                } else {
                    Err(format!(
                        "the shape of a Pareto law must be greater than 1, not {shape}: its mean would be infinite"
                    ).into())
                }
            }
            Self::Uniform { from_s, to_s } => {
                time("the shortest time", *from_s)?;
                time("the longest time", *to_s)?;
                if from_s <= to_s {
                    Ok(())
                } else {
                    Err("the longest time is shorter than the shortest".into())
                }
            }
            Self::Weibull { mean_s, shape } => {
                time("the mean", *mean_s)?;
                positive("the shape", *shape)
            }
            Self::Mmpp2 { rates_per_s: [r0, r1], leave_per_s } => {
                time("a rate", *r0)?;
                time("a rate", *r1)?;
                positive("the greater rate", r0.max(*r1))?;
                leave_per_s.iter().try_for_each(|rate| positive("the rate of leaving a state", *rate))
            }
            Self::Replay { file, values_s } => {
                if values_s.is_empty() {
                    return Err(format!("there are no values from {file}").into());
                }
                values_s.iter().try_for_each(|value| time(&format!("a value in {file}"), *value))
            }
        }
    }
}

/// The hazard of the standard normal law at the point where zero cuts a normal law of that mean and deviation, and
/// that point.
fn truncation(mean_s: f64, sd_s: f64) -> (f64, f64) {
    let at = -mean_s / sd_s;
    let density = (-0.5 * at * at).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let beyond = 0.5 * erfc(at / std::f64::consts::SQRT_2);
    (density / beyond, at)
}
