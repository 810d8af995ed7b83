//! Laws (probability distributions) of service, think and interarrival times.

use super::error::NotationError;
use libm::{erfc, tgamma};

/// The probability law of a time. The moments are taken from Johnson, Kotz & Balakrishnan, *Continuous Univariate
/// Distributions*, unless another source is named.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeLaw {
    /// Constant.
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
        /// Number of phases, at least 1.
        phases: u32,
    },
    /// A mixture of two exponentials.
    Hyperexponential {
        /// Probability of the first exponential.
        first_probability: f64,
        /// Mean of the first exponential in seconds.
        first_mean_s: f64,
        /// Mean of the second exponential in seconds.
        second_mean_s: f64,
    },
    /// An exponential phase, followed by a second exponential phase with some probability.
    Coxian {
        /// Mean of the first phase in seconds.
        first_mean_s: f64,
        /// Mean of the second phase in seconds.
        second_mean_s: f64,
        /// Probability of the second phase.
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
    /// Normal, truncated at 0 (negative values are drawn again).
    NormalTruncated {
        /// Mean in seconds before truncation.
        untruncated_mean_s: f64,
        /// Standard deviation in seconds before truncation.
        untruncated_sd_s: f64,
    },
    /// Pareto with the smallest value mean·(shape − 1)/shape.
    Pareto {
        /// Mean in seconds.
        mean_s: f64,
        /// Shape, greater than 1. If it is at most 2, the variance is infinite.
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
        /// Shape. Below 1, times vary more than exponential ones; above 1, they vary less.
        shape: f64,
    },
    /// The gaps of a Markov-modulated Poisson process with two states: its rate switches between two values.
    Mmpp2 {
        /// Events per second in each state.
        rates_per_s: [f64; 2],
        /// Transitions per second out of each state.
        leave_per_s: [f64; 2],
    },
    /// Recorded values in their original order, repeated cyclically.
    Replay {
        /// The name of the file with the values, as written in the model.
        file: String,
        /// The values in seconds; the caller reads them from the file.
        values_s: Vec<f64>,
    },
}

impl TimeLaw {
    /// The hyperexponential law with this mean and coefficient of variation (greater than 1) and balanced means: both
    /// branches have the same share of the time.
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

    /// The scale of the Weibull law with this mean: mean/Γ(1 + 1/shape).
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

    /// Squared coefficient of variation Var/mean²; infinite if the variance is infinite; 0 for a time that is always 0.
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
                let (hazard, point) = truncation(*untruncated_mean_s, *untruncated_sd_s);
                let variance = untruncated_sd_s.powi(2) * (1.0 + point * hazard - hazard * hazard);
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

    /// The tail index: the moments E\[Sᵏ\] are finite for all k below it and infinite for all others. It is infinite if all
    /// moments are finite.
    #[must_use]
    pub fn tail_index(&self) -> f64 {
        match self {
            Self::Pareto { shape, .. } => *shape,
            // Lognormal laws and Weibull laws of any shape have finite moments, and recorded values are bounded. All
            // others have exponential or lighter tails.
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

    /// This law with all times multiplied by `factor`.
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

    /// Checks that the parameters are in their ranges.
    pub(super) fn check(&self) -> Result<(), NotationError> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(NotationError::Range(format!("{name} must be greater than 0, not {value}")))
            }
        };
        let time = |name: &str, value: f64| {
            if value >= 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(NotationError::Range(format!("{name} must be at least 0, not {value}")))
            }
        };
        let share = |name: &str, value: f64| {
            if (0.0..=1.0).contains(&value) {
                Ok(())
            } else {
                Err(NotationError::Range(format!("{name} must be a probability from 0 to 1, not {value}")))
            }
        };
        match self {
            Self::Deterministic { mean_s } | Self::Exponential { mean_s } => time("the mean", *mean_s),
            Self::Erlang { mean_s, phases } => {
                time("the mean", *mean_s)?;
                if *phases > 0 {
                    Ok(())
                } else {
                    Err(NotationError::Range("an Erlang law has at least 1 phase".to_owned()))
                }
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
                    Err(NotationError::Range(format!(
                        "the shape of a Pareto law must be greater than 1, not {shape}: its mean would be infinite"
                    )))
                }
            }
            Self::Uniform { from_s, to_s } => {
                time("the shortest time", *from_s)?;
                time("the longest time", *to_s)?;
                if from_s <= to_s {
                    Ok(())
                } else {
                    Err(NotationError::Range("the longest time is shorter than the shortest".to_owned()))
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
                    return Err(NotationError::Range(format!("{file} has no values")));
                }
                values_s.iter().try_for_each(|value| time(&format!("a value in {file}"), *value))
            }
        }
    }
}

/// The standardized truncation point of a normal law that is truncated at zero, and the hazard rate of the standard normal
/// law at this point, as (hazard rate, point).
fn truncation(mean_s: f64, sd_s: f64) -> (f64, f64) {
    let point = -mean_s / sd_s;
    let density = (-0.5 * point * point).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let survival = 0.5 * erfc(point / std::f64::consts::SQRT_2);
    (density / survival, point)
}
