//! Helpers for tests against exact results.
#![allow(dead_code, reason = "each test file uses only some of the helpers")]

use busyhour_queueing::network::{
    CustomerClass, PerClass, Place, Queue, QueueingNetwork, Route, Scheduling, Station, StationKind,
    Strategy, TimeLaw,
};
use busyhour_simulation::{SimulationResult, SimulationSettings, simulate};
use busyhour_stats::Estimate;

/// Settings with a confidence of 99.9 % and a fixed seed, so that the result of a test is always the same.
pub fn settings(precision: f64) -> SimulationSettings {
    SimulationSettings { seed: 11, confidence: 0.999, precision, ..SimulationSettings::default() }
}

pub fn run(network: &QueueingNetwork, precision: f64) -> SimulationResult {
    let found = simulate(network, &settings(precision)).unwrap();
    assert_eq!(found.unconverged, [], "{found:#?}");
    found
}

/// A queue with one server.
pub fn queue(name: &str, scheduling: Scheduling, law: TimeLaw) -> Station {
    queue_of(name, Queue { scheduling, ..Queue::new(1, PerClass::Same(law)) })
}

pub fn queue_of(name: &str, queue: Queue) -> Station {
    Station { name: name.into(), kind: StationKind::Queue(queue), visits: PerClass::Same(1.0) }
}

/// One open class that visits the stations in their order.
pub fn open(rate_per_s: f64, stations: Vec<Station>) -> QueueingNetwork {
    QueueingNetwork::new(vec![CustomerClass::open("jobs", rate_per_s)], stations)
}

pub fn closed(users: u64, think_s: f64, stations: Vec<Station>) -> QueueingNetwork {
    QueueingNetwork::new(vec![CustomerClass::closed("users", users, think_s)], stations)
}

pub fn route(from: &str, strategy: Strategy) -> Route {
    Route { from: Place::named(from), classes: Vec::new(), strategy }
}

pub fn places(names: &[&str]) -> Vec<Place> {
    names.iter().map(|name| Place::named(name)).collect()
}

/// Asserts that the interval contains the exact value.
#[track_caller]
pub fn assert_contains(what: &str, found: Option<Estimate>, exact: f64) {
    let found = found.unwrap_or_else(|| panic!("{what} is unknown"));
    let slack = 1e-9 * exact.abs();
    assert!(
        found.low - slack <= exact && exact <= found.high + slack,
        "{what}: {} ± {} does not contain {exact}",
        found.value,
        found.half_width()
    );
}
