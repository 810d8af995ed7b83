//! Operational laws and bounds that hold for every solution.

use busyhour_queueing::mva::{
    Centre, ClosedClass, ClosedNetwork, convolution, exact, linearizer, multi_class,
};
use busyhour_queueing::network::{CustomerClass, QueueingNetwork, Station, TimeLaw};
use busyhour_queueing::solve::{SolveError, SolveSettings, solve};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use proptest::strategy::Strategy;

#[test]
fn convolution_is_accurate_with_many_servers_and_customers() {
    let network = |users| ClosedNetwork {
        centres: vec![
            Centre::queue(64, vec![0.64]),
            Centre::queue(1, vec![0.009]),
            Centre::queue(4, vec![0.03]),
        ],
        classes: vec![ClosedClass { users, think_s: 1.0 }],
    };
    for users in [10, 100, 1_000, 10_000] {
        let found = convolution::means(&network(users));
        let rate = found.means.rates_per_s[0];
        // The 64 servers are the bottleneck: 100 per second.
        assert!(rate <= 100.0 * (1.0 + 1e-12));
        let all = found.means.in_system(0) + rate * 1.0;
        assert!((all / users as f64 - 1.0).abs() < 1e-10, "{users}: {all} {rate}");
        // The mean number of busy servers is 64 − Σ (64 − j)p(j), which must equal X·D. The marginal probabilities do
        // not include p(63), which is therefore the remaining difference. This difference must be a probability.
        let marginals = &found.marginals[0];
        assert_eq!(marginals.len(), 63);
        assert!(marginals.iter().all(|probability| (0.0..=1.0).contains(probability)));
        let idle: f64 =
            marginals.iter().zip(0..).map(|(probability, j)| probability * (64.0 - f64::from(j))).sum();
        let exactly_63 = 64.0 - rate * 0.64 - idle;
        assert!((-1e-10..=1.0).contains(&exactly_63), "{users}: {exactly_63}");
    }
    assert!((convolution::means(&network(10_000)).means.rates_per_s[0] - 100.0).abs() < 1e-9);
}

/// Random networks with two classes.
fn networks(servers_max: u32, users_max: u64) -> impl Strategy<Value = ClosedNetwork> {
    let centres = vec((1..=servers_max, vec(0.01..1.0_f64, 2)), 1..4);
    let classes = vec((1..=users_max, 0.1..5.0_f64), 2);
    (centres, classes).prop_map(|(centres, classes)| ClosedNetwork {
        centres: centres.into_iter().map(|(servers, demands_s)| Centre::queue(servers, demands_s)).collect(),
        classes: classes.into_iter().map(|(users, think_s)| ClosedClass { users, think_s }).collect(),
    })
}

proptest! {
    #[test]
    fn operational_laws_hold_in_closed_networks(network in networks(3, 5)) {
        let found = exact(&network);
        for (class, population) in network.classes.iter().enumerate() {
            // Little's law for the whole network: N = X(R + Z).
            let thinking = found.rates_per_s[class] * population.think_s;
            prop_assert!((found.in_system(class) + thinking - population.users as f64).abs() < 1e-9);
        }
        for (at, centre) in network.centres.iter().enumerate() {
            let servers = centre.speeds.as_ref().map_or(1.0, |speeds| speeds.len() as f64);
            let busy: f64 = centre.demands_s.iter().zip(&found.rates_per_s).map(|(d, x)| d * x).sum();
            // The utilization law; the queue includes the customers in service.
            prop_assert!(busy <= servers * (1.0 + 1e-12) && found.queue(at) >= busy * (1.0 - 1e-12));
        }
        // Another customer does not reduce the throughput of its class.
        let mut more = network.clone();
        more.classes[0].users += 1;
        prop_assert!(exact(&more).rates_per_s[0] >= found.rates_per_s[0] * (1.0 - 1e-12));
    }

    #[test]
    fn convolution_agrees_with_mean_value_analysis(network in networks(1, 6)) {
        let (found, expected) = (convolution::means(&network).means, multi_class::exact(&network));
        let rates = found.rates_per_s.iter().zip(&expected.rates_per_s);
        for (found, expected) in rates.chain(found.queues.iter().flatten().zip(expected.queues.iter().flatten())) {
            prop_assert!((found / expected - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn linearizer_is_within_its_published_error(network in networks(1, 12)) {
        let (found, truth) = (linearizer::linearizer(&network), exact(&network));
        for (found, truth) in found.rates_per_s.iter().zip(&truth.rates_per_s) {
            // Chandy & Neuse report less than 2 % in their worst case; the error of a class with one customer can be 2.03 %.
            prop_assert!((found / truth - 1.0).abs() < 0.025, "{found} {truth}");
        }
    }

    #[test]
    fn bounds_contain_the_exact_solution(
        demands_s in vec((0.001..1.0_f64, 1_u32..4), 1..5),
        users in 1_u64..200,
        think_s in 0.0..5.0_f64,
    ) {
        let stations = demands_s
            .iter()
            .enumerate()
            .map(|(at, (demand_s, servers))| Station::queue(format!("s{at}"), *servers, *demand_s))
            .collect();
        let network = QueueingNetwork::new(vec![CustomerClass::closed("c", users, think_s)], stations);
        let found = solve(&network, SolveSettings::default()).unwrap();
        let class = &found.classes[0];
        let bounds = class.bounds.unwrap();
        let within = |value: f64, from: f64, to: f64| value >= from * (1.0 - 1e-9) && value <= to * (1.0 + 1e-9);
        let wide = bounds.asymptotic_rate_per_s;
        prop_assert!(within(class.throughput_per_s, wide.from, wide.to));
        prop_assert_eq!(bounds.balanced_rate_per_s.is_some(), demands_s.iter().all(|(_, servers)| *servers == 1));
        if let Some(narrow) = bounds.balanced_rate_per_s {
            prop_assert!(within(class.throughput_per_s, narrow.from, narrow.to));
            prop_assert!(narrow.from >= wide.from * (1.0 - 1e-9) && narrow.to <= wide.to * (1.0 + 1e-9));
        }
        // Residence times sum to R.
        let residence_s: f64 = found.stations.iter().filter_map(|station| station.classes[0].residence_s).sum();
        prop_assert!((residence_s / class.response_s.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn operational_laws_hold_in_open_networks(
        rates in vec(0.01..0.4_f64, 1..4),
        services_s in vec((0.01..0.8_f64, 1_u32..4), 1..4),
    ) {
        let classes =
            rates.iter().enumerate().map(|(at, rate)| CustomerClass::open(format!("c{at}"), *rate)).collect();
        let stations = services_s
            .iter()
            .enumerate()
            .map(|(at, (service_s, servers))| Station::queue(format!("s{at}"), *servers, *service_s))
            .collect();
        match solve(&QueueingNetwork::new(classes, stations), SolveSettings::default()) {
            Err(SolveError::Saturated(at)) => prop_assert!(at.iter().all(|at| at.utilization >= 1.0)),
            Err(error) => prop_assert!(false, "{}", error),
            Ok(found) => {
                for (station, (service_s, servers)) in found.stations.iter().zip(&services_s) {
                    // Flow balance and the utilization law.
                    let flow: f64 = rates.iter().sum();
                    let utilization = flow * service_s / f64::from(*servers);
                    prop_assert!((station.utilization.unwrap() - utilization).abs() < 1e-12);
                    for class in &station.classes {
                        let little = class.throughput_per_s * class.response_s.unwrap();
                        prop_assert!((class.queue - little).abs() < 1e-9);
                        prop_assert!(class.response_s.unwrap() >= class.service_s * (1.0 - 1e-12));
                    }
                }
            }
        }
    }
}

#[test]
fn the_tail_index_tells_which_moments_are_finite() {
    // E[S²], E[S³] and E[S⁴] of Pareto laws by their shape.
    for (shape, exist) in [
        (1.5, [false, false, false]),
        (2.0, [false, false, false]),
        (2.1, [true, false, false]),
        (2.3, [true, false, false]),
        (2.6, [true, false, false]),
        (3.0, [true, false, false]),
        (3.1, [true, true, false]),
        (3.5, [true, true, false]),
        (4.0, [true, true, false]),
        (4.1, [true, true, true]),
    ] {
        let law: TimeLaw = format!("pareto(1s, shape={shape})").parse().unwrap();
        assert_eq!([2.0, 3.0, 4.0].map(|order| order < law.tail_index()), exist, "{shape}");
        assert_eq!(law.scv().is_finite(), exist[0], "{shape}");
    }
    for text in [
        "1s",
        "constant(1s)",
        "erlang(1s, 3)",
        "hyperexponential(1s, 4)",
        "coxian(1s, 2s, 0.5)",
        "gamma(1s, 5)",
        "lognormal(1s, 5)",
        "normal(1s, 2s)",
        "uniform(1s, 2s)",
        "weibull(1s, 0.2)",
        "mmpp2(1/s, 5/s, 1/s, 1/s)",
        "replay(times.txt)",
    ] {
        let law: TimeLaw = text.parse().unwrap();
        assert_eq!(law.tail_index(), f64::INFINITY, "{text}");
    }
}
