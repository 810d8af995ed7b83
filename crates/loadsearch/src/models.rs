//! Knees of curves that are fitted to the trials.

use busyhour_queueing::fit::{CapacityFit, FitSettings, FittedValue, LoadPoint, UslFit, fit_usl};
use busyhour_search::{Evidence, Knee, LoadKind, TrialMeasures, TrialOutcome, TrialRecord};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A rate counts as served if the throughput is at least this share of it.
const SERVED_SHARE: f64 = 0.9;

/// Models are fitted up to this number of users, because the time for a model grows with it.
pub(crate) const USERS_MAX: f64 = 20_000.0;

/// The think time of the users that stand for arrivals, as a multiple of the largest mean response time.
const OPEN_THINK: f64 = 20.0;

/// The number of different loads that a curve needs.
const LOADS_MIN: usize = 4;

/// From this share of failed requests on, throughput and response times are those of failures.
const FAILED_SHARE_MAX: f64 = 0.5;

/// Whether a trial shows a steady state: it is valid, started without queued requests, and its load was served: most requests did not fail.
pub(crate) fn served(kind: LoadKind, record: &TrialRecord) -> bool {
    let Some(measures) = &record.measures else { return false };
    let is_void = matches!(record.outcome, TrialOutcome::Void(_));
    let is_served = match kind {
        LoadKind::Users => true,
        // Requests that wait at the end of the schedule are served after it, so that the throughput is lower.
        LoadKind::Rate => {
            measures.requests as f64 / record.seconds * SERVED_SHARE <= measures.throughput_per_s
        }
    };
    let is_answered = measures.error_share < FAILED_SHARE_MAX;
    !is_void && is_served && is_answered && record.overload.is_none() && measures.throughput_per_s > 0.0
}

/// The trials as measurements for a closed model. Arrivals at a rate are those of many users, whose think time is a multiple of the
/// largest response time, and whose number follows from Little's law: arrivals then hardly depend on responses.
pub(crate) fn load_points(kind: LoadKind, records: &[&TrialRecord]) -> Vec<LoadPoint> {
    let measured: Vec<(&TrialRecord, &TrialMeasures)> =
        records.iter().filter_map(|record| Some((*record, record.measures.as_ref()?))).collect();
    let response_max_s = measured.iter().map(|(_, measures)| measures.response_s).fold(0.0, f64::max);
    let open_think_s = OPEN_THINK * response_max_s;
    let point = |(record, measures): &(&TrialRecord, &TrialMeasures)| {
        let (users, think_s) = match kind {
            LoadKind::Users => (record.load, None),
            LoadKind::Rate => {
                (measures.throughput_per_s * (measures.response_s + open_think_s), Some(open_think_s))
            }
        };
        LoadPoint {
            name: format!("trial {}", record.number),
            users,
            throughput_per_s: measures.throughput_per_s,
            response_s: Some(measures.response_s),
            think_s,
            error_share: Some(measures.error_share),
            seconds: Some(record.seconds),
            ..LoadPoint::default()
        }
    };
    measured.iter().map(point).filter(|point| point.users <= USERS_MAX).collect()
}

/// The knees by the fitted capacity model, and by the Universal Scalability Law.
pub(crate) fn knees(kind: LoadKind, records: &[TrialRecord], seed: u64) -> (Evidence<Knee>, Evidence<Knee>) {
    let used: Vec<&TrialRecord> = records.iter().filter(|record| served(kind, record)).collect();
    let mut loads: Vec<f64> = used.iter().map(|record| record.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < LOADS_MIN {
        let reason = format!(
            "it needs {LOADS_MIN} different loads whose requests were served, and there were {}",
            loads.len()
        );
        return (Evidence::Unavailable(reason.clone()), Evidence::Unavailable(reason));
    }
    let points = load_points(kind, &used);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let model = match CapacityFit::new(&points, &FitSettings::default(), &mut random) {
        Ok(fit) => Evidence::Found(of_model(kind, &fit, loads.len())),
        Err(refusal) => Evidence::Unavailable(refusal.reason),
    };
    let in_system = |point: &LoadPoint| match kind {
        LoadKind::Users => point.users,
        LoadKind::Rate => point.throughput_per_s * point.response_s.unwrap_or_default(),
    };
    let usl_points: Vec<(f64, f64, Option<f64>)> =
        points.iter().map(|point| (in_system(point), point.throughput_per_s, None)).collect();
    let usl = match fit_usl(&usl_points) {
        Some(fit) => Evidence::Found(of_usl(&fit, loads.len())),
        None => Evidence::Unavailable("the throughputs do not determine its parameters".to_owned()),
    };
    (model, usl)
}

fn knee(model: String, users: Option<f64>, capacity: Option<&FittedValue>, loads: usize) -> Knee {
    Knee {
        model,
        users,
        per_s: None,
        capacity_per_s: capacity.map(|capacity| capacity.value),
        capacity_low_per_s: capacity.and_then(|capacity| capacity.low),
        capacity_high_per_s: capacity.and_then(|capacity| capacity.high),
        loads,
    }
}

fn of_model(kind: LoadKind, fit: &CapacityFit, loads: usize) -> Knee {
    let users = fit.headroom.knee_users.map(|knee| knee.value);
    let at_knee = users.map(|users| fit.fitted.model().predict(users, fit.think_s));
    let users = match kind {
        LoadKind::Users => users,
        LoadKind::Rate => at_knee.map(|at| at.throughput_per_s * at.response_s),
    };
    let per_s = at_knee.map(|at| at.throughput_per_s);
    Knee { per_s, ..knee(fit.model.description(), users, fit.headroom.capacity_per_s.as_ref(), loads) }
}

fn of_usl(fit: &UslFit, loads: usize) -> Knee {
    let model = format!("Universal Scalability Law, σ = {:.4}, κ = {:.3e}", fit.curve.sigma, fit.curve.kappa);
    let users = fit.peak_users.map(|peak| peak.value);
    let per_s = users.map(|users| fit.curve.throughput_per_s(users));
    Knee { per_s, ..knee(model, users, fit.throughput_max_per_s.as_ref(), loads) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_requests_are_not_served() {
        let record = |error_share: f64| TrialRecord {
            number: 1,
            purpose: None,
            load: 20.0,
            seconds: 1.0,
            overload: None,
            outcome: TrialOutcome::Passed,
            void_reason: None,
            measures: Some(TrialMeasures {
                requests: 20,
                throughput_per_s: 20.0,
                response_s: 0.001,
                error_share,
                thresholds: Vec::new(),
            }),
            dir: String::new(),
        };
        assert!(served(LoadKind::Rate, &record(0.1)) && served(LoadKind::Users, &record(0.1)));
        assert!(!served(LoadKind::Rate, &record(1.0)) && !served(LoadKind::Users, &record(1.0)));
        let records: Vec<TrialRecord> =
            (1..=8).map(|at| TrialRecord { load: 10.0 * f64::from(at), ..record(1.0) }).collect();
        let (model, usl) = knees(LoadKind::Rate, &records, 1);
        assert!(model.found().is_none() && usl.found().is_none(), "{usl:?}");
    }
}
