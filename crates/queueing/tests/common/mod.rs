//! Coverage studies: simulate measurements of systems with known capacity, and count how often the intervals of fits contain
//! the true values.

use busyhour_queueing::fit::{
    CapacityFinding, CapacityFit, CapacityModel, FitSettings, FittedValue, LoadPoint,
};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The think time of users in all systems.
pub const THINK_S: f64 = 1.0;

/// Standard deviations of the logarithms of simulated throughputs and response times.
pub const THROUGHPUT_ERROR: f64 = 0.01;
pub const RESPONSE_ERROR: f64 = 0.04;

/// Loads as fractions of the knee.
const PAST_KNEE: [f64; 7] = [0.2, 0.5, 0.8, 1.0, 1.2, 1.6, 2.2];
const BELOW_KNEE: [f64; 7] = [0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8];

/// A system, the measured loads, and the input of the fit.
pub struct Scenario {
    pub name: &'static str,
    pub truth: CapacityModel,
    pub loads: &'static [f64],
    pub servers: Option<u32>,
    /// Whether the measurements have standard errors.
    pub with_errors: bool,
}

/// Numbers of fits whose intervals contain the true value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Coverage {
    pub seeds: u64,
    pub capacity: u64,
    pub knee: u64,
    /// Fits whose intervals of X and R all contain the true values at the knee and 15 % below and above it.
    pub curve: u64,
    /// Fits with the finding that the loads do not determine the capacity.
    pub warned: u64,
    /// Fits whose capacity has an upper end.
    pub bounded: u64,
    /// Mean relative width of intervals of the capacity with both ends.
    pub width: f64,
}

fn queue(servers: u32) -> CapacityModel {
    CapacityModel::Queue { servers, service_s: 0.01 * f64::from(servers), latency_s: 0.02 }
}

fn single(scv: f64) -> CapacityModel {
    CapacityModel::SingleServer { service_s: 0.01, scv, latency_s: 0.02 }
}

fn two_queues() -> CapacityModel {
    CapacityModel::Queues { demands_s: vec![0.01, 0.008], latency_s: 0.005 }
}

/// The systems of the study.
pub fn scenarios() -> Vec<Scenario> {
    let scenario =
        |name, truth, loads, servers, with_errors| Scenario { name, truth, loads, servers, with_errors };
    vec![
        scenario("1 server, known", queue(1), &PAST_KNEE, Some(1), true),
        scenario("1 server, known, no errors stated", queue(1), &PAST_KNEE, Some(1), false),
        scenario("1 server", queue(1), &PAST_KNEE, None, true),
        scenario("1 server, no errors stated", queue(1), &PAST_KNEE, None, false),
        scenario("4 servers", queue(4), &PAST_KNEE, None, true),
        scenario("4 servers, no errors stated", queue(4), &PAST_KNEE, None, false),
        scenario("1 server, constant service", single(0.0), &PAST_KNEE, None, true),
        scenario("1 server, c² 4", single(4.0), &PAST_KNEE, None, true),
        scenario("2 queues", two_queues(), &PAST_KNEE, None, true),
        scenario("2 queues, no errors stated", two_queues(), &PAST_KNEE, None, false),
        scenario("1 server, below the knee", queue(1), &BELOW_KNEE, None, true),
        scenario("4 servers, below the knee", queue(4), &BELOW_KNEE, None, true),
        scenario("2 queues, below the knee", two_queues(), &BELOW_KNEE, None, true),
        scenario("2 queues, below the knee, no errors stated", two_queues(), &BELOW_KNEE, None, false),
    ]
}

pub fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// Simulates measurements with independent errors of X and R.
pub fn measurements(
    truth: &CapacityModel,
    users: &[f64],
    with_errors: bool,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<LoadPoint> {
    users
        .iter()
        .map(|&users| {
            let found = truth.predict(users, THINK_S);
            let throughput_per_s = found.throughput_per_s * (THROUGHPUT_ERROR * normal(random)).exp();
            let response_s = found.response_s * (RESPONSE_ERROR * normal(random)).exp();
            LoadPoint {
                name: format!("{users} users"),
                users,
                throughput_per_s,
                response_s: Some(response_s),
                throughput_error: with_errors.then_some(THROUGHPUT_ERROR * throughput_per_s),
                response_error_s: with_errors.then_some(RESPONSE_ERROR * response_s),
                think_s: Some(THINK_S),
                ..LoadPoint::default()
            }
        })
        .collect()
}

fn contains(value: Option<&FittedValue>, truth: f64) -> bool {
    value.is_some_and(|value| value.contains(truth))
}

/// Fits models to `seeds` data sets of a system.
pub fn study(scenario: &Scenario, seeds: u64) -> Coverage {
    let bounds = scenario.truth.bounds(THINK_S).expect("a network of queues");
    let knee = bounds.knee_users;
    let users: Vec<f64> = scenario.loads.iter().map(|part| (part * knee).round()).collect();
    let settings = FitSettings { servers: scenario.servers, ..FitSettings::default() };
    let mut found = Coverage { seeds, ..Coverage::default() };
    for seed in 0..seeds {
        let points = measurements(&scenario.truth, &users, scenario.with_errors, &mut random(seed));
        let fit = CapacityFit::new(&points, &settings, &mut random(1)).expect("seven loads suffice");
        let capacity = fit.headroom.capacity_per_s;
        found.capacity += u64::from(contains(capacity.as_ref(), bounds.throughput_max_per_s));
        found.knee += u64::from(contains(fit.headroom.knee_users.as_ref(), knee));
        let near_knee = [0.85, 1.0, 1.15].map(|part| (part * knee).round());
        found.curve += u64::from(near_knee.iter().all(|&users| {
            let (predicted, actual) = (fit.predict(users, THINK_S), scenario.truth.predict(users, THINK_S));
            predicted.throughput_per_s.contains(actual.throughput_per_s)
                && predicted.response_s.contains(actual.response_s)
        }));
        found.warned += u64::from(warns(&fit));
        if let Some((low, high)) = capacity.and_then(|capacity| capacity.low.zip(capacity.high)) {
            found.bounded += 1;
            found.width += (high - low) / bounds.throughput_max_per_s;
        }
    }
    found.width /= found.bounded.max(1) as f64;
    found
}

fn warns(fit: &CapacityFit) -> bool {
    fit.findings.iter().any(|reported| {
        matches!(
            reported.finding,
            CapacityFinding::NotNearSaturation { .. } | CapacityFinding::CapacityNotDetermined { .. }
        )
    })
}
