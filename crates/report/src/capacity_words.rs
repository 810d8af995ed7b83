//! Sentences and cells about a capacity model, shared by the terminal and the page.

use busyhour_queueing::fit::{CapacityFit, FittedValue, Headroom, ModelJudgement, ModelVerdict, Parameter};

use crate::numbers::{ms, rate, thousands};

/// A number with its interval in the given format: `12.3 (11.9 to 12.8)`.
pub(crate) fn with_interval(value: &FittedValue, number: impl Fn(f64) -> String) -> String {
    let here = number(value.value);
    match (value.low, value.high) {
        (Some(low), Some(high)) => format!("{here} ({} to {})", number(low), number(high)),
        (Some(low), None) => format!("{here} ({} at least)", number(low)),
        (None, Some(high)) => format!("{here} ({} at most)", number(high)),
        (None, None) => here,
    }
}

/// A rate per second, with one more digit if it is small.
pub(crate) fn per_s(value: f64) -> String {
    if value < 9.995 { format!("{value:.2}") } else { rate(value) }
}

/// A number of users: a whole number, or with one decimal.
pub(crate) fn users(value: f64) -> String {
    if value.fract().abs() < 1e-6 || value >= 1e3 {
        thousands(value.round() as u64)
    } else {
        format!("{value:.1}")
    }
}

/// The value of a parameter in its own unit.
pub(crate) fn parameter(parameter: &Parameter, value: f64) -> String {
    match parameter.unit {
        "s" => format!("{} ms", ms_fine(value * 1e3)),
        "1/s" => format!("{}/s", per_s(value)),
        _ if value == 0.0 => "0".into(),
        _ if value.abs() < 1e-3 => format!("{value:.3e}"),
        _ => format!("{value:.*}", decimals(&parameter.fitted)),
    }
}

/// The number of decimals for a value without a unit: four if it is below 1, otherwise enough for two digits of the interval.
fn decimals(value: &FittedValue) -> usize {
    if value.value.abs() < 1.0 {
        return 4;
    }
    let halves = [value.low, value.high].into_iter().flatten().map(|end| (end - value.value).abs());
    let half = halves.filter(|half| *half > 0.0).fold(f64::INFINITY, f64::min);
    if half.is_finite() { (1 - half.log10().floor() as i32).clamp(0, 4) as usize } else { 4 }
}

/// A time in ms with four digits, because demands are multiplied by many users.
fn ms_fine(value: f64) -> String {
    match value.abs() {
        v if v < 9.9995 => format!("{value:.3}"),
        v if v < 99.995 => format!("{value:.2}"),
        _ => ms(value),
    }
}

/// The deviation of the model from the measurement in percent.
pub(crate) fn off(model: f64, measured: f64) -> String {
    // A value that rounds to 0 has no sign.
    let percent = ((model / measured - 1.0) * 1e3).round() / 10.0;
    if percent == 0.0 { "0.0 %".into() } else { format!("{percent:+.1} %") }
}

/// A response time in ms.
pub(crate) fn time(seconds: f64) -> String {
    ms(seconds * 1e3)
}

/// Sentences about the headroom of the system.
pub(crate) fn headroom(fit: &CapacityFit) -> Vec<String> {
    let Headroom { users: at, throughput_per_s, capacity_per_s, knee_users, .. } = &fit.headroom;
    let mut out = Vec::new();
    match capacity_per_s {
        Some(capacity) => out.push(format!(
            "Capacity: {}/s. The largest measured load, {} users, reached {}/s: {:.0} % of it.",
            with_interval(capacity, per_s),
            users(*at),
            per_s(*throughput_per_s),
            throughput_per_s / capacity.value * 100.0
        )),
        None => out.push("Capacity: the model has no limit.".into()),
    }
    if let Some(knee) = knee_users {
        let of = if fit.bounds.is_some() { "Knee N*" } else { "Peak" };
        let where_ = match knee.value - at {
            left if left >= 1.0 => format!("{} more than measured", users(left.floor())),
            left if left <= -1.0 => format!("{} fewer than measured", users((-left).floor())),
            _ => "as many as measured".into(),
        };
        out.push(format!("{of}: {} users, {where_}.", with_interval(knee, |value| users(value.round()))));
    }
    if let Some(most_s) = fit.headroom.response_max_s {
        out.push(match fit.headroom.users_within_response {
            Some(0.0) => format!("Not even one user has a mean response time within {} ms.", time(most_s)),
            Some(within) => {
                format!("Up to {} users have a mean response time within {} ms.", users(within), time(most_s))
            }
            None => format!("Any number of users has a mean response time within {} ms.", time(most_s)),
        });
    }
    out
}

/// The result in a sentence.
pub(crate) fn headline(fit: &CapacityFit) -> String {
    let capacity = match &fit.headroom.capacity_per_s {
        Some(capacity) => {
            let interval = match (capacity.low, capacity.high) {
                (Some(low), Some(high)) => format!(" ({} to {})", per_s(low), per_s(high)),
                (Some(low), None) => format!(" ({} or more)", per_s(low)),
                (None, _) => String::new(),
            };
            format!("Sustains about {} requests per second{interval}", per_s(capacity.value))
        }
        None => "The model has no limit".into(),
    };
    let knee = match &fit.headroom.knee_users {
        Some(knee) if fit.bounds.is_some() => {
            format!("; with more than {} users, requests wait for each other", users(knee.value.round()))
        }
        Some(peak) => format!("; the throughput is largest with {} users", users(peak.value.round())),
        None => String::new(),
    };
    format!("{capacity}{knee}")
}

/// The note on intervals whose ends are determined by other plausible models.
pub(crate) const OTHER_MODELS_NOTE: &str = "Intervals of times contain the values of all models that the measurements do not rule out, such as those with \
     another number of servers. The end of such an interval belongs to another model, so it does not determine the interval of the capacity.";

/// The model and the method of fitting it.
pub(crate) fn model_words(fit: &CapacityFit) -> String {
    format!("{}, {}", fit.model.description(), fit.method.description())
}

/// The verdict on a model in a sentence.
pub(crate) fn verdict(judgement: &ModelJudgement) -> String {
    let allowed = format!("accepted error {} %", judgement.allowed * 100.0);
    match (judgement.verdict, judgement.p_value) {
        (ModelVerdict::NotRejected, Some(p)) => format!(
            "Accepted: no evidence against the model ({}, rejected below {}; {allowed})",
            p_value(p),
            judgement.significance
        ),
        (ModelVerdict::Rejected, Some(p)) => format!(
            "Rejected: the model does not describe the measurements ({}, below {}; {allowed})",
            p_value(p),
            judgement.significance
        ),
        _ => "Not judged: the precision of the measurements is unknown, or none is usable".into(),
    }
}

/// A p-value as an equation, with its significant digits.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p < 1e-4 => "p < 0.0001".into(),
        p if p < 0.01 => format!("p = {p:.4}"),
        p => format!("p = {p:.2}"),
    }
}
