//! Models with fitted parameters: their predictions and the precision of these.

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

/// A parameter that several forms have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
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

    /// What a parameter means where that is the same in other forms, too.
    fn meaning(self, at: usize) -> Option<Meaning> {
        match (self, at) {
            (ModelForm::Queue { .. } | ModelForm::SingleServer { .. }, 0) => Some(Meaning::Service),
            (ModelForm::Queue { .. } | ModelForm::SingleServer { .. }, 1) => Some(Meaning::Latency),
            (ModelForm::Queues { count }, at) if at == count => Some(Meaning::Latency),
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
    /// `None` if the measurements do not determine the parameters, or the precision was not requested.
    pub(crate) covariance: Option<Vec<Vec<f64>>>,
    pub(crate) freedom: f64,
    /// Whether each parameter was stopped by a bound.
    pub(crate) at_bound: Vec<bool>,
    /// Sum of squared residuals, in the units of the weights.
    pub(crate) squares: f64,
    /// Akaike's criterion with the correction for few points; `None` when there are too few even for that.
    pub(crate) aicc: Option<f64>,
    /// Other models that the measurements do not rule out, those that lie furthest out: intervals contain theirs.
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

    /// The asymptotic bounds; `None` of a law that has no demands.
    #[must_use]
    pub fn bounds(&self, think_s: f64) -> Option<AsymptoticBounds> {
        self.model().bounds(think_s)
    }

    /// A parameter with the interval that holds if this model is the right one.
    fn own_value(&self, at: usize) -> FittedValue {
        let value = self.parameters[at];
        match &self.covariance {
            Some(covariance) if !self.at_bound[at] => {
                FittedValue::with_error(value, covariance[at][at].sqrt(), self.freedom, 0.0)
            }
            _ => FittedValue::bare(value),
        }
    }

    /// A parameter with its interval, which contains the intervals of the same parameter in the alternatives.
    pub(crate) fn value(&self, at: usize) -> FittedValue {
        let mut value = self.own_value(at);
        let meaning = self.form.meaning(at);
        for other in &self.alternatives {
            if let Some(same) = meaning.and_then(|meaning| other.value_of(meaning)) {
                value = value.containing(&same);
            }
        }
        value
    }

    /// Whether the interval of a parameter contains more than that of this model alone.
    pub(crate) fn is_widened(&self, at: usize) -> bool {
        self.value(at) != self.own_value(at)
    }

    /// The parameter with that meaning, with the interval that holds if this model is the right one.
    pub(super) fn value_of(&self, meaning: Meaning) -> Option<FittedValue> {
        let at = (0..self.parameters.len()).find(|&at| self.form.meaning(at) == Some(meaning))?;
        Some(self.own_value(at))
    }

    /// Variance of a function of the model by the delta method, if this model is the right one; `None` when unknown.
    pub(crate) fn variance(&self, of: &dyn Fn(&CapacityModel) -> f64) -> Option<f64> {
        let covariance = self.covariance.as_ref()?;
        let here = of(&self.model());
        let slopes: Vec<f64> = (0..self.parameters.len())
            .map(|i| {
                if covariance[i][i] <= 0.0 {
                    return 0.0;
                }
                let step = 1e-5 * self.parameters[i].abs().max(1e-9);
                let mut moved = self.parameters.clone();
                moved[i] += step;
                (of(&self.form.model(&moved)) - here) / step
            })
            .collect();
        let along = |i: usize| (0..slopes.len()).map(|j| covariance[i][j] * slopes[j]).sum::<f64>();
        let variance: f64 = slopes.iter().enumerate().map(|(i, slope)| slope * along(i)).sum();
        variance.is_finite().then_some(variance.max(0.0))
    }

    /// Standard errors of the logarithms of throughput and response time, by the delta method; `None` when unknown.
    fn log_errors(&self, users: f64, think_s: f64) -> Option<(f64, f64)> {
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

    /// The prediction of the model, with an interval that contains those of the alternatives.
    pub(crate) fn curve(&self, users: f64, think_s: f64) -> (Prediction, Option<Band>) {
        let (found, mut band) = self.own_curve(users, think_s);
        for other in &self.alternatives {
            let (_, others) = other.own_curve(users, think_s);
            band = band.zip(others).map(|(band, others)| band.with(others));
        }
        (found, band)
    }

    pub(super) fn own_curve(&self, users: f64, think_s: f64) -> (Prediction, Option<Band>) {
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

/// The prediction of a fitted model for a load, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedPrediction {
    /// X per second.
    pub throughput_per_s: FittedValue,
    /// R in seconds.
    pub response_s: FittedValue,
}

/// The ends of the curve at [`CONFIDENCE`](super::value::CONFIDENCE): lower and upper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Band {
    pub(crate) throughput_per_s: (f64, f64),
    pub(crate) response_s: (f64, f64),
}

impl Band {
    /// The least band that contains both.
    pub(crate) fn with(self, other: Band) -> Band {
        let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        Band {
            throughput_per_s: both(self.throughput_per_s, other.throughput_per_s),
            response_s: both(self.response_s, other.response_s),
        }
    }
}
