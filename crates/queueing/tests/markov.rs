//! Compares solutions with Markov chains that are solved directly.

use std::collections::HashMap;

use busyhour_queueing::mva::{Centre, ClosedClass, ClosedMeans, ClosedNetwork, convolution, exact};
use busyhour_queueing::network::{
    CustomerClass, PerClass, QueueingNetwork, Scheduling, Station, StationKind, TimeLaw,
};
use busyhour_queueing::solve::{SolveSettings, solve};

/// The stationary distribution of a Markov chain with these rates, by elimination (Grassmann, Taksar & Heyman).
fn stationary(rates: &mut [Vec<f64>]) -> Vec<f64> {
    let size = rates.len();
    for n in (1..size).rev() {
        let out: f64 = rates[n][..n].iter().sum();
        let (above, below) = rates.split_at_mut(n);
        for row in above {
            row[n] /= out;
            let factor = row[n];
            if factor != 0.0 {
                row[..n].iter_mut().zip(&below[0][..n]).for_each(|(rate, step)| *rate += factor * step);
            }
        }
    }
    let mut found = vec![1.0; size];
    for n in 1..size {
        found[n] = (0..n).map(|i| found[i] * rates[i][n]).sum();
    }
    let sum: f64 = found.iter().sum();
    found.iter().map(|weight| weight / sum).collect()
}

fn speed(centre: &Centre, customers: u64) -> f64 {
    match &centre.speeds {
        None => customers as f64,
        Some(speeds) => speeds[(customers as usize).min(speeds.len()) - 1],
    }
}

/// A Poisson stream at the last centre: rate, mean service time, and maximum number of customers.
type Stream = (f64, f64, u64);

/// Customers of each class at each centre, centre by centre, followed by the customers of the stream.
type State = Vec<u64>;

/// The transitions of a state with their rates per second. Customers think, visit the centres in their order, and think
/// again. All customers at a centre share it equally.
fn transitions(network: &ClosedNetwork, stream: Option<Stream>, state: &State) -> Vec<(State, f64)> {
    let (centres, classes) = (network.centres.len(), network.classes.len());
    let streaming = state[centres * classes];
    let all = |centre: usize| {
        let closed: u64 = state[centre * classes..(centre + 1) * classes].iter().sum();
        if centre + 1 == centres { closed + streaming } else { closed }
    };
    let mut to = Vec::new();
    let mut add = |change: &dyn Fn(&mut State), rate: f64| {
        let mut after = state.clone();
        change(&mut after);
        to.push((after, rate));
    };
    for (class, population) in network.classes.iter().enumerate() {
        let in_system: u64 = (0..centres).map(|centre| state[centre * classes + class]).sum();
        if population.users > in_system {
            add(&|after| after[class] += 1, (population.users - in_system) as f64 / population.think_s);
        }
        for (centre, data) in network.centres.iter().enumerate() {
            let present = state[centre * classes + class];
            if present > 0 {
                let share = present as f64 / all(centre) as f64;
                let leave = |after: &mut State| {
                    after[centre * classes + class] -= 1;
                    if centre + 1 < centres {
                        after[(centre + 1) * classes + class] += 1;
                    }
                };
                add(&leave, speed(data, all(centre)) * share / data.demands_s[class]);
            }
        }
    }
    if let Some((rate, service_s, customers_max)) = stream {
        let last = centres * classes;
        if streaming < customers_max {
            add(&|after| after[last] += 1, rate);
        }
        if streaming > 0 {
            let share = streaming as f64 / all(centres - 1) as f64;
            let speed = speed(&network.centres[centres - 1], all(centres - 1));
            add(&|after| after[last] -= 1, speed * share / service_s);
        }
    }
    to
}

/// The mean values of the Markov chain, and the mean number of customers of the stream.
fn solve_chain(network: &ClosedNetwork, stream: Option<Stream>) -> (ClosedMeans, f64) {
    let (centres, classes) = (network.centres.len(), network.classes.len());
    let mut states: Vec<State> = vec![vec![0; centres * classes + 1]];
    let mut index: HashMap<State, usize> = HashMap::from([(states[0].clone(), 0)]);
    let mut found: Vec<(usize, usize, f64)> = Vec::new();
    let mut next = 0;
    while next < states.len() {
        for (after, rate) in transitions(network, stream, &states[next]) {
            let to = *index.entry(after.clone()).or_insert_with(|| {
                states.push(after);
                states.len() - 1
            });
            found.push((next, to, rate));
        }
        next += 1;
    }
    let mut rates = vec![vec![0.0; states.len()]; states.len()];
    for (from, to, rate) in found {
        rates[from][to] += rate;
    }
    let weights = stationary(&mut rates);
    let mean = |at: usize| -> f64 {
        states.iter().zip(&weights).map(|(state, weight)| weight * state[at] as f64).sum()
    };
    let queues: Vec<Vec<f64>> = (0..centres)
        .map(|centre| (0..classes).map(|class| mean(centre * classes + class)).collect())
        .collect();
    let rates_per_s = (0..classes)
        .map(|class| {
            let in_system: f64 = queues.iter().map(|queue| queue[class]).sum();
            (network.classes[class].users as f64 - in_system) / network.classes[class].think_s
        })
        .collect();
    (ClosedMeans { rates_per_s, queues }, mean(centres * classes))
}

fn assert_near(found: &ClosedMeans, expected: &ClosedMeans) {
    let rates = found.rates_per_s.iter().zip(&expected.rates_per_s);
    let queues = found.queues.iter().flatten().zip(expected.queues.iter().flatten());
    for (found, expected) in rates.chain(queues) {
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} differs from {expected}");
    }
}

#[test]
fn exact_solutions_agree_with_the_markov_chain() {
    let classes = vec![ClosedClass { users: 3, think_s: 0.5 }, ClosedClass { users: 2, think_s: 1.5 }];
    // One server, two servers, and a station whose speed decreases first and then exceeds its last speed.
    for speeds in [vec![1.0], vec![1.0, 2.0], vec![1.0, 0.6, 2.5, 1.5]] {
        let centres = vec![
            Centre::queue(1, vec![0.2, 0.5]),
            Centre { demands_s: vec![0.7, 0.3], speeds: Some(speeds) },
            Centre::delay(vec![0.4, 0.1]),
        ];
        let network = ClosedNetwork { centres, classes: classes.clone() };
        let (expected, _) = solve_chain(&network, None);
        assert_near(&exact(&network), &expected);
        assert_near(&convolution::means(&network).means, &expected);
    }
    let network = ClosedNetwork {
        centres: vec![
            Centre::queue(3, vec![0.9]),
            Centre::queue(2, vec![0.5]),
            Centre { demands_s: vec![0.7], speeds: Some(vec![1.0, 1.2, 1.3]) },
        ],
        classes: vec![ClosedClass { users: 7, think_s: 0.8 }],
    };
    assert_near(&exact(&network), &solve_chain(&network, None).0);
}

#[test]
fn mixed_networks_agree_with_the_markov_chain() {
    for servers in [1, 2, 3] {
        let closed = ClosedNetwork {
            centres: vec![Centre::queue(1, vec![0.4]), Centre::queue(servers, vec![0.5])],
            classes: vec![ClosedClass { users: 3, think_s: 1.0 }],
        };
        // The load of the stream is 0.3; the probability of more than 40 customers is about 10⁻²⁰.
        let (expected, streaming) = solve_chain(&closed, Some((1.5, 0.2, 40)));
        let station = |name: &str, servers, services: &[(&str, f64)]| {
            let mut station = Station::queue(name, servers, 0.0);
            if let StationKind::Queue(queue) = &mut station.kind {
                let law = |mean_s: f64| TimeLaw::Exponential { mean_s };
                queue.service = PerClass::ByClass(
                    services.iter().map(|(class, s)| ((*class).to_owned(), law(*s))).collect(),
                );
                queue.scheduling = Scheduling::ProcessorSharing;
            }
            station
        };
        let network = QueueingNetwork::new(
            vec![CustomerClass::closed("c", 3, 1.0), CustomerClass::open("o", 1.5)],
            vec![station("a", 1, &[("c", 0.4)]), station("b", servers, &[("c", 0.5), ("o", 0.2)])],
        );
        let found = solve(&network, SolveSettings::default()).unwrap();
        assert!((found.classes[0].throughput_per_s / expected.rates_per_s[0] - 1.0).abs() < 1e-9);
        let queue = found.stations[1].classes[1].queue;
        assert!(
            (queue / streaming - 1.0).abs() < 1e-9,
            "{servers} servers: {queue} differs from {streaming}"
        );
    }
}
