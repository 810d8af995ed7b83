//! Written files can be read again, and have the same solution.

use busyhour_jmt::{read, to_jmva, to_jsimg};
use busyhour_queueing::network::{
    ClassLoad, CustomerClass, PerClass, QueueingNetwork, Scheduling, Station, StationKind,
    Strategy as Choice, TimeLaw,
};
use busyhour_queueing::solve::{Solution, SolveSettings, solve};
use proptest::prelude::*;

fn solved(network: &QueueingNetwork) -> Solution {
    solve(network, SolveSettings::default()).unwrap()
}

fn read_back(text: &str) -> QueueingNetwork {
    let model = read(text.as_bytes(), "written").unwrap();
    assert_eq!(model.notes, []);
    assert_eq!(model.network.validate(), []);
    model.network
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
        "{what}: {found} instead of {expected}"
    );
}

/// Compares X, R and Q of each class, and U and Q of each visited station.
fn assert_same(found: &Solution, expected: &Solution) {
    assert_eq!(found.classes.len(), expected.classes.len());
    for (found, expected) in found.classes.iter().zip(&expected.classes) {
        assert_eq!(found.name, expected.name);
        assert_near(found.throughput_per_s, expected.throughput_per_s, "X");
        assert_near(found.response_s.unwrap_or_default(), expected.response_s.unwrap_or_default(), "R");
        assert_near(found.in_system, expected.in_system, "Q");
    }
    for station in expected.stations.iter().filter(|station| station.queue > 0.0) {
        let same = found.stations.iter().find(|other| other.name == station.name).unwrap();
        assert_near(same.queue, station.queue, &station.name);
        assert_near(
            same.utilization.unwrap_or_default(),
            station.utilization.unwrap_or_default(),
            &station.name,
        );
    }
}

#[test]
fn the_examples_have_the_same_solution() {
    for name in ["mm1", "web-shop", "two-classes", "seed-study", "seed-study-two-servers"] {
        let path = format!("{}/../../plans/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let network: QueueingNetwork = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let expected = solved(&network);
        assert_same(&solved(&read_back(&to_jsimg(&network, name).unwrap())), &expected);
        assert_same(&solved(&read_back(&to_jmva(&network, name).unwrap())), &expected);
    }
}

/// Each law has the same mean and coefficient of variation after a round trip.
#[test]
fn laws_round_trip() {
    let laws = [
        TimeLaw::Deterministic { mean_s: 0.25 },
        TimeLaw::Exponential { mean_s: 0.3 },
        TimeLaw::Erlang { mean_s: 0.3, phases: 4 },
        TimeLaw::hyperexponential(0.4, 2.5),
        TimeLaw::Coxian { first_mean_s: 0.1, second_mean_s: 0.7, second_probability: 0.2 },
        TimeLaw::Gamma { mean_s: 0.5, cv: 0.7 },
        TimeLaw::Lognormal { mean_s: 0.5, cv: 1.7 },
        TimeLaw::NormalTruncated { untruncated_mean_s: 1.0, untruncated_sd_s: 0.1 },
        TimeLaw::Pareto { mean_s: 0.5, shape: 2.5 },
        TimeLaw::Uniform { from_s: 0.1, to_s: 0.9 },
        TimeLaw::Weibull { mean_s: 0.5, shape: 0.6 },
        TimeLaw::Mmpp2 { rates_per_s: [3.0, 0.5], leave_per_s: [0.1, 0.2] },
        TimeLaw::Deterministic { mean_s: 0.0 },
    ];
    for law in laws {
        let mut network = QueueingNetwork::new(
            vec![CustomerClass::closed("c", 3, 1.0)],
            vec![Station::delay("d", law.clone()), Station::queue("q", 1, 0.1)],
        );
        if let ClassLoad::Closed { think, .. } = &mut network.classes[0].load {
            *think = law.clone();
        }
        let back = read_back(&to_jsimg(&network, "laws").unwrap());
        let service = back.stations[0].service("c").unwrap().clone();
        let ClassLoad::Closed { think, .. } = &back.classes[0].load else { panic!("an open class") };
        for found in [&service, think] {
            assert_eq!(std::mem::discriminant(found), std::mem::discriminant(&law), "{law}");
            assert_near(found.mean_s(), law.mean_s(), &law.to_string());
            assert_near(found.scv(), law.scv(), &law.to_string());
        }
    }
}

#[test]
fn disciplines_and_strategies_round_trip() {
    let text = r#"
        version = 1
        [[class]]
        name = "a"
        users = 5
        think = "2s"
        priority = 2
        [[class]]
        name = "b"
        rate = "1/s"
        [[station]]
        name = "p"
        scheduling = "priority"
        service = "50ms"
        [[station]]
        name = "d"
        scheduling = "dps"
        weights = { a = 3.0, b = 1.0 }
        servers = 2
        service = { a = "40ms", b = "erlang(60ms, 3)" }
        [[station]]
        name = "full"
        service = "50ms"
        capacity = 7
        when-full = "block"
        [[station]]
        name = "j"
        scheduling = "sjf"
        service = "50ms"
        [[station]]
        name = "l"
        scheduling = "lcfs"
        service = "50ms"
        [[station]]
        name = "r"
        kind = "router"
        [[route]]
        from = "outside"
        to = ["r"]
        [[route]]
        from = "r"
        classes = ["a"]
        strategy = "round-robin"
        to = ["p", "d", "full"]
        [[route]]
        from = "r"
        classes = ["b"]
        strategy = "fastest-service"
        to = ["p", "d", "full"]
        [[route]]
        from = "p"
        to = ["j"]
        [[route]]
        from = "d"
        to = ["j"]
        [[route]]
        from = "full"
        to = ["j"]
        [[route]]
        from = "j"
        to = { l = 0.25, outside = 0.75 }
        [[route]]
        from = "l"
        to = ["outside"]
    "#;
    let network: QueueingNetwork = toml::from_str(text).unwrap();
    assert_eq!(network.validate(), []);
    let back = read_back(&to_jsimg(&network, "all").unwrap());
    assert_eq!((&back.classes, back.stations.len()), (&network.classes, network.stations.len()));
    for station in &network.stations {
        let found = &back.stations[back.station(&station.name).unwrap()];
        match (&station.kind, &found.kind) {
            (StationKind::Queue(expected), StationKind::Queue(found)) => {
                assert_eq!(found.scheduling, expected.scheduling, "{}", station.name);
                assert_eq!((found.servers, found.capacity), (expected.servers, expected.capacity));
            }
            (expected, found) => assert_eq!(found, expected),
        }
    }
    for (place, class) in network.routes.iter().flat_map(|route| [(&route.from, "a"), (&route.from, "b")]) {
        let strategy = |network: &QueueingNetwork| network.route(place, class).unwrap().strategy.clone();
        let sorted = |strategy: Choice| match strategy {
            Choice::Probabilities(mut shares) => {
                shares.retain(|(_, share)| *share > 0.0);
                shares.sort_by(|a, b| a.0.cmp(&b.0));
                match &shares[..] {
                    [(place, _)] => Choice::Random(vec![place.clone()]),
                    _ => Choice::Probabilities(shares),
                }
            }
            other => other,
        };
        assert_eq!(sorted(strategy(&back)), sorted(strategy(&network)), "{class} from {}", place.name());
    }
}

#[test]
fn laws_that_jmva_does_not_support_are_not_written() {
    let text = r#"
        version = 1
        [[class]]
        name = "a"
        users = 5
        [[station]]
        name = "s"
        service = "constant(50ms)"
        [[station]]
        name = "t"
        service = "50ms"
        capacity = 3
    "#;
    let network: QueueingNetwork = toml::from_str(text).unwrap();
    let unsupported = to_jmva(&network, "no").unwrap_err();
    assert_eq!(unsupported.len(), 2, "{unsupported:?}");
    assert!(
        unsupported[0].contains("station \"s\" serves \"a\" by constant(50ms), which is not exponential")
    );
    assert!(unsupported[1].contains("station \"t\" has a limited capacity"));
}

/// Load-dependent speeds and priorities have separate kinds of stations in .jmva.
#[test]
fn load_dependent_speeds_and_priorities_round_trip() {
    let mut network = QueueingNetwork::new(
        vec![CustomerClass::closed("a", 4, 1.0), CustomerClass::closed("b", 2, 0.0)],
        vec![Station::queue("fast", 1, 0.2), Station::queue("Think", 3, 0.1)],
    );
    if let StationKind::Queue(queue) = &mut network.stations[0].kind {
        queue.scheduling = Scheduling::ProcessorSharing;
        queue.speeds = vec![1.0, 1.6, 2.0];
        queue.service = PerClass::ByClass(
            [("a", 0.2), ("b", 0.5)]
                .map(|(name, mean_s)| (name.to_owned(), TimeLaw::Exponential { mean_s }))
                .into(),
        );
    }
    assert_same(&solved(&read_back(&to_jmva(&network, "tables").unwrap())), &solved(&network));

    let mut network =
        QueueingNetwork::new(vec![CustomerClass::open("a", 2.0), CustomerClass::open("b", 3.0)], Vec::new());
    network.classes[0].priority = 1;
    for scheduling in [Scheduling::Priority, Scheduling::PriorityPreemptive] {
        network.stations = vec![Station::queue("q", 1, 0.1)];
        if let StationKind::Queue(queue) = &mut network.stations[0].kind {
            queue.scheduling = scheduling;
        }
        assert_same(&solved(&read_back(&to_jmva(&network, "first").unwrap())), &solved(&network));
    }
}

/// Random closed networks with one or two classes, and with queues and delays.
fn networks() -> impl Strategy<Value = QueueingNetwork> {
    let class = (0_u64..6, 0.0..3.0_f64);
    let station = (0_u32..4, 1e-3..0.5_f64, 0.01..4.0_f64, 0.01..4.0_f64);
    (prop::collection::vec(class, 1..3), prop::collection::vec(station, 1..4)).prop_map(
        |(classes, stations)| {
            let classes: Vec<CustomerClass> = classes
                .into_iter()
                .enumerate()
                .map(|(at, (users, think_s))| {
                    CustomerClass::closed(format!("class {at} <&>"), users, think_s)
                })
                .collect();
            let stations = stations
                .into_iter()
                .enumerate()
                .map(|(at, (servers, service_s, first, second))| {
                    let name = format!("station \"{at}\"");
                    let mut station = match servers {
                        0 => Station::delay(name, TimeLaw::Exponential { mean_s: service_s }),
                        servers => Station::queue(name, servers, service_s),
                    };
                    let visits = [first, second];
                    station.visits = PerClass::ByClass(
                        classes
                            .iter()
                            .zip(visits)
                            .map(|(class, visits)| (class.name.clone(), visits))
                            .collect(),
                    );
                    station
                })
                .collect();
            QueueingNetwork::new(classes, stations)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_networks_have_the_same_solution(network in networks()) {
        let Ok(expected) = solve(&network, SolveSettings::default()) else { return Ok(()) };
        for text in [to_jsimg(&network, "any").unwrap(), to_jmva(&network, "any").unwrap()] {
            let back = read_back(&text);
            let found = solved(&back);
            for (found, expected) in found.classes.iter().zip(&expected.classes) {
                prop_assert!((found.throughput_per_s - expected.throughput_per_s).abs() <= 1e-7 * expected.throughput_per_s);
                prop_assert!((found.in_system - expected.in_system).abs() <= 1e-7 * (1.0 + expected.in_system));
            }
        }
    }
}
