//! The capacity of a system, and its headroom.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::checks::CheckedPoint;
use super::curve::{AsymptoticBounds, CapacityModel};
use super::fit_settings::{FitSettings, NEAR_SATURATION};
use super::fitted::{FittedModel, ModelForm};
use super::queue_fit::ERROR_BETWEEN_RUNS;
use super::usl::UslFit;
use super::value::{FittedValue, student_quantile};

/// Probability that the lower bound from the measured throughputs is above the true capacity. The bound shortens the interval of
/// the capacity, so this probability must be small compared with the error probability of the interval.
const BOUND_ERROR: f64 = 0.002;

/// The capacity, and the largest measured load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headroom {
    /// Users of the largest measured load that was not excluded.
    pub users: f64,
    /// Measured throughput at this load.
    pub throughput_per_s: f64,
    /// Maximum throughput, with its interval; `None` if the model has no limit.
    pub capacity_per_s: Option<FittedValue>,
    /// N*, the intersection of the asymptotic bounds, or the peak of the Universal Scalability Law.
    pub knee_users: Option<FittedValue>,
    /// Maximum number of users whose mean response time is within `response_max_s`.
    pub users_within_response: Option<f64>,
    /// The limit of the mean response time in seconds.
    pub response_max_s: Option<f64>,
}

/// Intervals over all plausible models.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CapacityRegion {
    pub(crate) capacity_per_s: Option<FittedValue>,
    pub(crate) knee_users: Option<FittedValue>,
}

impl CapacityRegion {
    /// The intervals of a single model, by the delta method from the covariance of its parameters.
    fn of_single_model(fitted: &FittedModel, think_s: f64) -> CapacityRegion {
        let value = |quantity: fn(&AsymptoticBounds) -> f64| {
            let value = quantity(&fitted.bounds(think_s)?);
            let variance = fitted
                .variance(&|model| model.bounds(think_s).map_or(f64::NAN, |bounds| quantity(&bounds).ln()))
                .filter(|variance| *variance > 0.0);
            let Some(variance) = variance else { return Some(FittedValue::without_interval(value)) };
            let factor = (student_quantile(fitted.freedom) * variance.sqrt()).exp();
            Some(if factor.is_finite() {
                FittedValue { value, low: Some(value / factor), high: Some(value * factor) }
            } else {
                FittedValue::without_interval(value)
            })
        };
        CapacityRegion {
            capacity_per_s: value(|bounds| bounds.throughput_max_per_s),
            knee_users: value(|bounds| bounds.knee_users),
        }
    }
}

impl CapacityRegion {
    /// Raises the lower end of the capacity to the largest measured throughput less its error. Throughputs with unknown errors
    /// are ignored, and so are throughputs above the estimate, because they indicate that the model is wrong.
    fn raise_to_measured(&mut self, used: &[&CheckedPoint]) {
        let Some(capacity) = &mut self.capacity_per_s else { return };
        let (Some(low), Ok(law)) = (capacity.low, Normal::new(0.0, 1.0)) else { return };
        let errors = law.inverse_cdf(1.0 - BOUND_ERROR / used.len().max(1) as f64);
        let measured = |point: &&CheckedPoint| {
            let throughput_per_s = point.point.throughput_per_s;
            let error = (point.point.throughput_error? / throughput_per_s).hypot(ERROR_BETWEEN_RUNS);
            Some(throughput_per_s * (-errors * error).exp())
        };
        let least = used.iter().filter_map(measured).fold(0.0, f64::max);
        if low < least && least <= capacity.value {
            capacity.low = Some(least);
        }
    }
}

pub(crate) fn headroom(
    fitted: &FittedModel,
    region: Option<CapacityRegion>,
    used: &[&CheckedPoint],
    think_s: f64,
    usl: Option<&UslFit>,
    settings: &FitSettings,
) -> Headroom {
    let model = fitted.model();
    let last = used.iter().max_by(|a, b| a.users.total_cmp(&b.users));
    let best_per_s = used.iter().map(|point| point.point.throughput_per_s).fold(0.0, f64::max);
    let region = match usl.filter(|_| fitted.form == ModelForm::Usl) {
        Some(usl) => CapacityRegion { capacity_per_s: usl.throughput_max_per_s, knee_users: usl.peak_users },
        None => {
            let mut region = region.unwrap_or_else(|| CapacityRegion::of_single_model(fitted, think_s));
            // If no bottleneck was near saturation, another station than the one in the model may limit the throughput.
            let is_near_saturation = |capacity: FittedValue| best_per_s >= NEAR_SATURATION * capacity.value;
            if !region.capacity_per_s.is_some_and(is_near_saturation) {
                for value in [&mut region.capacity_per_s, &mut region.knee_users].into_iter().flatten() {
                    value.high = None;
                }
            }
            region.raise_to_measured(used);
            region
        }
    };
    let users_within_response =
        settings.response_max_s.and_then(|limit_s| users_within(&model, think_s, limit_s));
    Headroom {
        users: last.map_or(0.0, |point| point.users),
        throughput_per_s: last.map_or(0.0, |point| point.point.throughput_per_s),
        capacity_per_s: region.capacity_per_s,
        knee_users: region.knee_users,
        users_within_response,
        response_max_s: settings.response_max_s,
    }
}

/// Maximum integer number of users with a mean response time of at most `limit_s`; 0 if a single user exceeds it, `None` if
/// there is no such maximum up to 2²⁰ users.
fn users_within(model: &CapacityModel, think_s: f64, limit_s: f64) -> Option<f64> {
    let is_within = |users: u64| model.predict(users as f64, think_s).response_s <= limit_s;
    if !is_within(1) {
        return Some(0.0);
    }
    let mut high = 2_u64;
    while is_within(high) {
        high *= 2;
        if high > 1 << 20 {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_within(middle) { low = middle } else { high = middle }
    }
    Some(low as f64)
}
