//! What a system can do, and what is left of it.

use serde::Serialize;

use super::capacity::{FitSettings, NEAR_SATURATION};
use super::checks::CheckedPoint;
use super::curve::CapacityModel;
use super::fitted::{FittedModel, ModelForm};
use super::usl::UslFit;
use super::value::FittedValue;

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

/// The capacity with its interval.
fn capacity(fitted: &FittedModel) -> Option<FittedValue> {
    match fitted.form {
        ModelForm::Queue { servers } => {
            Some(fitted.value(0).mirrored(|service_s| f64::from(servers) / service_s))
        }
        ModelForm::SingleServer { .. } => Some(fitted.value(0).mirrored(f64::recip)),
        ModelForm::Queues { count } => {
            // The bottleneck is the largest demand.
            let at = (0..count).max_by(|&a, &b| fitted.parameters[a].total_cmp(&fitted.parameters[b]))?;
            Some(fitted.value(at).mirrored(f64::recip))
        }
        ModelForm::Usl => None,
    }
}

pub(crate) fn headroom(
    fitted: &FittedModel,
    used: &[&CheckedPoint],
    think_s: f64,
    usl: Option<&UslFit>,
    settings: &FitSettings,
) -> Headroom {
    let model = fitted.model();
    let last = used.iter().max_by(|a, b| a.users.total_cmp(&b.users));
    let best_per_s = used.iter().map(|point| point.point.throughput_per_s).fold(0.0, f64::max);
    let is_usl = fitted.form == ModelForm::Usl;
    let capacity_per_s = match usl.filter(|_| is_usl) {
        Some(usl) => usl.throughput_max_per_s,
        None => capacity(fitted).map(|capacity| FittedValue {
            // What was measured can be done, whatever the interval says.
            low: capacity.low.map(|low| low.max(best_per_s.min(capacity.value))),
            // A bottleneck that nobody has seen busy may be any other than the one that the model extrapolates.
            high: capacity.high.filter(|_| best_per_s >= NEAR_SATURATION * capacity.value),
            ..capacity
        }),
    };
    let knee_users = match (usl.filter(|_| is_usl), model.bounds(think_s)) {
        (Some(usl), _) => usl.peak_users,
        (None, Some(bounds)) => {
            let cycle_s = bounds.response_min_s + think_s;
            capacity_per_s.map(|capacity| FittedValue {
                value: bounds.knee_users,
                low: capacity.low.map(|low| low * cycle_s),
                high: capacity.high.map(|high| high * cycle_s),
            })
        }
        (None, None) => None,
    };
    let users_within_response =
        settings.response_max_s.and_then(|most_s| users_within(&model, think_s, most_s));
    Headroom {
        users: last.map_or(0.0, |point| point.users),
        throughput_per_s: last.map_or(0.0, |point| point.point.throughput_per_s),
        capacity_per_s,
        knee_users,
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
