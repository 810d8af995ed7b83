//! The curve of a fitted model, point by point.

use serde::Serialize;

use super::checks::CheckedPoint;
use super::curve::AsymptoticBounds;
use super::fitted::{FittedModel, FittedPrediction};
use super::value::FittedValue;

/// Points of the curve.
const CURVE_POINTS: usize = 90;

/// A point of the model's curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityCurvePoint {
    /// Users N.
    pub users: f64,
    /// X per second, with its interval.
    pub throughput_per_s: FittedValue,
    /// R in seconds, with its interval.
    pub response_s: FittedValue,
    /// The most X by the asymptotic bounds; `None` of a model without demands.
    pub throughput_bound_per_s: Option<f64>,
    /// The least R by them.
    pub response_bound_s: Option<f64>,
}

/// The curve from one user to half as many again as were measured, or as the knee has.
pub(crate) fn curve(
    fitted: &FittedModel,
    points: &[CheckedPoint],
    bounds: Option<AsymptoticBounds>,
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
            let FittedPrediction { throughput_per_s, response_s } = fitted.predict(users, think_s);
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
