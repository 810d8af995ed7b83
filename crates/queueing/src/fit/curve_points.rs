//! The curve of a fitted model as points.

use serde::Serialize;

use super::checks::CheckedPoint;
use super::curve::AsymptoticBounds;
use super::fitted::{FittedModel, FittedPrediction, ModelForm};
use super::value::FittedValue;

/// Maximum number of points of a curve.
const CURVE_POINTS: usize = 90;

/// A point of the model's curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityCurvePoint {
    /// Number of users N.
    pub users: f64,
    /// Throughput X per second, with its interval.
    pub throughput_per_s: FittedValue,
    /// Response time R in seconds, with its interval.
    pub response_s: FittedValue,
    /// Asymptotic upper bound of X; `None` for a model without demands.
    pub throughput_bound_per_s: Option<f64>,
    /// Asymptotic lower bound of R; `None` for a model without demands.
    pub response_bound_s: Option<f64>,
}

/// The prediction of the curve for a load, with an interval that is consistent with the interval of the capacity.
///
/// The interval of the curve is computed by the delta method over all plausible models, which makes it too wide near
/// saturation. The interval of the capacity is computed by profile likelihood. The interval of the throughput is therefore
/// limited by that of the capacity: its upper end is not higher, and its lower end is relatively no farther from the estimate.
/// With increasing load, the curve and its interval then approach the capacity and its interval.
pub(crate) fn predict_within_capacity(
    fitted: &FittedModel,
    capacity_per_s: Option<FittedValue>,
    users: f64,
    think_s: f64,
) -> FittedPrediction {
    let FittedPrediction { throughput_per_s: mut x, response_s: mut r } = fitted.predict(users, think_s);
    let Some(capacity) = capacity_per_s.filter(|_| fitted.form != ModelForm::Usl) else {
        return FittedPrediction { throughput_per_s: x, response_s: r };
    };
    if let (Some(high), Some(most)) = (x.high, capacity.high) {
        x.high = Some(high.min(most).max(x.value));
    }
    if let (Some(low), Some(least)) = (x.low, capacity.low) {
        x.low = Some(low.max(x.value * (least / capacity.value).min(1.0)));
    }
    // Little's law: the response time is longest where the throughput is least.
    let response_s = |throughput_per_s: f64| (users / throughput_per_s - think_s).max(0.0);
    if let (Some(low), Some(high)) = (r.low, x.high) {
        r.low = Some(low.max(response_s(high)).min(r.value));
    }
    if let (Some(high), Some(low)) = (r.high, x.low) {
        r.high = Some(high.min(response_s(low)).max(r.value));
    }
    FittedPrediction { throughput_per_s: x, response_s: r }
}

/// The curve from one user to 1.15 times the largest measured number of users, or to 1.5 times the knee if that is larger.
pub(crate) fn curve(
    fitted: &FittedModel,
    points: &[CheckedPoint],
    bounds: Option<AsymptoticBounds>,
    capacity_per_s: Option<FittedValue>,
    think_s: f64,
) -> Vec<CapacityCurvePoint> {
    let measured =
        points.iter().map(|point| point.users).filter(|users| users.is_finite()).fold(1.0, f64::max);
    let knee = bounds.map_or(0.0, |bounds| bounds.knee_users).min(4.0 * measured);
    let last = (1.15 * measured).max(1.5 * knee).ceil().max(4.0);
    let step = ((last - 1.0) / (CURVE_POINTS - 1) as f64).max(1.0);
    let mut users: Vec<f64> = (0..CURVE_POINTS)
        .map(|at| (1.0 + step * at as f64).round())
        .take_while(|users| *users <= last)
        .collect();
    users.dedup();
    users
        .into_iter()
        .map(|users| {
            let FittedPrediction { throughput_per_s, response_s } =
                predict_within_capacity(fitted, capacity_per_s, users, think_s);
            CapacityCurvePoint {
                users,
                throughput_per_s,
                response_s,
                throughput_bound_per_s: bounds.map(|bounds| bounds.throughput_per_s(users, think_s)),
                response_bound_s: bounds.map(|bounds| bounds.response_s(users, think_s)),
            }
        })
        .collect()
}
