//! Compares simulations of several stations with exact solutions.

mod common;

use std::collections::BTreeMap;

use busyhour_queueing::network::{
    Capacity, ClassLoad, CustomerClass, PerClass, Place, Queue, QueueingNetwork, Route, Scheduling, Station,
    StationKind, Strategy, TimeLaw, WhenFull,
};

use common::{assert_contains, closed, open, places, queue, queue_of, route, run};

#[test]
fn closed_networks_with_a_product_form() {
    let stations = |scheduling: Scheduling, law: fn(f64) -> TimeLaw| {
        [0.125, 0.3, 0.2]
            .iter()
            .zip(["web", "app", "db"])
            .map(|(mean_s, name)| queue(name, scheduling.clone(), law(*mean_s)))
            .collect::<Vec<Station>>()
    };
    let exponential = stations(Scheduling::Fcfs, |mean_s| TimeLaw::Exponential { mean_s });
    let sharing = stations(Scheduling::ProcessorSharing, |mean_s| TimeLaw::Deterministic { mean_s });
    for stations in [exponential, sharing] {
        let found = run(&closed(20, 4.0, stations), 0.02);
        assert_contains("X", found.classes[0].throughput_per_s, 3.127_510_41);
        assert_contains("R", found.classes[0].response_s, 2.394_862_80);
        assert_contains("U of app", found.stations[1].total.utilization, 3.127_510_41 * 0.3);
        let sum: f64 =
            found.stations.iter().filter_map(|station| station.total.residence_s).map(|r| r.value).sum();
        assert!((sum / found.classes[0].response_s.unwrap().value - 1.0).abs() < 0.01, "{sum}");
    }
}

#[test]
fn zero_think_time_and_fractional_visits() {
    // The service demands are 0.605, 2.1 and 1.35 s. The last one consists of 1.5 visits of 0.9 s.
    let mut disk = Station::queue("disk 2", 1, 0.9);
    disk.visits = PerClass::Same(1.5);
    let stations = vec![Station::queue("cpu", 1, 0.605), Station::queue("disk 1", 1, 2.1), disk];
    let found = run(&closed(6, 0.0, stations), 0.02);
    assert_contains("X", found.classes[0].throughput_per_s, 0.459_803_37);
    assert_contains("R", found.classes[0].response_s, 13.049_056_14);
    assert_contains("X of disk 2", found.stations[2].total.throughput_per_s, 1.5 * 0.459_803_37);
    assert_contains("N", found.classes[0].customers, 6.0);
}

#[test]
fn two_closed_classes() {
    // Exact mean value analysis over all populations of the two classes, at two stations with processor sharing.
    let (users, think, demands) = ([6, 3], [3.0, 1.0], [[0.2, 0.1], [0.1, 0.4]]);
    let mut queues: BTreeMap<(usize, usize), [f64; 2]> = BTreeMap::new();
    let mut rates = [0.0; 2];
    for a in 0..=users[0] {
        for b in 0..=users[1] {
            let mut queue = [0.0; 2];
            for class in 0..2 {
                let (n, one_less) = match class {
                    0 if a > 0 => (a, (a - 1, b)),
                    1 if b > 0 => (b, (a, b - 1)),
                    _ => continue,
                };
                let residence: Vec<f64> =
                    (0..2).map(|k| demands[class][k] * (1.0 + queues[&one_less][k])).collect();
                rates[class] = n as f64 / (think[class] + residence.iter().sum::<f64>());
                (0..2).for_each(|k| queue[k] += rates[class] * residence[k]);
            }
            queues.insert((a, b), queue);
        }
    }
    let service = |station: usize| {
        let law = |class: usize| TimeLaw::Exponential { mean_s: demands[class][station] };
        PerClass::ByClass([("a".to_owned(), law(0)), ("b".to_owned(), law(1))].into())
    };
    let station = |name: &str, at: usize| {
        queue_of(name, Queue { scheduling: Scheduling::ProcessorSharing, ..Queue::new(1, service(at)) })
    };
    let network = QueueingNetwork::new(
        vec![CustomerClass::closed("a", 6, think[0]), CustomerClass::closed("b", 3, think[1])],
        vec![station("one", 0), station("two", 1)],
    );
    let found = run(&network, 0.02);
    for class in 0..2 {
        assert_contains("X", found.classes[class].throughput_per_s, rates[class]);
        assert_contains(
            "R",
            found.classes[class].response_s,
            users[class] as f64 / rates[class] - think[class],
        );
    }
    assert_contains("Q", found.stations[1].total.customers, queues[&(6, 3)][1]);
}

#[test]
fn a_fork_and_a_join() {
    // The exact response time of two queues with the same arrivals is R = (12 − ρ)/8 · 1/(μ − λ) (Flatto and Hahn 1984;
    // Nelson and Tantawi 1988).
    let (rate, mu) = (0.6, 1.0);
    let mut network = open(
        rate,
        vec![
            Station {
                name: "fork".into(),
                kind: StationKind::Fork { to: places(&["left", "right"]), tasks: 1 },
                visits: PerClass::Same(1.0),
            },
            Station::queue("left", 1, 1.0 / mu),
            Station::queue("right", 1, 1.0 / mu),
            Station { name: "join".into(), kind: StationKind::Join, visits: PerClass::Same(1.0) },
        ],
    );
    network.routes = vec![
        route("outside", Strategy::Random(places(&["fork"]))),
        route("left", Strategy::Random(places(&["join"]))),
        route("right", Strategy::Random(places(&["join"]))),
        route("join", Strategy::Random(places(&["outside"]))),
    ];
    let found = run(&network, 0.02);
    let exact = (12.0 - rate) / 8.0 / (mu - rate);
    assert_contains("R", found.classes[0].response_s, exact);
    assert_contains("R of a branch", found.stations[1].total.response_s, 1.0 / (mu - rate));
    // Together, the two siblings wait at the join for 2 (R − 1/(μ − λ)).
    assert_contains("R at the join", found.stations[3].total.response_s, exact - 1.0 / (mu - rate));
    assert_contains("X of the join", found.stations[3].total.throughput_per_s, 2.0 * rate);
    assert_contains("N counts customers, not siblings", found.classes[0].customers, rate * exact);
}

#[test]
fn classes_are_switched() {
    // A quarter of the browsing customers buy, which needs another visit to the shop.
    let exponential = |mean_s: f64| TimeLaw::Exponential { mean_s };
    let service = PerClass::ByClass(
        [("browse".to_owned(), exponential(0.1)), ("buy".to_owned(), exponential(0.3))].into(),
    );
    let switch = |from: &str, to: &[(&str, f64)]| {
        let shares = to.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
        StationKind::ClassSwitch { to: [(from.to_owned(), shares)].into() }
    };
    let mut network = QueueingNetwork::new(
        vec![CustomerClass::open("browse", 4.0), CustomerClass::open("buy", 0.4)],
        vec![
            queue_of("shop", Queue { scheduling: Scheduling::ProcessorSharing, ..Queue::new(1, service) }),
            Station {
                name: "decide".into(),
                kind: switch("browse", &[("browse", 0.75), ("buy", 0.25)]),
                visits: PerClass::Same(1.0),
            },
        ],
    );
    let class_route = |class: &str, from: &str, to: &str| Route {
        from: Place::named(from),
        classes: vec![class.into()],
        strategy: Strategy::Random(places(&[to])),
    };
    // After `decide`, customers return to the shop only if they buy.
    network.routes = vec![
        route("outside", Strategy::Random(places(&["shop"]))),
        class_route("browse", "shop", "decide"),
        class_route("buy", "shop", "outside"),
        class_route("browse", "decide", "outside"),
        class_route("buy", "decide", "shop"),
    ];
    let found = run(&network, 0.02);
    // Rate of buying visits: 0.4/s of the class itself and 1/s after class switches; U = 4 · 0.1 + 1.4 · 0.3.
    let shop = &found.stations[0];
    let free = 1.0 - 0.82;
    assert_contains("U of buying", shop.classes[1].1.utilization, 0.42);
    assert_contains("R of a browsing visit", shop.classes[0].1.response_s, 0.1 / free);
    assert_contains("R of a buying visit", shop.classes[1].1.response_s, 0.3 / free);
    assert_contains("R of browsing customers", found.classes[0].response_s, (0.1 + 0.25 * 0.3) / free);
    assert_contains("X of browsing customers", found.classes[0].throughput_per_s, 4.0);
}

/// Two stations in series; the second has a capacity of two and blocks.
fn tandem(first_capacity: Option<u32>, mu: [f64; 2]) -> Vec<Station> {
    let station = |name: &str, mean_s: f64, capacity| {
        let service = PerClass::Same(TimeLaw::Exponential { mean_s });
        queue_of(name, Queue { capacity, ..Queue::new(1, service) })
    };
    let capacity = |customers, when_full| Capacity { customers, when_full };
    vec![
        station("first", 1.0 / mu[0], first_capacity.map(|customers| capacity(customers, WhenFull::Drop))),
        station("second", 1.0 / mu[1], Some(capacity(2, WhenFull::Block))),
    ]
}

#[test]
fn a_full_station_blocks_the_server_of_the_previous_station() {
    // Poisson arrivals of 1/s, and a capacity of 4 at the first station. The states of the Markov chain are the customers at
    // the first station (including a blocked one), the customers at the second station, and whether a customer is blocked. It
    // is solved by iteration.
    let (rate, mu, capacity) = (1.0, [1.2, 1.1], 4_usize);
    type State = (usize, usize, bool);
    let transitions = |(a, b, blocked): State| {
        let mut out: Vec<(State, f64)> = Vec::new();
        if a < capacity {
            out.push(((a + 1, b, blocked), rate));
        }
        if a > 0 && !blocked {
            out.push((if b < 2 { (a - 1, b + 1, false) } else { (a, b, true) }, mu[0]));
        }
        if b > 0 {
            out.push((if blocked { (a - 1, b, false) } else { (a, b - 1, false) }, mu[1]));
        }
        out
    };
    let mut p: BTreeMap<State, f64> = BTreeMap::from([((0, 0, false), 1.0)]);
    // Uniformized with 4/s, which exceeds the total rate out of every state.
    for _ in 0..3_000 {
        let mut next: BTreeMap<State, f64> = BTreeMap::new();
        for (&state, &mass) in &p {
            let out = transitions(state);
            let leaving: f64 = out.iter().map(|(_, rate)| rate).sum();
            *next.entry(state).or_default() += mass * (1.0 - leaving / 4.0);
            for (to, rate) in out {
                *next.entry(to).or_default() += mass * rate / 4.0;
            }
        }
        p = next;
    }
    let mean =
        |value: &dyn Fn(State) -> f64| p.iter().map(|(&state, &mass)| mass * value(state)).sum::<f64>();
    let found = run(&open(rate, tandem(Some(4), mu)), 0.02);
    let first = &found.stations[0].total;
    assert_contains("lost", first.lost_per_s, rate * mean(&|(a, ..)| f64::from(u8::from(a == capacity))));
    assert_contains("Q of the first", first.customers, mean(&|(a, ..)| a as f64));
    assert_contains("Q of the second", found.stations[1].total.customers, mean(&|(_, b, _)| b as f64));
    assert_contains(
        "U of the second",
        found.stations[1].total.utilization,
        mean(&|(_, b, _)| f64::from(u8::from(b > 0))),
    );
    // A blocked customer occupies its server.
    assert_contains("U of the first", first.utilization, mean(&|(a, ..)| f64::from(u8::from(a > 0))));
    assert_contains(
        "X",
        found.classes[0].throughput_per_s,
        mu[1] * mean(&|(_, b, _)| f64::from(u8::from(b > 0))),
    );
}

#[test]
fn blocking_in_a_closed_network() {
    // The states of this birth-death process are 0, 1 or 2 of the three customers at the second station, or 2 there while the
    // third customer is blocked at the first station.
    let mu = [1.5, 1.0];
    let found = run(&closed(3, 0.0, tandem(None, mu)), 0.02);
    let ratio: f64 = mu[0] / mu[1];
    let weights: Vec<f64> = (0..4).map(|n| ratio.powi(n)).collect();
    let idle = weights[0] / weights.iter().sum::<f64>();
    assert_contains("X", found.classes[0].throughput_per_s, mu[1] * (1.0 - idle));
    assert_contains("R", found.classes[0].response_s, 3.0 / (mu[1] * (1.0 - idle)));
}

#[test]
fn rejected_customers_of_a_closed_class_think_again() {
    // A user who arrives while the other user is served is rejected, and the pass is lost (Engset's loss formula).
    let service = PerClass::Same(TimeLaw::Exponential { mean_s: 1.0 });
    let capacity = Some(Capacity { customers: 1, when_full: WhenFull::Drop });
    let station = queue_of("line", Queue { capacity, ..Queue::new(1, service) });
    let found = run(&closed(2, 2.0, vec![station]), 0.02);
    // The server becomes busy with rate 2 · ½ and idle with rate 1. While it is busy, the other user arrives with ½/s.
    let busy = 0.5;
    assert_contains("U", found.stations[0].total.utilization, busy);
    assert_contains("X", found.classes[0].throughput_per_s, busy);
    assert_contains("lost", found.classes[0].lost_per_s, busy * 0.5);
    assert_contains("R", found.classes[0].response_s, 1.0);
}

#[test]
fn open_and_closed_customers_together() {
    // Open customers use half of the server, so closed customers have the demand D' = D/(1 − ρ) (mixed networks).
    let mut network = closed(
        10,
        2.0,
        vec![queue("cpu", Scheduling::ProcessorSharing, TimeLaw::Exponential { mean_s: 0.1 })],
    );
    network.classes.push(CustomerClass::open("jobs", 5.0));
    assert!(matches!(network.classes[1].load, ClassLoad::Open { .. }));
    let (mut queue, mut rate) = (0.0, 0.0);
    for n in 1..=10 {
        let residence = 0.1 / (1.0 - 0.5) * (1.0 + queue);
        rate = f64::from(n) / (2.0 + residence);
        queue = rate * residence;
    }
    let found = run(&network, 0.02);
    assert_contains("X of users", found.classes[0].throughput_per_s, rate);
    assert_contains("R of jobs", found.classes[1].response_s, 0.1 * (1.0 + queue) / 0.5);
}
