//! Compares solutions of networks with published figures, and checks which networks are not solved.

use busyhour_queueing::network::{
    Capacity, ClassLoad, CustomerClass, PerClass, Place, Queue, QueueingNetwork, Route, Scheduling, Station,
    StationKind, Strategy, TimeLaw, WhenFull,
};
use busyhour_queueing::solve::{
    BrokenAssumption, Method, MethodUsed, Solution, SolveError, SolveSettings, solve,
};

fn solved(network: &QueueingNetwork) -> Solution {
    solve(network, SolveSettings::default()).unwrap()
}

fn one_class(class: CustomerClass, stations: Vec<Station>) -> QueueingNetwork {
    QueueingNetwork::new(vec![class], stations)
}

fn with_queue(mut station: Station, change: impl FnOnce(&mut Queue)) -> Station {
    if let StationKind::Queue(queue) = &mut station.kind {
        change(queue);
    }
    station
}

/// X and R of the only class, as printed.
fn printed(solution: &Solution, x_digits: usize, r_digits: usize) -> String {
    let class = &solution.classes[0];
    format!("{:.x_digits$} {:.r_digits$}", class.throughput_per_s, class.response_s.unwrap())
}

#[test]
fn solutions_agree_with_independent_solvers() {
    let found = solved(&one_class(CustomerClass::open("c", 0.75), vec![Station::queue("q", 1, 1.0)]));
    assert_eq!(printed(&found, 2, 10), "0.75 4.0000000000");
    assert!((found.classes[0].in_system - 3.0).abs() < 1e-12);
    // P(R ≤ t) = 1 − e^(−t/4).
    assert!((found.classes[0].quantiles[1].response_s - 4.0 * 10_f64.ln()).abs() < 1e-9);

    let found = solved(&one_class(CustomerClass::open("c", 12.0), vec![Station::queue("q", 4, 0.25)]));
    assert_eq!(printed(&found, 2, 8), "12.00 0.37735849");
    assert_eq!(format!("{:.8}", found.classes[0].in_system), "4.52830189");

    let stations =
        vec![Station::queue("a", 1, 0.125), Station::queue("b", 1, 0.3), Station::queue("c", 1, 0.2)];
    let network = one_class(CustomerClass::closed("c", 20, 4.0), stations);
    assert_eq!(printed(&solved(&network), 8, 8), "3.12751041 2.39486280");
    let found = solve(&network, SolveSettings { method: Method::Schweitzer, approximate: false }).unwrap();
    assert_eq!(format!("{:.8}", found.classes[0].throughput_per_s), "2.99046820");

    let stations =
        vec![Station::queue("a", 1, 0.605), Station::queue("b", 1, 2.1), Station::queue("c", 1, 1.35)];
    let found = solved(&one_class(CustomerClass::closed("batch", 6, 0.0), stations));
    assert_eq!(printed(&found, 8, 8), "0.45980337 13.04905614");

    let station = Station::queue("q", 2, 2.0 / 157.0);
    let found = solved(&one_class(CustomerClass::closed("c", 100, 0.7), vec![station]));
    assert_eq!(printed(&found, 6, 7), "135.208381 0.0395991");
    assert_eq!(found.method, MethodUsed::Convolution);
}

/// Service time of a server of the seed study in docs/capacity-models.md (config 3).
const SERVICE_S: f64 = 1.0 / 135.491_597_2;

#[test]
fn config_3_of_the_seed_study_is_solved() {
    let figures = [
        (50, "69.9633", ".71466"),
        (100, "128.9833", ".77529"),
        (200, "135.4916", "1.4761"),
        (500, "135.4916", "3.690"),
    ];
    for (users, x, cycle) in figures {
        let mut class = CustomerClass::closed("users", users, 0.7);
        class.load = ClassLoad::Closed { users, think: TimeLaw::Deterministic { mean_s: 0.7 } };
        let found = solved(&one_class(class, vec![Station::queue("server", 1, SERVICE_S)]));
        assert_eq!(format!("{:.4}", found.classes[0].throughput_per_s), x);
        let digits = cycle.split('.').nth(1).unwrap().len();
        let found_cycle = format!("{:.digits$}", found.classes[0].response_s.unwrap() + 0.7);
        assert_eq!(found_cycle.trim_start_matches('0'), cycle);
    }
    // Two servers, N = 150: random routing is solved exactly, and a shared queue is an upper bound.
    let random = solved(&two_servers(Strategy::Random(vec![Place::named("a"), Place::named("b")])));
    assert_eq!(format!("{:.3}", random.classes[0].throughput_per_s), "205.857");
    let shared =
        one_class(CustomerClass::closed("users", 150, 0.7), vec![Station::queue("ab", 2, SERVICE_S)]);
    assert_eq!(format!("{:.3}", solved(&shared).classes[0].throughput_per_s), "209.195");
}

fn two_servers(strategy: Strategy) -> QueueingNetwork {
    let mut network = one_class(
        CustomerClass::closed("users", 150, 0.7),
        vec![Station::queue("a", 1, SERVICE_S), Station::queue("b", 1, SERVICE_S)],
    );
    let outside = |from: &str| Route {
        from: Place::named(from),
        classes: Vec::new(),
        strategy: Strategy::Random(vec![Place::Outside]),
    };
    network.routes =
        vec![Route { from: Place::Outside, classes: Vec::new(), strategy }, outside("a"), outside("b")];
    network
}

#[test]
fn networks_without_product_form_are_not_solved_silently() {
    let places = || vec![Place::named("a"), Place::named("b")];
    let network = two_servers(Strategy::JoinShortestQueue(places()));
    let Err(SolveError::NoProductForm(broken)) = solve(&network, SolveSettings::default()) else { panic!() };
    assert!(matches!(&broken[..], [BrokenAssumption::Routing { from, .. }] if from == "outside"));
    let found = solve(&network, SolveSettings { approximate: true, ..SolveSettings::default() }).unwrap();
    assert_eq!(found.ignored, broken);

    let closed = |users, station| one_class(CustomerClass::closed("c", users, 1.0), vec![station]);
    let deterministic = PerClass::Same(TimeLaw::Deterministic { mean_s: 0.1 });
    let fcfs = |servers| {
        with_queue(Station::queue("q", servers, 0.1), |queue| queue.service = deterministic.clone())
    };
    let result = solve(&closed(5, fcfs(2)), SolveSettings::default());
    assert!(matches!(result, Err(SolveError::NoProductForm(_))));
    // Processor sharing is insensitive to the law.
    let ps = with_queue(fcfs(1), |queue| queue.scheduling = Scheduling::ProcessorSharing);
    let (found, exponential) = (solved(&closed(5, ps)), solved(&closed(5, Station::queue("q", 1, 0.1))));
    assert_eq!(found.classes[0].throughput_per_s, exponential.classes[0].throughput_per_s);

    let small_capacity = with_queue(Station::queue("q", 1, 0.1), |queue| {
        queue.capacity = Some(Capacity { customers: 3, when_full: WhenFull::Block });
    });
    let result = solve(
        &closed(5, small_capacity.clone()),
        SolveSettings { approximate: true, ..SolveSettings::default() },
    );
    assert!(matches!(result, Err(SolveError::NoProductForm(_))));
    // Sufficient capacity is not a limit.
    assert!(solve(&closed(3, small_capacity), SolveSettings::default()).is_ok());
}

#[test]
fn a_closed_queue_with_non_exponential_service() {
    let station = |law: TimeLaw| {
        with_queue(Station::queue("q", 1, 1.0), |queue| queue.service = PerClass::Same(law.clone()))
    };
    let network_with = |law: TimeLaw, others: Vec<Station>| {
        let stations = [vec![station(law)], others].concat();
        QueueingNetwork::new(vec![CustomerClass::closed("users", 2, 2.0)], stations)
    };
    // Two users and constant service, calculated by hand: E[K] = e^(1/2), X = E[K]/(E[K] + 1).
    let constant = TimeLaw::Deterministic { mean_s: 1.0 };
    let found = solved(&network_with(constant.clone(), vec![]));
    let exact = 0.5_f64.exp() / (0.5_f64.exp() + 1.0);
    assert!((found.classes[0].throughput_per_s - exact).abs() < 1e-12);
    assert_eq!((found.method, &found.ignored[..]), (MethodUsed::BusyPeriods, &[][..]));
    let response_s = found.classes[0].response_s.unwrap();
    assert!((response_s - (2.0 / exact - 2.0)).abs() < 1e-12);
    assert!((found.stations[0].queue - exact * response_s).abs() < 1e-12);
    assert!((found.stations[0].utilization.unwrap() - exact).abs() < 1e-12);

    // A delay changes the law of the pause: the result is approximate, and this is reported.
    let latency = Station {
        name: "latency".into(),
        kind: StationKind::Delay { service: PerClass::Same(TimeLaw::Deterministic { mean_s: 0.5 }) },
        visits: PerClass::Same(1.0),
    };
    let gamma = TimeLaw::Gamma { mean_s: 1.0, cv: 0.5 };
    let network = network_with(gamma.clone(), vec![latency]);
    assert!(matches!(solve(&network, SolveSettings::default()), Err(SolveError::NoProductForm(_))));
    let approximate =
        solve(&network, SolveSettings { approximate: true, ..SolveSettings::default() }).unwrap();
    assert!(
        matches!(&approximate.ignored[..], [BrokenAssumption::Pause { class }] if class == "users"),
        "{:?}",
        approximate.ignored
    );
    let erlang = TimeLaw::Erlang { mean_s: 1.0, phases: 4 };
    let mut longer = network_with(erlang, vec![]);
    longer.classes[0] = CustomerClass::closed("users", 2, 2.5);
    let same = solved(&longer).classes[0].throughput_per_s;
    assert!((approximate.classes[0].throughput_per_s / same - 1.0).abs() < 1e-12);

    // The solution by busy periods does not apply to two visits per pass.
    let twice = Station { visits: PerClass::Same(2.0), ..station(gamma) };
    let twice = QueueingNetwork::new(vec![CustomerClass::closed("users", 2, 2.0)], vec![twice]);
    assert!(matches!(solve(&twice, SolveSettings::default()), Err(SolveError::NoProductForm(_))));
}

#[test]
fn one_queue_without_product_form_is_solved_exactly() {
    // M/D/1 at half load: W = ρS/(2(1 − ρ)) = S/2.
    let constant = PerClass::Same(TimeLaw::Deterministic { mean_s: 1.0 });
    let station = with_queue(Station::queue("q", 1, 1.0), |queue| queue.service = constant);
    let found = solved(&one_class(CustomerClass::open("c", 0.5), vec![station]));
    assert_eq!(printed(&found, 1, 6), "0.5 1.500000");
    assert_eq!(found.method, MethodUsed::PollaczekKhinchine);

    // Cobham's formula for two classes, calculated by hand: λ = .3 and .4, S = 1 exponential; W₀ = .7,
    // W₁ = .7/.7 = 1, W₂ = .7/(.7·.3) = 10/3.
    let responses_s = |scheduling: Scheduling| {
        let urgent = CustomerClass { priority: 1, ..CustomerClass::open("urgent", 0.3) };
        let station = with_queue(Station::queue("q", 1, 1.0), |queue| queue.scheduling = scheduling);
        let network = QueueingNetwork::new(vec![urgent, CustomerClass::open("other", 0.4)], vec![station]);
        let found = solved(&network);
        [0, 1].map(|class| found.classes[class].response_s.unwrap())
    };
    let assert_near = |found: [f64; 2], expected: [f64; 2]| {
        found.iter().zip(expected).for_each(|(found, expected)| assert!((found - expected).abs() < 1e-12));
    };
    assert_near(responses_s(Scheduling::Priority), [2.0, 13.0 / 3.0]);
    // Preemptive: 1/(1 − .3) for the urgent class, which the other class does not delay; 1/.7 + .7/(.7·.3) for the other.
    assert_near(responses_s(Scheduling::PriorityPreemptive), [1.0 / 0.7, 1.0 / 0.7 + 0.7 / (0.7 * 0.3)]);

    // M/M/1/4 at load 1: one customer in five is lost.
    let lossy = with_queue(Station::queue("q", 1, 1.0), |queue| {
        queue.capacity = Some(Capacity { customers: 4, when_full: WhenFull::Drop });
    });
    let found = solved(&one_class(CustomerClass::open("c", 1.0), vec![lossy]));
    assert!((found.classes[0].lost_share.unwrap() - 0.2).abs() < 1e-12);
    assert_eq!(printed(&found, 6, 6), "0.800000 2.500000");
}

#[test]
fn saturation_is_reported_as_an_error() {
    let network = one_class(CustomerClass::open("c", 12.0), vec![Station::queue("db", 1, 0.1)]);
    let error = solve(&network, SolveSettings::default()).unwrap_err();
    assert_eq!(error.to_string(), "station \"db\" is saturated: U = 1.2000");
}

#[test]
fn visits_follow_from_the_routes() {
    // A third of the visits to `a` end the pass; the others continue to `b` and return.
    let mut network = one_class(
        CustomerClass::open("c", 1.0),
        vec![Station::queue("a", 1, 0.1), Station::queue("b", 1, 0.2)],
    );
    let route = |from: &str, to: &[(&str, f64)]| Route {
        from: Place::named(from),
        classes: Vec::new(),
        strategy: Strategy::Probabilities(
            to.iter().map(|(name, share)| (Place::named(name), *share)).collect(),
        ),
    };
    network.routes = vec![
        route("outside", &[("a", 1.0)]),
        route("a", &[("outside", 1.0 / 3.0), ("b", 2.0 / 3.0)]),
        route("b", &[("a", 1.0)]),
    ];
    let found = solved(&network);
    let visits: Vec<f64> = found.stations.iter().map(|station| station.classes[0].visits).collect();
    assert!((visits[0] - 3.0).abs() < 1e-12 && (visits[1] - 2.0).abs() < 1e-12, "{visits:?}");
    // Jackson: R = Σ v S/(1 − λ v S).
    assert!((found.classes[0].response_s.unwrap() - (0.3 / 0.7 + 0.4 / 0.6)).abs() < 1e-12);
}
