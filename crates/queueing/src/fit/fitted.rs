//! Models with fitted parameters, their predictions and the precision of the predictions.

use serde::{Deserialize, Serialize};

use super::curve::{AsymptoticBounds, CapacityModel, Prediction};
use super::usl::UslCurve;
use super::value::{FittedValue, student_quantile};

/// The form of a model, which defines its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelForm {
    /// One queue. Parameters: service time and latency.
    Queue { servers: u32 },
    /// One server. Parameters: service time, latency, and c² of the service time if it is not given.
    SingleServer { scv: Option<f64> },
    /// Several queues. Parameters: the demands and the latency.
    Queues { count: usize },
    /// The Universal Scalability Law. Parameters: λ, σ, κ.
    Usl,
}

/// A parameter that several forms have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SharedParameter {
    Service,
    Latency,
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

    /// The kind of a parameter that other forms have, too; `None` for other parameters.
    fn shared_parameter(self, at: usize) -> Option<SharedParameter> {
        match (self, at) {
            (ModelForm::Queue { .. } | ModelForm::SingleServer { .. }, 0) => Some(SharedParameter::Service),
            (ModelForm::Queue { .. } | ModelForm::SingleServer { .. }, 1) => Some(SharedParameter::Latency),
            (ModelForm::Queues { count }, at) if at == count => Some(SharedParameter::Latency),
            (ModelForm::SingleServer { .. } | ModelForm::Queue { .. }, _)
            | (ModelForm::Queues { .. } | ModelForm::Usl, _) => None,
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

/// A model with the covariance of its parameters, which gives the precision of its predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedModel {
    pub(crate) form: ModelForm,
    pub(crate) parameters: Vec<f64>,
    /// `None` if the measurements do not determine the parameters, or if the method has no covariance.
    pub(crate) covariance: Option<Vec<Vec<f64>>>,
    pub(crate) freedom: f64,
    /// Whether each parameter is at a bound of the search.
    pub(crate) at_bound: Vec<bool>,
    /// Sum of squared, weighted residuals.
    pub(crate) squares: f64,
    /// Akaike's criterion with the correction for few points; `None` if there are too few points for the correction.
    pub(crate) aicc: Option<f64>,
    /// The plausible models whose intervals extend beyond those of this model. The intervals of this model are widened to
    /// contain theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) alternatives: Vec<FittedModel>,
}

impl FittedModel {
    /// The model.
    #[must_use]
    pub fn model(&self) -> CapacityModel {
        self.form.model(&self.parameters)
    }

    /// The model with the digits that the intervals of its parameters support.
    #[must_use]
    pub fn rounded_model(&self) -> CapacityModel {
        let rounded: Vec<f64> = (0..self.parameters.len()).map(|at| self.own_value(at).rounded()).collect();
        self.form.model(&rounded)
    }

    /// The model's prediction for `users` with this think time, with the interval of its curve.
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

    /// The asymptotic bounds; `None` for the Universal Scalability Law, which has no demands.
    #[must_use]
    pub fn bounds(&self, think_s: f64) -> Option<AsymptoticBounds> {
        self.model().bounds(think_s)
    }

    /// A parameter with its interval under the assumption that this model is true.
    fn own_value(&self, at: usize) -> FittedValue {
        let value = self.parameters[at];
        match &self.covariance {
            Some(covariance) if !self.at_bound[at] => {
                FittedValue::with_error(value, covariance[at][at].sqrt(), self.freedom, 0.0)
            }
            _ => FittedValue::without_interval(value),
        }
    }

    /// A parameter with an interval that contains the intervals of the same parameter in the alternatives.
    pub(crate) fn value(&self, at: usize) -> FittedValue {
        let mut value = self.own_value(at);
        let parameter = self.form.shared_parameter(at);
        for other in &self.alternatives {
            if let Some(other_value) = parameter.and_then(|parameter| other.value_of(parameter)) {
                value = value.widened_to(&other_value);
            }
        }
        value
    }

    /// Whether the alternatives widen the interval of a parameter.
    pub(crate) fn is_widened(&self, at: usize) -> bool {
        self.value(at) != self.own_value(at)
    }

    /// A shared parameter with its interval under the assumption that this model is true; `None` if the form does not have it.
    pub(super) fn value_of(&self, parameter: SharedParameter) -> Option<FittedValue> {
        let at = (0..self.parameters.len()).find(|&at| self.form.shared_parameter(at) == Some(parameter))?;
        Some(self.own_value(at))
    }

    /// Variance of a function of the model by the delta method, under the assumption that this model is true; `None` if unknown.
    pub(crate) fn variance(&self, function: &dyn Fn(&CapacityModel) -> f64) -> Option<f64> {
        let covariance = self.covariance.as_ref()?;
        let value = function(&self.model());
        let slopes: Vec<f64> = (0..self.parameters.len())
            .map(|i| {
                if covariance[i][i] <= 0.0 {
                    return 0.0;
                }
                let step = 1e-5 * self.parameters[i].abs().max(1e-9);
                let mut moved = self.parameters.clone();
                moved[i] += step;
                (function(&self.form.model(&moved)) - value) / step
            })
            .collect();
        let product = |i: usize| (0..slopes.len()).map(|j| covariance[i][j] * slopes[j]).sum::<f64>();
        let variance: f64 = slopes.iter().enumerate().map(|(i, slope)| slope * product(i)).sum();
        variance.is_finite().then_some(variance.max(0.0))
    }

    /// Standard errors of the logarithms of throughput and response time, by the delta method; `None` if unknown.
    fn log_errors(&self, users: f64, think_s: f64) -> Option<(f64, f64)> {
        let covariance = self.covariance.as_ref()?;
        let prediction = self.model().predict(users, think_s);
        let slopes: Vec<(f64, f64)> = (0..self.parameters.len())
            .map(|i| {
                if covariance[i][i] <= 0.0 {
                    return (0.0, 0.0);
                }
                let step = 1e-5 * self.parameters[i].abs().max(1e-9);
                let mut moved = self.parameters.clone();
                moved[i] += step;
                let next = self.form.model(&moved).predict(users, think_s);
                let slope =
                    |value: f64, next: f64| if value > 0.0 { (next / value).ln() / step } else { 0.0 };
                (
                    slope(prediction.throughput_per_s, next.throughput_per_s),
                    slope(prediction.response_s, next.response_s),
                )
            })
            .collect();
        let variance = |slope: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
            (0..slopes.len())
                .map(|i| {
                    (0..slopes.len())
                        .map(|j| slope(&slopes[i]) * covariance[i][j] * slope(&slopes[j]))
                        .sum::<f64>()
                })
                .sum()
        };
        let (x, r) = (variance(&|slope| slope.0), variance(&|slope| slope.1));
        (x.is_finite() && r.is_finite()).then(|| (x.max(0.0).sqrt(), r.max(0.0).sqrt()))
    }

    /// The prediction of the model, with a band that contains the bands of the alternatives.
    pub(crate) fn curve(&self, users: f64, think_s: f64) -> (Prediction, Option<Band>) {
        let (found, mut band) = self.own_curve(users, think_s);
        for other in &self.alternatives {
            let (_, other_band) = other.own_curve(users, think_s);
            band = band.zip(other_band).map(|(band, other)| band.union(other));
        }
        (found, band)
    }

    /// The prediction of the model, with its band under the assumption that this model is true.
    pub(super) fn own_curve(&self, users: f64, think_s: f64) -> (Prediction, Option<Band>) {
        let found = self.model().predict(users, think_s);
        let quantile = student_quantile(self.freedom);
        let band = self.log_errors(users, think_s).and_then(|(x, r)| {
            let ends = |value: f64, error: f64| {
                let factor = (error * quantile).exp();
                factor.is_finite().then_some((value / factor, value * factor))
            };
            Some(Band {
                throughput_per_s: ends(found.throughput_per_s, x)?,
                response_s: ends(found.response_s, r)?,
            })
        });
        (found, band)
    }
}

/// The prediction of a fitted model for a load, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedPrediction {
    /// Throughput X per second.
    pub throughput_per_s: FittedValue,
    /// Response time R in seconds.
    pub response_s: FittedValue,
}

/// Lower and upper ends of the intervals of a prediction, at [`CONFIDENCE`](super::value::CONFIDENCE).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Band {
    pub(crate) throughput_per_s: (f64, f64),
    pub(crate) response_s: (f64, f64),
}

impl Band {
    /// The smallest band that contains both bands.
    pub(crate) fn union(self, other: Band) -> Band {
        let hull = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        Band {
            throughput_per_s: hull(self.throughput_per_s, other.throughput_per_s),
            response_s: hull(self.response_s, other.response_s),
        }
    }
}
