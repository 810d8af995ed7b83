//! What a system can do, and what is left of it.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::checks::CheckedPoint;
use super::curve::{AsymptoticBounds, CapacityModel};
use super::fit_settings::{FitSettings, NEAR_SATURATION};
use super::fitted::{FittedModel, ModelForm};
use super::queue_fit::ERROR_BETWEEN_RUNS;
use super::usl::UslFit;
use super::value::{FittedValue, student_quantile};

/// Probability that the bound from all throughputs exceeds the capacity: small compared to that of an interval.
const MEASURED_LESS: f64 = 0.002;

/// What the capacity is, and what is left of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headroom {
    /// Users of the largest load that was measured without trouble.
    pub users: f64,
    /// X there, as measured.
    pub throughput_per_s: f64,
    /// The most throughput, with its interval; `None` when the model has no limit.
    pub capacity_per_s: Option<FittedValue>,
    /// N*, where the bounds meet, or the peak of the scalability law.
    pub knee_users: Option<FittedValue>,
    /// Most users whose mean response time stays within the wanted one.
    pub users_within_response: Option<f64>,
    /// The wanted one in seconds.
    pub response_max_s: Option<f64>,
}

/// Intervals over all models that the measurements do not rule out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CapacityRegion {
    pub(crate) capacity_per_s: Option<FittedValue>,
    pub(crate) knee_users: Option<FittedValue>,
}

impl CapacityRegion {
    /// Where there is only one model: the intervals that follow from those of its demands.
    fn of_one(fitted: &FittedModel, think_s: f64) -> CapacityRegion {
        let value = |of: fn(&AsymptoticBounds) -> f64| {
            let value = of(&fitted.bounds(think_s)?);
            let variance = fitted
                .variance(&|model| model.bounds(think_s).map_or(f64::NAN, |bounds| of(&bounds).ln()))
                .filter(|variance| *variance > 0.0);
            let Some(variance) = variance else { return Some(FittedValue::bare(value)) };
            let reach = (student_quantile(fitted.freedom) * variance.sqrt()).exp();
            Some(if reach.is_finite() {
                FittedValue { value, low: Some(value / reach), high: Some(value * reach) }
            } else {
                FittedValue::bare(value)
            })
        };
        CapacityRegion {
            capacity_per_s: value(|bounds| bounds.throughput_max_per_s),
            knee_users: value(|bounds| bounds.knee_users),
        }
    }
}

impl CapacityRegion {
    /// What was measured can be done: the lower ends are not below the throughputs less their errors. Nothing follows where
    /// the estimate is below them, as the model is then wrong, nor from throughputs whose errors are unknown.
    fn raise_to_measured(&mut self, used: &[&CheckedPoint]) {
        let Some(capacity) = &mut self.capacity_per_s else { return };
        let (Some(low), Ok(law)) = (capacity.low, Normal::new(0.0, 1.0)) else { return };
        let errors = law.inverse_cdf(1.0 - MEASURED_LESS / used.len().max(1) as f64);
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
            let mut region = region.unwrap_or_else(|| CapacityRegion::of_one(fitted, think_s));
            // A bottleneck that was never observed busy may not be the one that the model extrapolates.
            let is_near = |capacity: FittedValue| best_per_s >= NEAR_SATURATION * capacity.value;
            if !region.capacity_per_s.is_some_and(is_near) {
                for value in [&mut region.capacity_per_s, &mut region.knee_users].into_iter().flatten() {
                    value.high = None;
                }
            }
            region.raise_to_measured(used);
            region
        }
    };
    let users_within_response =
        settings.response_max_s.and_then(|most_s| users_within(&model, think_s, most_s));
    Headroom {
        users: last.map_or(0.0, |point| point.users),
        throughput_per_s: last.map_or(0.0, |point| point.point.throughput_per_s),
        capacity_per_s: region.capacity_per_s,
        knee_users: region.knee_users,
        users_within_response,
        response_max_s: settings.response_max_s,
    }
}

/// Most users, a whole number, whose mean response time is `most_s` at most; 0 when one user waits longer, `None` when any
/// number is fine.
fn users_within(model: &CapacityModel, think_s: f64, most_s: f64) -> Option<f64> {
    let is_within = |users: u64| model.predict(users as f64, think_s).response_s <= most_s;
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
