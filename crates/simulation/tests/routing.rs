//! Routing strategies with 150 users, a think time of 0.7 s and two servers. The expected values are from independent
//! simulators.

mod common;

use busyhour_queueing::network::{
    ClassLoad, CustomerClass, LoadRange, PerClass, Place, Queue, QueueingNetwork, Station, Strategy, TimeLaw,
};
use busyhour_simulation::{SimulationSettings, simulate};

use common::{closed, places, queue_of, route, run};

const USERS: u64 = 150;
const SERVERS: [&str; 2] = ["server 1", "server 2"];

fn two_servers(strategy: Strategy) -> QueueingNetwork {
    let server = |name: &&str| Station::queue(*name, 1, 1.0 / 135.491_597_2);
    let mut network = closed(USERS, 0.7, SERVERS.iter().map(server).collect());
    network.classes[0].load =
        ClassLoad::Closed { users: USERS, think: TimeLaw::Deterministic { mean_s: 0.7 } };
    network.routes = vec![route("outside", strategy)];
    for name in SERVERS {
        network.routes.push(route(name, Strategy::Random(places(&["outside"]))));
    }
    network
}

/// The simulated throughput.
fn throughput(strategy: Strategy) -> f64 {
    let settings = SimulationSettings { precision: 0.01, ..common::settings(0.01) };
    let network = two_servers(strategy);
    let found = simulate(&network, &settings).unwrap();
    let rate = found.classes[0].throughput_per_s.unwrap();
    assert!(rate.half_width() < 0.002 * rate.value, "{rate:?}");
    // Little's law and the response time law.
    let response_s = found.classes[0].response_s.unwrap().value;
    assert!((rate.value * (0.7 + response_s) / USERS as f64 - 1.0).abs() < 0.002, "{rate:?} {response_s}");
    rate.value
}

#[test]
fn strategies_have_the_expected_throughput() {
    let to = || places(&SERVERS);
    let random = throughput(Strategy::Random(to()));
    assert!((random - 205.857).abs() < 0.25, "random {random}");
    let response = throughput(Strategy::ShortestResponseTime(to()));
    assert!((response - 207.70).abs() < 0.25, "shortest response time {response}");
    let round_robin = throughput(Strategy::RoundRobin(to()));
    assert!((round_robin - 207.77).abs() < 0.25, "round robin {round_robin}");
    let utilization = throughput(Strategy::LeastUtilization(to()));
    assert!((utilization - 208.25).abs() < 0.25, "least utilization {utilization}");
    let shortest = throughput(Strategy::JoinShortestQueue(to()));
    assert!((shortest - 209.00).abs() < 0.25, "shortest queue {shortest}");
    assert!(random < round_robin && round_robin < utilization && utilization < shortest);
    // The upper bound is one queue for both servers: 209.195.
    assert!(shortest < 209.3, "{shortest}");
    // With k = 2 the shorter queue is chosen; k = 1 is random.
    let power = |k, with_memory| throughput(Strategy::PowerOfK { k, with_memory, to: to() });
    assert!((power(2, false) - shortest).abs() < 0.25 && (power(1, false) - random).abs() < 0.25);
    assert!(power(1, true) > random + 1.0, "a memory increases the throughput");
}

#[test]
fn weights_and_probabilities_determine_the_shares() {
    let share = |strategy: Strategy| {
        let found = run(&two_servers(strategy), 0.02);
        let rate = |at: usize| found.stations[at].total.throughput_per_s.unwrap().value;
        rate(0) / (rate(0) + rate(1))
    };
    let weighted = places(&SERVERS).into_iter().zip([3, 2]).collect();
    assert!((share(Strategy::WeightedRoundRobin(weighted)) - 0.6).abs() < 0.001);
    let shares = places(&SERVERS).into_iter().zip([0.7, 0.3]).collect();
    assert!((share(Strategy::Probabilities(shares)) - 0.7).abs() < 0.01);
}

#[test]
fn fastest_service_prefers_idle_servers_then_fast_ones() {
    let mut network = two_servers(Strategy::FastestService(places(&SERVERS)));
    let slow = Queue::new(1, PerClass::Same(TimeLaw::Deterministic { mean_s: 0.05 }));
    let fast = Queue::new(1, PerClass::Same(TimeLaw::Deterministic { mean_s: 0.01 }));
    network.stations = vec![queue_of(SERVERS[0], slow), queue_of(SERVERS[1], fast)];
    network.classes[0].load = ClassLoad::Closed { users: 40, think: TimeLaw::Exponential { mean_s: 0.7 } };
    let found = run(&network, 0.02);
    let rate = |at: usize| found.stations[at].total.throughput_per_s.unwrap().value;
    assert!(rate(1) > 3.0 * rate(0) && rate(0) > 1.0, "{} {}", rate(0), rate(1));
}

#[test]
fn load_dependent_probabilities() {
    // All customers visit the first server. If other customers remain there when a customer departs, the customer also
    // visits the second server.
    let mut network = two_servers(Strategy::Random(places(&SERVERS[..1])));
    network.classes[0].load = ClassLoad::Closed { users: 1, think: TimeLaw::Exponential { mean_s: 1.0 } };
    let range = |from, to: &str| LoadRange { from, to: [(Place::named(to), 1.0)].into() };
    network.routes[1].strategy = Strategy::LoadDependent(vec![range(0, "outside"), range(2, SERVERS[1])]);
    let alone = run(&network, 0.02);
    assert_eq!(
        alone.stations[1].total.throughput_per_s, None,
        "with a single user, no other customer remains"
    );
    network.classes[0].load = ClassLoad::Closed { users: 150, think: TimeLaw::Exponential { mean_s: 0.1 } };
    network.stations[1] = Station::queue(SERVERS[1], 1, 0.003);
    let many = run(&network, 0.02);
    let rate = |at: usize| many.stations[at].total.throughput_per_s.unwrap().value;
    assert!(rate(1) > 0.98 * rate(0), "{} {}", rate(0), rate(1));
}

#[test]
fn common_random_numbers_reduce_the_variance_of_a_difference() {
    // With the same arrivals, the difference between two strategies varies less than with different seeds.
    let response_s = |strategy: Strategy, seed| {
        let mut network = two_servers(strategy);
        network.classes = vec![CustomerClass::open("users", 220.0)];
        let settings =
            SimulationSettings { seed, events_max: 40_000, replications: 1, ..SimulationSettings::default() };
        simulate(&network, &settings).unwrap().classes[0].response_s.unwrap().value
    };
    let round_robin = |seed| response_s(Strategy::RoundRobin(places(&SERVERS)), seed);
    let shortest = |seed| response_s(Strategy::JoinShortestQueue(places(&SERVERS)), seed);
    let squares = |differences: Vec<f64>| {
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>()
    };
    let common = squares((0..20).map(|seed| round_robin(seed) - shortest(seed)).collect());
    let independent = squares((0..20).map(|seed| round_robin(seed) - shortest(seed + 100)).collect());
    assert!(common < independent, "{common} {independent}");
}
