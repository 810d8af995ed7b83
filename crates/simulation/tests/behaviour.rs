//! How a simulation ends, and what it reports.

mod common;

use busyhour_queueing::network::{
    Capacity, CustomerClass, PerClass, Queue, QueueingNetwork, Station, Strategy, TimeLaw, WhenFull,
};
use busyhour_simulation::{
    Ending, Measure, Reason, SimulationError, SimulationSettings, SimulationWatch, simulate, simulate_watched,
};

use common::{closed, open, places, queue_of, route};

#[test]
fn the_number_of_threads_changes_nothing() {
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
    let one = with(1);
    assert_eq!(one, with(3));
    assert_eq!(one.ending, Ending::Precise);
    let another_seed = SimulationSettings { precision: 0.05, seed: 2, ..SimulationSettings::default() };
    assert_ne!(one.classes, simulate(&network, &another_seed).unwrap().classes);
}

#[test]
fn it_ends_at_the_bound_and_reports_what_is_unknown() {
    let network = open(0.95, vec![Station::queue("server", 1, 1.0)]);
    let settings =
        SimulationSettings { precision: 0.001, events_max: 100_000, ..SimulationSettings::default() };
    let found = simulate(&network, &settings).unwrap();
    assert_eq!(found.ending, Ending::EventsMax);
    assert!((100_000..100_100).contains(&found.events), "{}", found.events);
    let queue = found
        .unconverged
        .iter()
        .find(|one| one.station.as_deref() == Some("server") && one.measure == Measure::Customers)
        .unwrap();
    assert!(queue.relative.is_some_and(|relative| relative > 0.001), "{queue:?}");
}

#[test]
fn a_rare_visit_is_not_a_known_one() {
    let mut network = open(1.0, vec![Station::queue("often", 1, 0.1), Station::queue("seldom", 1, 0.1)]);
    let shares = places(&["outside", "seldom"]).into_iter().zip([0.9999, 0.0001]).collect();
    network.routes = vec![
        route("outside", Strategy::Random(places(&["often"]))),
        route("often", Strategy::Probabilities(shares)),
        route("seldom", Strategy::Random(places(&["outside"]))),
    ];
    let settings = SimulationSettings { events_max: 200_000, ..SimulationSettings::default() };
    let found = simulate(&network, &settings).unwrap();
    let of_seldom = |measure| {
        found
            .unconverged
            .iter()
            .find(|one| one.station.as_deref() == Some("seldom") && one.measure == measure)
            .map(|one| one.reason)
    };
    assert_eq!(of_seldom(Measure::Response), Some(Reason::TooLittle));
}

#[test]
fn a_saturated_station_is_not_steady() {
    let network = open(1.2, vec![Station::queue("server", 1, 1.0)]);
    let settings = SimulationSettings { events_max: 400_000, ..SimulationSettings::default() };
    let found = simulate(&network, &settings).unwrap();
    assert_eq!(found.ending, Ending::EventsMax);
    let not_steady = |measure| {
        found.unconverged.iter().any(|one| one.measure == measure && one.reason == Reason::NotSteady)
    };
    assert!(not_steady(Measure::Customers) && not_steady(Measure::Response), "{:?}", found.unconverged);
    // What it can do is known well.
    let server = &found.stations[0].total;
    assert!((server.throughput_per_s.unwrap().value - 1.0).abs() < 0.01);
    assert!((server.utilization.unwrap().value - 1.0).abs() < 0.001);
}

#[test]
fn it_can_be_stopped() {
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
fn customers_who_block_each_other_for_ever_are_found() {
    // Both stations full of customers who want to the other.
    let service = PerClass::Same(TimeLaw::Exponential { mean_s: 1.0 });
    let capacity = Some(Capacity { customers: 1, when_full: WhenFull::Block });
    let station = |name: &str| queue_of(name, Queue { capacity, ..Queue::new(1, service.clone()) });
    let mut network = closed(2, 1.0, vec![station("a"), station("b")]);
    // Others continue, so that events do not run out.
    network.classes.push(CustomerClass::open("others", 1.0));
    network.stations.push(Station::queue("c", 1, 0.1));
    let of = |class: &str, from: &str, to: &[&str]| busyhour_queueing::network::Route {
        classes: vec![class.into()],
        ..route(from, Strategy::Random(places(to)))
    };
    network.routes = vec![
        of("users", "outside", &["a", "b"]),
        of("users", "a", &["b", "outside"]),
        of("users", "b", &["a", "outside"]),
        of("others", "outside", &["c"]),
        of("others", "c", &["outside"]),
    ];
    let error = simulate(&network, &SimulationSettings::default()).unwrap_err();
    assert!(matches!(&error, SimulationError::Deadlock { stations, .. } if stations.len() == 2), "{error:?}");
    assert!(error.to_string().contains("at a, b: each waits for room"), "{error}");
}

#[test]
fn stopped_time_is_found() {
    let instant = TimeLaw::Deterministic { mean_s: 0.0 };
    let network = closed(2, 0.0, vec![Station::delay("nothing", instant)]);
    let error = simulate(&network, &SimulationSettings::default()).unwrap_err();
    assert!(matches!(error, SimulationError::Standstill { .. }), "{error:?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let network = open(1.0, vec![Station::queue("server", 1, 0.5)]);
    let refused = |settings: SimulationSettings| {
        matches!(simulate(&network, &settings), Err(SimulationError::Settings(_)))
    };
    let fine = SimulationSettings::default();
    assert!(refused(SimulationSettings { confidence: 1.0, ..fine }));
    assert!(refused(SimulationSettings { precision: 0.0, ..fine }));
    assert!(refused(SimulationSettings { replications: 0, ..fine }));
    assert!(refused(SimulationSettings { events_max: 0, ..fine }));
    let empty = QueueingNetwork::new(Vec::new(), Vec::new());
    assert!(matches!(simulate(&empty, &fine), Err(SimulationError::Network(_))));
}
