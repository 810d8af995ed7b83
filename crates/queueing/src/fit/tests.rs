//! Tests of complete fits to simulated measurements with known parameters.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

const TRUTH: CapacityModel = CapacityModel::Queue { servers: 1, service_s: 0.01, latency_s: 0.02 };

/// The measured numbers of users, who think for a second. The knee is at 103 users.
const LOADS: [f64; 7] = [20.0, 50.0, 80.0, 100.0, 120.0, 160.0, 220.0];

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// A measurement of a model with a random error of its response time and the corresponding throughput.
fn measured(
    model: &CapacityModel,
    users: f64,
    error: f64,
    with_errors: bool,
    random: &mut Xoshiro256PlusPlus,
) -> LoadPoint {
    let think_s = 1.0;
    let response_s = model.predict(users, think_s).response_s * (error * normal(random)).exp();
    let throughput_per_s = users / (response_s + think_s);
    LoadPoint {
        name: format!("{users} users"),
        users,
        throughput_per_s,
        response_s: Some(response_s),
        // dX/X = −dR/(R + Z).
        throughput_error: with_errors
            .then_some(error * response_s / (response_s + think_s) * throughput_per_s),
        response_error_s: with_errors.then_some(error * response_s),
        think_s: Some(think_s),
        ..LoadPoint::default()
    }
}

fn all_loads(model: &CapacityModel, error: f64, with_errors: bool, seed: u64) -> Vec<LoadPoint> {
    let mut random = random(seed);
    LOADS.iter().map(|&users| measured(model, users, error, with_errors, &mut random)).collect()
}

fn fit(points: &[LoadPoint], settings: &FitSettings) -> CapacityFit {
    CapacityFit::new(points, settings, &mut random(77)).unwrap()
}

fn with_servers(servers: u32) -> FitSettings {
    FitSettings { servers: Some(servers), ..FitSettings::default() }
}

#[test]
fn intervals_have_their_nominal_coverage() {
    const SEEDS: u64 = 100;
    for with_errors in [true, false] {
        let (mut service, mut latency, mut curve) = (0, 0, 0);
        for seed in 0..SEEDS {
            let found = fit(&all_loads(&TRUTH, 0.03, with_errors, seed), &with_servers(1));
            service += u64::from(found.parameters[0].fitted.contains(0.01));
            latency += u64::from(found.parameters[1].fitted.contains(0.02));
            let near_knee = found.predict(110.0, 1.0).response_s;
            curve += u64::from(near_knee.contains(TRUTH.predict(110.0, 1.0).response_s));
        }
        // 95 %, minus three standard errors of this share.
        for (what, contained) in [("service time", service), ("latency", latency), ("curve", curve)] {
            let share = contained as f64 / SEEDS as f64;
            assert!(share >= 0.95 - 0.065, "{what}, errors known: {with_errors}: {share}");
        }
    }
}

#[test]
fn the_interval_of_the_capacity_follows_from_the_service_time() {
    for seed in 0..20 {
        let truth = CapacityModel::Queue { servers: 4, service_s: 0.04, latency_s: 0.005 };
        let found = fit(&all_loads(&truth, 0.01, false, seed), &with_servers(4));
        let service = found.parameters[0].fitted;
        let capacity = found.headroom.capacity_per_s.unwrap();
        for (end, service_end) in [(capacity.low, service.high), (capacity.high, service.low)] {
            let expected = 4.0 / service_end.unwrap();
            assert!((end.unwrap() / expected - 1.0).abs() < 3e-3, "{seed}: {capacity:?} {service:?}");
        }
        assert!(
            capacity.low.unwrap() < capacity.value,
            "{seed}: the lower end is below the estimate, not the noisy maximum"
        );
    }
}

#[test]
fn the_curve_approaches_the_capacity_with_its_interval() {
    for (servers, seed) in [(1, 3), (2, 4), (4, 5)] {
        let truth = CapacityModel::Queue { servers, service_s: 0.01 * f64::from(servers), latency_s: 0.02 };
        let fit = fit(&all_loads(&truth, 0.05, true, seed), &FitSettings::default());
        let capacity = fit.headroom.capacity_per_s.unwrap();
        for point in &fit.curve {
            let x = point.throughput_per_s;
            let (low, high) = (x.low.unwrap(), x.high.unwrap());
            assert!(low <= x.value && x.value <= high, "{point:?}");
            // The interval does not exceed that of the capacity, and is not relatively wider.
            assert!(capacity.high.is_none_or(|end| high <= end * (1.0 + 1e-9)), "{point:?} {capacity:?}");
            assert!(low / x.value >= capacity.low.unwrap() / capacity.value - 1e-9, "{point:?} {capacity:?}");
            let r = point.response_s;
            assert!(r.low.unwrap() <= r.value && r.value <= r.high.unwrap(), "{point:?}");
        }
        // The throughput of a saturated system is the capacity.
        let saturated = fit.predict(100.0 * capacity.value, 1.0).throughput_per_s;
        assert!((saturated.value / capacity.value - 1.0).abs() < 1e-3, "{saturated:?} {capacity:?}");
        assert!(saturated.low.unwrap() >= capacity.low.unwrap() * (1.0 - 1e-3), "{saturated:?} {capacity:?}");
        assert!(
            fit.parameters
                .iter()
                .all(|parameter| !parameter.includes_other_models || servers > 1 || parameter.unit == "s")
        );
    }
}

#[test]
fn the_capacity_is_at_least_the_measured_throughput_minus_its_error() {
    let mut random = random(5);
    let light: Vec<LoadPoint> = [5.0, 10.0, 15.0, 20.0]
        .iter()
        .map(|&users| measured(&TRUTH, users, 0.05, true, &mut random))
        .collect();
    let found = fit(&light, &FitSettings::default());
    let low = found.headroom.capacity_per_s.unwrap().low.unwrap();
    let best = light.iter().map(|point| point.throughput_per_s).fold(0.0, f64::max);
    assert!(low > 0.9 * best, "{low} {best}");
}

#[test]
fn the_number_of_servers_is_found() {
    for servers in [1, 4] {
        let truth = CapacityModel::Queue { servers, service_s: 0.01 * f64::from(servers), latency_s: 0.005 };
        let found = fit(&all_loads(&truth, 0.002, true, 3), &FitSettings::default());
        let CapacityModel::Queue { servers: fitted, service_s, .. } = found.model else {
            panic!("{found:?}")
        };
        assert_eq!(fitted, servers, "{:?}", found.findings);
        assert!((service_s / (0.01 * f64::from(servers)) - 1.0).abs() < 0.02);
        assert_eq!(found.method, FitMethod::LeastSquares);
    }
}

#[test]
fn two_queues_are_distinguished_from_one() {
    let truth = CapacityModel::Queues { demands_s: vec![0.01, 0.008], latency_s: 0.001 };
    let found = fit(&all_loads(&truth, 0.001, true, 4), &FitSettings::default());
    let CapacityModel::Queues { demands_s, .. } = &found.model else { panic!("{:?}", found.model) };
    assert!(
        (demands_s[0] / 0.01 - 1.0).abs() < 0.01 && (demands_s[1] / 0.008 - 1.0).abs() < 0.15,
        "{demands_s:?}"
    );
}

#[test]
fn without_saturation_the_capacity_has_no_upper_end() {
    let mut random = random(5);
    let light: Vec<LoadPoint> = [5.0, 10.0, 15.0, 20.0, 25.0]
        .iter()
        .map(|&users| measured(&TRUTH, users, 0.05, true, &mut random))
        .collect();
    let found = fit(&light, &with_servers(1));
    assert!(
        found
            .findings
            .iter()
            .any(|reported| matches!(reported.finding, CapacityFinding::NotNearSaturation { .. })),
        "{:?}",
        found.findings
    );
    let capacity = found.headroom.capacity_per_s.unwrap();
    assert_eq!(capacity.high, None);
    assert!(
        capacity.low.is_some_and(|low| low >= 24.0),
        "the capacity is at least the measured throughput: {capacity:?}"
    );
    assert_eq!(found.headroom.knee_users.and_then(|knee| knee.high), None);
}

#[test]
fn repeated_runs_have_a_bootstrap_interval() {
    let mut random = random(6);
    let points: Vec<LoadPoint> = [30.0, 80.0, 100.0, 130.0, 200.0]
        .iter()
        .flat_map(|&users| [users; 3])
        .map(|users| measured(&TRUTH, users, 0.03, false, &mut random))
        .collect();
    let found = fit(&points, &with_servers(1));
    let (low, high) = found.parameters[0].bootstrap.unwrap();
    assert!(low < 0.01 && 0.01 < high && high - low < 0.002, "{low} {high}");
    assert!(fit(&points[..12], &with_servers(1)).parameters[0].bootstrap.is_some());
    assert_eq!(
        fit(&points[..13], &with_servers(1)).parameters[0].bootstrap,
        None,
        "one load was measured only once"
    );
}

#[test]
fn recorded_utilization_determines_the_demands() {
    let truth = CapacityModel::Queues { demands_s: vec![0.008, 0.005], latency_s: 0.01 };
    let mut points = all_loads(&truth, 0.01, true, 7);
    for point in &mut points {
        let used = |resource: &str, demand_s: f64| Utilization {
            resource: resource.into(),
            share: demand_s * point.throughput_per_s,
        };
        point.utilization = vec![used("disk", 0.005), used("cpu", 0.008)];
    }
    let found = fit(&points, &FitSettings::default());
    assert_eq!(found.method, FitMethod::UtilizationLaw);
    assert_eq!(
        found.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<Vec<_>>(),
        ["demand at disk", "demand at cpu", "latency"]
    );
    assert!((found.bounds.unwrap().throughput_max_per_s - 125.0).abs() < 0.1);
    assert!((found.parameters[2].fitted.value - 0.01).abs() < 0.002, "{:?}", found.parameters);
}

/// The measurements of the seed study: users, throughput, response time in ms, share of failed requests.
fn seed_study(rows: &[(f64, f64, Option<f64>, f64)]) -> Vec<LoadPoint> {
    rows.iter()
        .map(|&(users, throughput_per_s, response_ms, failed)| LoadPoint {
            name: format!("{users} users"),
            users,
            throughput_per_s,
            response_s: response_ms.map(|ms| ms / 1e3),
            error_share: Some(failed),
            think_s: Some(0.7),
            ..LoadPoint::default()
        })
        .collect()
}

#[test]
fn the_table_of_the_seed_study_is_reproduced() {
    let config_3 = seed_study(&[
        (50.0, 135.49, Some(64.0), 0.0),
        (100.0, 157.0, None, 0.0),
        (200.0, 148.2, Some(1907.0), 0.0),
        (500.0, 127.0, None, 0.03),
    ]);
    let config_5 = seed_study(&[
        (50.0, 106.26, Some(250.0), 0.0),
        (100.0, 106.0, None, 0.0),
        (200.0, 109.0, Some(2684.0), 0.0),
        (500.0, 98.0, None, 0.07),
    ]);
    for (points, table) in [
        (config_3, ["135.73/37", "157.0/574", "157.0/1848", "157.0/5669"]),
        (config_5, ["108.85/219", "109.0/1135", "109.0/2970", "109.0/8474"]),
    ] {
        let found = fit(&points, &FitSettings::default());
        assert_eq!((found.users_times, found.method), (2, FitMethod::BestThroughput));
        let rows: Vec<String> = found
            .points
            .iter()
            .enumerate()
            .map(|(at, point)| {
                let response_ms = point.model_response_s * 1e3;
                // The table has two decimals for the load at which the model is not saturated.
                if at == 0 {
                    format!("{:.2}/{response_ms:.0}", point.model_throughput_per_s)
                } else {
                    format!("{:.1}/{response_ms:.0}", point.model_throughput_per_s)
                }
            })
            .collect();
        assert_eq!(rows, table);
    }
}

#[test]
fn samples_entered_as_users_are_rejected() {
    let samples_as_users =
        [LoadPoint { users: 34_281.0, ..seed_study(&[(50.0, 135.49, Some(64.0), 0.0)]).remove(0) }];
    let refusal = CapacityFit::new(&samples_as_users, &FitSettings::default(), &mut random(1)).unwrap_err();
    assert_eq!(refusal.to_string(), "no measurement is usable");
    assert!(matches!(refusal.findings[0].finding, CapacityFinding::SamplesAsUsers { .. }), "{refusal:?}");
}

#[test]
fn the_scalability_law_describes_a_decrease() {
    let truth = UslCurve { lambda_per_s: 20.0, sigma: 0.02, kappa: 0.0005 };
    let points: Vec<LoadPoint> = [1.0, 5.0, 10.0, 20.0, 40.0, 60.0, 90.0]
        .iter()
        .map(|&users| LoadPoint {
            users,
            throughput_per_s: truth.throughput_per_s(users),
            response_s: Some(users / truth.throughput_per_s(users)),
            think_s: Some(0.0),
            ..LoadPoint::default()
        })
        .collect();
    let found = fit(&points, &FitSettings { choice: ModelChoice::Usl, ..FitSettings::default() });
    assert!(
        found
            .findings
            .iter()
            .any(|reported| matches!(reported.finding, CapacityFinding::ThroughputFalls { .. }))
    );
    let peak = found.headroom.knee_users.unwrap();
    assert!((peak.value - (0.98_f64 / 0.0005).sqrt()).abs() < 0.1, "{peak:?}");
    // All points are fitted, and Little's law holds.
    let last = found.points.last().unwrap();
    assert!((last.model_throughput_per_s * last.model_response_s - 90.0).abs() < 1e-6);
}

#[test]
fn the_maximum_number_of_users_for_a_response_time() {
    let points = all_loads(&TRUTH, 0.0, false, 9);
    let settings = FitSettings { response_max_s: Some(0.5), ..with_servers(1) };
    let users = fit(&points, &settings).headroom.users_within_response.unwrap();
    let response_s = |users: f64| TRUTH.predict(users, 1.0).response_s;
    assert!(response_s(users) <= 0.5 + 1e-3 && response_s(users + 2.0) > 0.5, "{users}");
    let impossible = FitSettings { response_max_s: Some(0.01), ..with_servers(1) };
    assert_eq!(fit(&points, &impossible).headroom.users_within_response, Some(0.0));
}
