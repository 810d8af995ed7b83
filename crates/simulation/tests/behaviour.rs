//! The ends of simulations, and their reports.

mod common;

use busyhour_queueing::network::{
    Capacity, CustomerClass, PerClass, Queue, QueueingNetwork, Station, Strategy, TimeLaw, WhenFull,
};
use busyhour_simulation::{
    Ending, MeasureKind, Reason, SimulationError, SimulationSettings, SimulationWatch, simulate,
    simulate_watched,
};

use common::{closed, open, places, queue_of, route};

#[test]
fn the_number_of_threads_does_not_affect_the_result() {
    let network = open(0.8, vec![Station::queue("a", 1, 1.0), Station::queue("b", 2, 1.5)]);
    let with = |threads| {
        let settings = SimulationSettings {
            precision: 0.05,
            replications: 5,
            threads: Some(threads),
            ..SimulationSettings::default()
        };
        simulate(&network, &settings).unwrap()
    };
    let result = with(1);
    assert_eq!(result, with(3));
    assert_eq!(result.ending, Ending::Precise);
    let another_seed = SimulationSettings { precision: 0.05, seed: 2, ..SimulationSettings::default() };
    assert_ne!(result.classes, simulate(&network, &another_seed).unwrap().classes);
}

#[test]
fn a_simulation_ends_at_the_maximum_number_of_events() {
    let network = open(0.95, vec![Station::queue("server", 1, 1.0)]);
    let settings =
        SimulationSettings { precision: 0.001, events_max: 100_000, ..SimulationSettings::default() };
    let found = simulate(&network, &settings).unwrap();
    assert_eq!(found.ending, Ending::EventsMax);
    assert!((100_000..100_100).contains(&found.events), "{}", found.events);
    let queue = found
        .unconverged
        .iter()
        .find(|item| item.station.as_deref() == Some("server") && item.measure == MeasureKind::Customers)
        .unwrap();
    assert!(queue.relative.is_some_and(|relative| relative > 0.001), "{queue:?}");
}

#[test]
fn rare_visits_are_too_few_for_an_interval() {
    let mut network = open(1.0, vec![Station::queue("often", 1, 0.1), Station::queue("seldom", 1, 0.1)]);
    let shares = places(&["outside", "seldom"]).into_iter().zip([0.9999, 0.0001]).collect();
    network.routes = vec![
        route("outside", Strategy::Random(places(&["often"]))),
        route("often", Strategy::Probabilities(shares)),
        route("seldom", Strategy::Random(places(&["outside"]))),
    ];
    let settings = SimulationSettings { events_max: 200_000, ..SimulationSettings::default() };
    let found = simulate(&network, &settings).unwrap();
    let reason = |measure| {
        found
            .unconverged
            .iter()
            .find(|item| item.station.as_deref() == Some("seldom") && item.measure == measure)
            .map(|item| item.reason)
    };
    assert_eq!(reason(MeasureKind::Response), Some(Reason::TooLittle));
}

#[test]
fn a_saturated_station_is_not_steady() {
    let network = open(1.2, vec![Station::queue("server", 1, 1.0)]);
    let settings = SimulationSettings { events_max: 400_000, ..SimulationSettings::default() };
    let found = simulate(&network, &settings).unwrap();
    assert_eq!(found.ending, Ending::EventsMax);
    let not_steady = |measure| {
        found.unconverged.iter().any(|item| item.measure == measure && item.reason == Reason::NotSteady)
    };
    assert!(
        not_steady(MeasureKind::Customers) && not_steady(MeasureKind::Response),
        "{:?}",
        found.unconverged
    );
    // Its throughput and utilization are precise.
    let server = &found.stations[0].total;
    assert!((server.throughput_per_s.unwrap().value - 1.0).abs() < 0.01);
    assert!((server.utilization.unwrap().value - 1.0).abs() < 0.001);
}

#[test]
fn a_simulation_can_be_stopped() {
    let network = open(0.9, vec![Station::queue("server", 1, 1.0)]);
    let settings = SimulationSettings { precision: 1e-6, ..SimulationSettings::default() };
    let watch = SimulationWatch::default();
    let found = std::thread::scope(|scope| {
        let simulation = scope.spawn(|| simulate_watched(&network, &settings, &watch));
        while watch.events() < 1_000_000 {
            std::thread::yield_now();
        }
        watch.stop();
        simulation.join().unwrap().unwrap()
    });
    assert_eq!(found.ending, Ending::Stopped);
    assert!(found.events >= 1_000_000 && found.classes[0].response_s.is_some());
    assert!(!found.unconverged.is_empty());
}

#[test]
fn deadlocks_are_detected() {
    // Both stations are full of customers that are routed to the other station.
    let service = PerClass::Same(TimeLaw::Exponential { mean_s: 1.0 });
    let capacity = Some(Capacity { customers: 1, when_full: WhenFull::Block });
    let station = |name: &str| queue_of(name, Queue { capacity, ..Queue::new(1, service.clone()) });
    let mut network = closed(2, 1.0, vec![station("a"), station("b")]);
    // Another class continues, so that there are always events.
    network.classes.push(CustomerClass::open("others", 1.0));
    network.stations.push(Station::queue("c", 1, 0.1));
    let class_route = |class: &str, from: &str, to: &[&str]| busyhour_queueing::network::Route {
        classes: vec![class.into()],
        ..route(from, Strategy::Random(places(to)))
    };
    network.routes = vec![
        class_route("users", "outside", &["a", "b"]),
        class_route("users", "a", &["b", "outside"]),
        class_route("users", "b", &["a", "outside"]),
        class_route("others", "outside", &["c"]),
        class_route("others", "c", &["outside"]),
    ];
    let error = simulate(&network, &SimulationSettings::default()).unwrap_err();
    assert!(matches!(&error, SimulationError::Deadlock { stations, .. } if stations.len() == 2), "{error:?}");
    assert!(error.to_string().contains("at a, b: each customer waits for room"), "{error}");
}

#[test]
fn loops_without_simulated_time_are_detected() {
    let instant = TimeLaw::Deterministic { mean_s: 0.0 };
    let network = closed(2, 0.0, vec![Station::delay("nothing", instant)]);
    let error = simulate(&network, &SimulationSettings::default()).unwrap_err();
    assert!(matches!(error, SimulationError::Standstill { .. }), "{error:?}");
}

#[test]
fn invalid_settings_and_networks_are_rejected() {
    let network = open(1.0, vec![Station::queue("server", 1, 0.5)]);
    let is_rejected = |settings: SimulationSettings| {
        matches!(simulate(&network, &settings), Err(SimulationError::Settings(_)))
    };
    let valid = SimulationSettings::default();
    assert!(is_rejected(SimulationSettings { confidence: 1.0, ..valid }));
    assert!(is_rejected(SimulationSettings { precision: 0.0, ..valid }));
    assert!(is_rejected(SimulationSettings { replications: 0, ..valid }));
    assert!(is_rejected(SimulationSettings { events_max: 0, ..valid }));
    let empty = QueueingNetwork::new(Vec::new(), Vec::new());
    assert!(matches!(simulate(&empty, &valid), Err(SimulationError::Network(_))));
}
