//! Tests of the choice of the model, and of the accuracy of predictions near the knee.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// Think time of the users. With the service time and the latency below, the knee is at 61 users.
const THINK_S: f64 = 0.06;
const SERVICE_S: f64 = 0.001;
const LATENCY_S: f64 = 1e-4;
const KNEE: f64 = 61.1;

/// The measured loads as multiples of the knee.
const MEASURED: [f64; 10] = [0.2, 0.35, 0.5, 0.6, 0.68, 1.35, 1.5, 1.7, 2.0, 2.4];
/// The predicted loads near the knee, as multiples of the knee.
const PREDICTED: [f64; 5] = [0.7, 0.85, 1.0, 1.15, 1.3];

/// Number of seeds per system.
const SEEDS: u64 = 40;

fn single_server(scv: f64) -> CapacityModel {
    CapacityModel::SingleServer { service_s: SERVICE_S, scv, latency_s: LATENCY_S }
}

/// Measurements of a model with random errors of the response times and the corresponding throughputs.
fn measured(model: &CapacityModel, parts: &[f64], error: f64, seed: u64) -> Vec<LoadPoint> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut normal = || {
        let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
    };
    parts
        .iter()
        .map(|part| {
            let users = (part * KNEE).round();
            let response_s = model.predict(users, THINK_S).response_s * (error * normal()).exp();
            LoadPoint {
                name: format!("{users} users"),
                users,
                throughput_per_s: users / (response_s + THINK_S),
                response_s: Some(response_s),
                think_s: Some(THINK_S),
                ..LoadPoint::default()
            }
        })
        .collect()
}

fn fit(points: &[LoadPoint], settings: &FitSettings) -> CapacityFit {
    CapacityFit::new(points, settings, &mut Xoshiro256PlusPlus::seed_from_u64(77)).unwrap()
}

/// c² of a model with one server.
fn scv(model: &CapacityModel) -> Option<f64> {
    match model {
        CapacityModel::Queue { servers: 1, .. } => Some(1.0),
        CapacityModel::SingleServer { scv, .. } => Some(*scv),
        _ => None,
    }
}

/// Whether all predictions near the knee are accurate: throughput within 10 %, response time within 25 %.
fn predicts_accurately(found: &CapacityFit, truth: &CapacityModel) -> bool {
    PREDICTED.iter().all(|part| {
        let users = (part * KNEE).round();
        let (predicted, actual) = (found.predict(users, THINK_S), truth.predict(users, THINK_S));
        let is_within = |value: f64, expected: f64, limit: f64| (value / expected - 1.0).abs() <= limit;
        is_within(predicted.throughput_per_s.value, actual.throughput_per_s, 0.10)
            && is_within(predicted.response_s.value, actual.response_s, 0.25)
    })
}

#[test]
fn constant_service_is_distinguished_from_exponential() {
    for (truth, expected) in [(0.0, 0.0..0.35), (1.0, 0.5..1.7)] {
        let model = single_server(truth);
        let (mut chosen, mut simple, mut accurate) = (0, 0, 0);
        for seed in 0..SEEDS {
            let found = fit(&measured(&model, &MEASURED, 0.04, seed), &FitSettings::default());
            chosen += u64::from(scv(&found.model).is_some_and(|scv| expected.contains(&scv)));
            simple += u64::from(scv(&found.model) == Some(truth));
            accurate += u64::from(predicts_accurately(&found, &model));
        }
        assert!(chosen >= SEEDS - 3, "c² {truth}: {chosen} of {SEEDS}");
        assert!(simple >= SEEDS * 3 / 4, "c² {truth}: {simple} of {SEEDS} fits have no parameter c²");
        assert_eq!(accurate, SEEDS, "c² {truth}: all predictions are accurate");
    }
}

#[test]
fn other_variabilities_are_found_if_measurements_suffice() {
    for truth in [0.3, 4.0] {
        let model = single_server(truth);
        let found = fit(&measured(&model, &MEASURED, 0.005, 3), &FitSettings::default());
        let CapacityModel::SingleServer { scv, service_s, .. } = found.model else {
            panic!("{:?}", found.model)
        };
        assert!((scv / truth - 1.0).abs() < 0.15, "{scv}");
        assert!((service_s / SERVICE_S - 1.0).abs() < 0.01);
        let names: Vec<&str> = found.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, ["service time", "latency", "c² of service times"]);
        assert_eq!(found.parameters[2].unit, "");
        assert!(found.parameters[2].fitted.contains(truth), "{:?}", found.parameters[2]);
        assert!(predicts_accurately(&found, &model));
        assert!(found.model.description().contains("c² "), "{}", found.model.description());
        // The file for `capacity verify` has the same parameters.
        let read: FittedModel = serde_json::from_value(found.to_json()["fitted"].clone()).unwrap();
        assert_eq!(read.model(), found.model);
    }
}

#[test]
fn an_implausible_variability_is_reported() {
    let reported = |truth: f64| {
        let found = fit(&measured(&single_server(truth), &MEASURED, 0.005, 3), &FitSettings::default());
        found
            .findings
            .iter()
            .any(|reported| matches!(reported.finding, CapacityFinding::ImplausibleVariability { .. }))
    };
    assert!(reported(20.0) && !reported(4.0));
}

#[test]
fn few_measurements_distinguish_only_constant_from_exponential() {
    for truth in [0.0, 1.0] {
        let found =
            fit(&measured(&single_server(truth), &[0.3, 0.8, 1.0, 1.6], 0.01, 5), &FitSettings::default());
        assert_eq!(scv(&found.model), Some(truth), "{:?}", found.model);
    }
}

#[test]
fn a_given_variability_of_the_service_is_used() {
    let points = measured(&single_server(0.25), &MEASURED, 0.01, 6);
    let known = FitSettings { service_scv: Some(0.25), ..FitSettings::default() };
    let found = fit(&points, &known);
    assert_eq!((scv(&found.model), found.parameters.len()), (Some(0.25), 2));
    assert!((found.parameters[1].fitted.value / LATENCY_S - 1.0).abs() < 0.5, "{:?}", found.parameters);
    let best = fit(&points, &FitSettings { choice: ModelChoice::Best, ..known });
    assert_eq!(scv(&best.model), Some(0.25));
}

#[test]
fn fits_of_older_versions_without_variability_can_be_read() {
    let text = r#"{ "form": { "queue": { "servers": 1 } }, "parameters": [0.01, 0.002], "covariance": null, "freedom": 0.0,
        "at_bound": [false, false], "squares": 0.0, "aicc": null }"#;
    let read: FittedModel = serde_json::from_str(text).unwrap();
    assert_eq!(read.model(), CapacityModel::Queue { servers: 1, service_s: 0.01, latency_s: 0.002 });
}
