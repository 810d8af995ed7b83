//! Compares simulations of one station with formulas.

mod common;

use busyhour_queueing::network::{
    Capacity, ClassLoad, CustomerClass, PerClass, Queue, QueueingNetwork, Scheduling, Station, TimeLaw,
    WhenFull,
};
use busyhour_simulation::SimulationResult;

use common::{assert_contains, closed, open, queue, queue_of, run};

#[test]
fn one_server() {
    let found = run(&open(0.75, vec![Station::queue("server", 1, 1.0)]), 0.02);
    assert_contains("X", found.classes[0].throughput_per_s, 0.75);
    assert_contains("R", found.classes[0].response_s, 4.0);
    assert_contains("N", found.classes[0].customers, 3.0);
    let server = &found.stations[0].total;
    assert_contains("R at the server", server.response_s, 4.0);
    assert_contains("Q", server.customers, 3.0);
    assert_contains("U", server.utilization, 0.75);
    assert_contains("residence", server.residence_s, 4.0);
    // The response time is exponential.
    for percentile in &found.classes[0].percentiles {
        let exact = -4.0 * (1.0 - percentile.share).ln();
        let found = percentile.time_s;
        assert!((found.value / exact - 1.0).abs() < 0.03, "{percentile:?} for {exact}");
        assert_contains("percentile", Some(found), exact);
    }
    assert_eq!(found.classes[0].percentiles.len(), 4);
    assert_eq!(server.lost_per_s, None);
}

#[test]
fn several_servers() {
    let found = run(&open(12.0, vec![Station::queue("server", 4, 0.25)]), 0.02);
    assert_contains("R", found.classes[0].response_s, 0.377_358_49);
    assert_contains("Q", found.stations[0].total.customers, 4.528_301_89);
    assert_contains("U", found.stations[0].total.utilization, 0.75);
}

/// Laws with mean 1.
fn laws() -> Vec<TimeLaw> {
    vec![
        TimeLaw::Deterministic { mean_s: 1.0 },
        TimeLaw::Erlang { mean_s: 1.0, phases: 3 },
        TimeLaw::hyperexponential(1.0, 2.0),
        TimeLaw::Coxian { first_mean_s: 0.5, second_mean_s: 2.0, second_probability: 0.25 },
        TimeLaw::Gamma { mean_s: 1.0, cv: 0.5 },
        TimeLaw::Lognormal { mean_s: 1.0, cv: 1.5 },
        TimeLaw::Uniform { from_s: 0.0, to_s: 2.0 },
        TimeLaw::Weibull { mean_s: 1.0, shape: 0.7 },
        TimeLaw::Pareto { mean_s: 1.0, shape: 4.5 },
        TimeLaw::Replay { file: "recorded".into(), values_s: vec![0.5, 1.5, 0.25, 1.75] },
    ]
}

#[test]
fn fcfs_with_all_laws() {
    // Pollaczek and Khinchine. Replayed times are excluded, because they are not independent.
    for law in laws().into_iter().filter(|law| !matches!(law, TimeLaw::Replay { .. })) {
        let exact = 1.0 + 0.6 * (1.0 + law.scv()) / 2.0 / 0.4;
        let found = run(&open(0.6, vec![queue("server", Scheduling::Fcfs, law.clone())]), 0.04);
        assert_contains(&format!("R with {law:?}"), found.classes[0].response_s, exact);
    }
}

#[test]
fn disciplines_that_ignore_service_times_have_the_same_mean() {
    let law = TimeLaw::Erlang { mean_s: 1.0, phases: 2 };
    let exact = 1.0 + 0.7 * 1.5 / 2.0 / 0.3;
    let mut tails = Vec::new();
    for scheduling in [Scheduling::Fcfs, Scheduling::Random, Scheduling::Lcfs] {
        let found = run(&open(0.7, vec![queue("server", scheduling, law.clone())]), 0.04);
        assert_contains("R", found.classes[0].response_s, exact);
        tails.push(found.classes[0].percentiles[3].time_s.value);
    }
    // The mean is the same, but the variance is not.
    assert!(tails[0] < tails[1] && tails[1] < tails[2], "{tails:?}");
}

#[test]
fn processor_sharing_and_preemptive_lcfs_are_insensitive_to_the_law() {
    for scheduling in [Scheduling::ProcessorSharing, Scheduling::LcfsPreemptiveResume] {
        for law in laws().into_iter().filter(|law| !matches!(law, TimeLaw::Replay { .. })) {
            let found = run(&open(0.6, vec![queue("server", scheduling.clone(), law.clone())]), 0.05);
            assert_contains(&format!("R {scheduling:?} {law:?}"), found.classes[0].response_s, 2.5);
            assert_contains("U", found.stations[0].total.utilization, 0.6);
        }
    }
}

#[test]
fn processor_sharing_of_several_servers_has_the_mean_of_fcfs_with_exponential_service() {
    let shared = Queue {
        scheduling: Scheduling::ProcessorSharing,
        ..Queue::new(4, PerClass::Same(TimeLaw::Exponential { mean_s: 0.25 }))
    };
    let found = run(&open(12.0, vec![queue_of("server", shared)]), 0.02);
    assert_contains("R", found.classes[0].response_s, 0.377_358_49);
    assert_contains("U", found.stations[0].total.utilization, 0.75);
}

#[test]
fn shortest_job_first() {
    // Service uniform on 0 to 2, density 1/2. W(x) = λE[S²]/2 / (1 − λ∫₀ˣ t/2 dt)² (Phipps 1956), averaged.
    let rate = 0.8;
    let steps = 20_000;
    let wait: f64 = (0..steps)
        .map(|i| (f64::from(i) + 0.5) * 2.0 / f64::from(steps))
        .map(|x: f64| rate * (4.0 / 3.0) / 2.0 / (1.0 - rate * x * x / 4.0).powi(2))
        .sum::<f64>()
        / f64::from(steps);
    let law = TimeLaw::Uniform { from_s: 0.0, to_s: 2.0 };
    let found = run(&open(rate, vec![queue("server", Scheduling::ShortestJobFirst, law)]), 0.03);
    assert_contains("R", found.classes[0].response_s, 1.0 + wait);
}

/// Two open classes, `high` with 0.3/s and `low` with 0.4/s, service 1 s (Erlang of 2) and 0.9 s (exponential).
fn two_classes(scheduling: Scheduling) -> SimulationResult {
    let mut classes = vec![CustomerClass::open("high", 0.3), CustomerClass::open("low", 0.4)];
    classes[0].priority = 5;
    let service = PerClass::ByClass(
        [
            ("high".to_owned(), TimeLaw::Erlang { mean_s: 1.0, phases: 2 }),
            ("low".to_owned(), TimeLaw::Exponential { mean_s: 0.9 }),
        ]
        .into(),
    );
    let station = queue_of("server", Queue { scheduling, ..Queue::new(1, service) });
    run(&QueueingNetwork::new(classes, vec![station]), 0.03)
}

/// Mean residual work in service at an arrival, Σ λE[S²]/2: of the first class alone, and of both classes together.
const RESIDUAL: [f64; 2] = [0.3 * 1.5 / 2.0, 0.3 * 1.5 / 2.0 + 0.4 * 2.0 * 0.81 / 2.0];

#[test]
fn non_preemptive_priorities() {
    // Cobham, Operations Research 2 (1954).
    let found = two_classes(Scheduling::Priority);
    let (sigma_1, sigma_2) = (0.3, 0.66);
    assert_contains("R high", found.classes[0].response_s, 1.0 + RESIDUAL[1] / (1.0 - sigma_1));
    let wait = RESIDUAL[1] / (1.0 - sigma_1) / (1.0 - sigma_2);
    assert_contains("R low", found.classes[1].response_s, 0.9 + wait);
    assert_contains("U high", found.stations[0].classes[0].1.utilization, 0.3);
    assert_contains("U low", found.stations[0].classes[1].1.utilization, 0.36);
}

#[test]
fn preemptive_priorities() {
    let found = two_classes(Scheduling::PriorityPreemptive);
    let (sigma_1, sigma_2) = (0.3, 0.66);
    assert_contains("R high", found.classes[0].response_s, 1.0 + RESIDUAL[0] / (1.0 - sigma_1));
    let low = 0.9 / (1.0 - sigma_1) + RESIDUAL[1] / (1.0 - sigma_1) / (1.0 - sigma_2);
    assert_contains("R low", found.classes[1].response_s, low);
    assert_contains("U low", found.stations[0].classes[1].1.utilization, 0.36);
}

#[test]
fn discriminatory_processor_sharing() {
    // Fayolle, Mitrani and Iasnogorodski, JACM 27 (1980), for two classes with exponential service.
    let (rates, means, weights) = ([0.3, 0.4], [1.0, 0.9], [1.0, 4.0]);
    let classes = vec![CustomerClass::open("a", rates[0]), CustomerClass::open("b", rates[1])];
    let law = |mean_s: f64| TimeLaw::Exponential { mean_s };
    let service =
        PerClass::ByClass([("a".to_owned(), law(means[0])), ("b".to_owned(), law(means[1]))].into());
    let scheduling = Scheduling::DiscriminatoryProcessorSharing {
        weights: [("a".to_owned(), weights[0]), ("b".to_owned(), weights[1])].into(),
    };
    let station = queue_of("server", Queue { scheduling, ..Queue::new(1, service) });
    let found = run(&QueueingNetwork::new(classes, vec![station]), 0.03);
    let mu = [1.0 / means[0], 1.0 / means[1]];
    let rho = [rates[0] * means[0], rates[1] * means[1]];
    let free = 1.0 - rho[0] - rho[1];
    let d = mu[0] * weights[0] * (1.0 - rho[0]) + mu[1] * weights[1] * (1.0 - rho[1]);
    let first = (1.0 + mu[0] * rho[1] * (weights[1] - weights[0]) / d) / (mu[0] * free);
    let second = (1.0 - mu[1] * rho[0] * (weights[1] - weights[0]) / d) / (mu[1] * free);
    assert_contains("R a", found.classes[0].response_s, first);
    assert_contains("R b", found.classes[1].response_s, second);
}

fn with_capacity(servers: u32, customers: u32, law: TimeLaw) -> Station {
    let capacity = Some(Capacity { customers, when_full: WhenFull::Drop });
    queue_of("server", Queue { capacity, ..Queue::new(servers, PerClass::Same(law)) })
}

#[test]
fn without_waiting_room_the_loss_is_erlangs_b_for_all_laws() {
    // 5 servers, 4 erlang: B = 0.19907.
    let b: f64 = (1..=5).fold(1.0, |b, n| 4.0 * b / (f64::from(n) + 4.0 * b));
    for law in [TimeLaw::Exponential { mean_s: 2.0 }, TimeLaw::Lognormal { mean_s: 2.0, cv: 2.0 }] {
        let found = run(&open(2.0, vec![with_capacity(5, 5, law)]), 0.02);
        assert_contains("lost", found.stations[0].total.lost_per_s, 2.0 * b);
        assert_contains("lost passes", found.classes[0].lost_per_s, 2.0 * b);
        assert_contains("X", found.classes[0].throughput_per_s, 2.0 * (1.0 - b));
        assert_contains("R", found.classes[0].response_s, 2.0);
    }
}

#[test]
fn limited_waiting_room() {
    // M/M/2/5, a birth-death process.
    let (rate, mu) = (1.5, 1.0);
    let mut weights = vec![1.0];
    for n in 1..=5 {
        let last = weights[weights.len() - 1];
        weights.push(last * rate / (mu * f64::from(n.min(2))));
    }
    let all: f64 = weights.iter().sum();
    let found = run(&open(rate, vec![with_capacity(2, 5, TimeLaw::Exponential { mean_s: 1.0 })]), 0.02);
    assert_contains("lost", found.stations[0].total.lost_per_s, rate * weights[5] / all);
    let customers: f64 = weights.iter().enumerate().map(|(n, weight)| n as f64 * weight).sum::<f64>() / all;
    assert_contains("Q", found.stations[0].total.customers, customers);
}

#[test]
fn load_dependent_speeds() {
    // One server that is n times as fast with n customers, up to 3, has the means of M/M/3 for every discipline that ignores
    // service times.
    let exact = {
        let (a, m) = (2.4_f64, 3);
        let b: f64 = (1..=m).fold(1.0, |b, n| a * b / (f64::from(n) + a * b));
        let c = b / (1.0 - a / 3.0 * (1.0 - b));
        1.0 + c / (3.0 - a)
    };
    let classes = || vec![CustomerClass::open("a", 1.2), CustomerClass::open("b", 1.2)];
    for scheduling in
        [Scheduling::Fcfs, Scheduling::Lcfs, Scheduling::LcfsPreemptiveResume, Scheduling::ProcessorSharing]
    {
        let law = TimeLaw::Exponential { mean_s: 1.0 };
        let station = queue_of(
            "server",
            Queue {
                scheduling: scheduling.clone(),
                speeds: vec![1.0, 2.0, 3.0],
                ..Queue::new(1, PerClass::Same(law))
            },
        );
        let found = run(&QueueingNetwork::new(classes(), vec![station]), 0.03);
        assert_contains(&format!("R {scheduling:?}"), found.stations[0].total.response_s, exact);
    }
}

#[test]
fn markov_modulated_arrivals() {
    // MMPP/M/1: the Markov chain of (state, customers), truncated at 300 customers and solved by iteration.
    let (rates, leave, mu) = ([1.5, 0.2], [0.3, 0.2], 1.0);
    let customers_max = 300;
    let mut p = vec![[1.0 / f64::from(2 * customers_max); 2]; customers_max as usize + 1];
    for _ in 0..20_000 {
        for n in 0..=customers_max as usize {
            for s in 0..2 {
                let from_below = if n > 0 { p[n - 1][s] * rates[s] } else { 0.0 };
                let from_above = if n < customers_max as usize { p[n + 1][s] * mu } else { 0.0 };
                let out = leave[s]
                    + if n < customers_max as usize { rates[s] } else { 0.0 }
                    + if n > 0 { mu } else { 0.0 };
                p[n][s] = (from_below + from_above + p[n][1 - s] * leave[1 - s]) / out;
            }
        }
    }
    let all: f64 = p.iter().flatten().sum();
    let customers: f64 = p.iter().enumerate().map(|(n, p)| n as f64 * (p[0] + p[1])).sum::<f64>() / all;
    let mut network = open(1.0, vec![Station::queue("server", 1, 1.0 / mu)]);
    network.classes[0].load =
        ClassLoad::Open { interarrival: TimeLaw::Mmpp2 { rates_per_s: rates, leave_per_s: leave } };
    let found = run(&network, 0.04);
    assert_contains("Q", found.stations[0].total.customers, customers);
    assert_contains("X", found.classes[0].throughput_per_s, network.classes[0].rate_per_s().unwrap());
}

#[test]
fn closed_classes() {
    let servers = Station::queue("servers", 2, 2.0 / 157.0);
    let found = run(&closed(100, 0.7, vec![servers]), 0.02);
    assert_contains("X", found.classes[0].throughput_per_s, 135.208_381);
    assert_contains("R", found.classes[0].response_s, 0.039_599_1);
    // Constant think times and one server.
    for (users, exact) in [(50, 69.9633), (100, 128.9833), (200, 135.4916), (500, 135.4916)] {
        let mut network = closed(users, 0.7, vec![Station::queue("server", 1, 1.0 / 135.491_597_2)]);
        network.classes[0].load = ClassLoad::Closed { users, think: TimeLaw::Deterministic { mean_s: 0.7 } };
        let found = run(&network, 0.02);
        assert_contains(&format!("X of {users}"), found.classes[0].throughput_per_s, exact);
        let response_s = found.classes[0].response_s.unwrap();
        let by_littles_law = users as f64 / exact - 0.7;
        assert!((response_s.value / by_littles_law - 1.0).abs() < 0.03, "{users}: {response_s:?}");
    }
}

#[test]
fn a_delay_serves_all_customers_at_once() {
    let law = TimeLaw::Weibull { mean_s: 2.0, shape: 0.6 };
    let found = run(&open(3.0, vec![Station::delay("network", law)]), 0.03);
    assert_contains("Q", found.stations[0].total.customers, 6.0);
    assert_eq!(found.stations[0].total.utilization, None);
    assert!(matches!(found.stations[0].classes.as_slice(), [(name, _)] if name == "jobs"));
}
