//! A model whose parameters were fitted: what it says, and how well that is known.

use serde::{Deserialize, Serialize};

use super::curve::{AsymptoticBounds, CapacityModel, Prediction};
use super::usl::UslCurve;
use super::value::{FittedValue, student_quantile};

/// Which parameters a model has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelForm {
    /// Service time, latency.
    Queue { servers: u32 },
    /// Service time, latency, and c² of the service time where it is not given.
    SingleServer { scv: Option<f64> },
    /// Demands, latency.
    Queues { count: usize },
    /// λ, σ, κ.
    Usl,
}

impl ModelForm {
    pub(crate) fn model(self, parameters: &[f64]) -> CapacityModel {
        match self {
            ModelForm::Queue { servers } => {
                CapacityModel::Queue { servers, service_s: parameters[0], latency_s: parameters[1] }
            }
            ModelForm::SingleServer { scv } => CapacityModel::SingleServer {
                service_s: parameters[0],
                latency_s: parameters[1],
                scv: scv.unwrap_or_else(|| parameters[2]),
            },
            ModelForm::Queues { count } => {
                let mut demands_s = parameters[..count].to_vec();
                demands_s.sort_unstable_by(|a, b| b.total_cmp(a));
                CapacityModel::Queues { demands_s, latency_s: parameters[count] }
            }
            ModelForm::Usl => CapacityModel::Usl(UslCurve {
                lambda_per_s: parameters[0],
                sigma: parameters[1],
                kappa: parameters[2],
            }),
        }
    }

    pub(crate) fn names(self) -> Vec<String> {
        match self {
            ModelForm::Queue { .. } | ModelForm::SingleServer { scv: Some(_) } => {
                vec!["service time".into(), "latency".into()]
            }
            ModelForm::SingleServer { scv: None } => {
                vec!["service time".into(), "latency".into(), "c² of service times".into()]
            }
            ModelForm::Queues { count } => {
                (1..=count).map(|queue| format!("demand {queue}")).chain(["latency".into()]).collect()
            }
            ModelForm::Usl => ["λ", "σ", "κ"].map(str::to_owned).to_vec(),
        }
    }
}

/// A model with the covariance of its parameters: what is needed to say how well its predictions are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedModel {
    pub(crate) form: ModelForm,
    pub(crate) parameters: Vec<f64>,
    /// `None` when the measurements do not determine the parameters, or nobody has asked how well.
    pub(crate) covariance: Option<Vec<Vec<f64>>>,
    pub(crate) freedom: f64,
    /// Whether each parameter was stopped by a bound.
    pub(crate) at_bound: Vec<bool>,
    /// Sum of squared residuals, in the units of the weights.
    pub(crate) squares: f64,
    /// Akaike's criterion with the correction for few points; `None` when there are too few even for that.
    pub(crate) aicc: Option<f64>,
}

impl FittedModel {
    /// The model.
    #[must_use]
    pub fn model(&self) -> CapacityModel {
        self.form.model(&self.parameters)
    }

    /// What the model says of `users` with this think time, with the interval of its curve.
    #[must_use]
    pub fn predict(&self, users: f64, think_s: f64) -> FittedPrediction {
        let (found, band) = self.curve(users, think_s);
        let value = |value: f64, ends: Option<(f64, f64)>| FittedValue {
            value,
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
        };
        FittedPrediction {
            throughput_per_s: value(found.throughput_per_s, band.map(|band| band.throughput_per_s)),
            response_s: value(found.response_s, band.map(|band| band.response_s)),
        }
    }

    /// The asymptotic bounds; `None` of a law that has no demands.
    #[must_use]
    pub fn bounds(&self, think_s: f64) -> Option<AsymptoticBounds> {
        self.model().bounds(think_s)
    }

    /// A parameter with its interval.
    pub(crate) fn value(&self, at: usize) -> FittedValue {
        let value = self.parameters[at];
        match &self.covariance {
            Some(covariance) if !self.at_bound[at] => {
                FittedValue::with_error(value, covariance[at][at].sqrt(), self.freedom, 0.0)
            }
            _ => FittedValue::bare(value),
        }
    }

    /// Standard errors of the logarithms of throughput and response time, by the delta method; `None` when unknown.
    pub(crate) fn log_errors(&self, users: f64, think_s: f64) -> Option<(f64, f64)> {
        let covariance = self.covariance.as_ref()?;
        let here = self.model().predict(users, think_s);
        let slopes: Vec<(f64, f64)> = (0..self.parameters.len())
            .map(|i| {
                if covariance[i][i] <= 0.0 {
                    return (0.0, 0.0);
                }
                let step = 1e-5 * self.parameters[i].abs().max(1e-9);
                let mut moved = self.parameters.clone();
                moved[i] += step;
                let there = self.form.model(&moved).predict(users, think_s);
                let slope = |here: f64, there: f64| if here > 0.0 { (there / here).ln() / step } else { 0.0 };
                (
                    slope(here.throughput_per_s, there.throughput_per_s),
                    slope(here.response_s, there.response_s),
                )
            })
            .collect();
        let variance = |of: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
            (0..slopes.len())
                .map(|i| {
                    (0..slopes.len()).map(|j| of(&slopes[i]) * covariance[i][j] * of(&slopes[j])).sum::<f64>()
                })
                .sum()
        };
        let (x, r) = (variance(&|slope| slope.0), variance(&|slope| slope.1));
        (x.is_finite() && r.is_finite()).then(|| (x.max(0.0).sqrt(), r.max(0.0).sqrt()))
    }

    /// What the model says, with the interval of its curve.
    pub(crate) fn curve(&self, users: f64, think_s: f64) -> (Prediction, Option<Band>) {
        let found = self.model().predict(users, think_s);
        let quantile = student_quantile(self.freedom);
        let band = self.log_errors(users, think_s).and_then(|(x, r)| {
            let ends = |value: f64, error: f64| {
                let reach = (error * quantile).exp();
                reach.is_finite().then_some((value / reach, value * reach))
            };
            Some(Band {
                throughput_per_s: ends(found.throughput_per_s, x)?,
                response_s: ends(found.response_s, r)?,
            })
        });
        (found, band)
    }
}

/// What a fitted model says of a load, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedPrediction {
    /// X per second.
    pub throughput_per_s: FittedValue,
    /// R in seconds.
    pub response_s: FittedValue,
}

/// Where the curve lies at [`CONFIDENCE`](super::value::CONFIDENCE): lower and upper ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Band {
    pub(crate) throughput_per_s: (f64, f64),
    pub(crate) response_s: (f64, f64),
}
