//! Solutions against Markov chains that are solved directly.

use std::collections::HashMap;

use busyhour_queueing::mva::{Centre, ClosedMeans, ClosedNetwork, Population, convolution, exact};
use busyhour_queueing::network::{
    CustomerClass, PerClass, QueueingNetwork, Scheduling, Station, StationKind, TimeLaw,
};
use busyhour_queueing::solve::{Settings, solve};

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

/// A Poisson stream at the last centre: rate, mean service time, and how many are kept at most.
type Stream = (f64, f64, u64);

/// Customers of each class at each centre, centre by centre; then those of the stream.
type State = Vec<u64>;

/// Where a state goes, and how often per second: customers think, go through the centres in their order, and think
/// again. Centres are shared by all present customers.
fn moves(network: &ClosedNetwork, stream: Option<Stream>, state: &State) -> Vec<(State, f64)> {
    let (centres, classes) = (network.centres.len(), network.classes.len());
    let streaming = state[centres * classes];
    let all = |centre: usize| {
        let closed: u64 = state[centre * classes..(centre + 1) * classes].iter().sum();
        if centre + 1 == centres { closed + streaming } else { closed }
    };
    let mut to = Vec::new();
    let mut go = |change: &dyn Fn(&mut State), rate: f64| {
        let mut after = state.clone();
        change(&mut after);
        to.push((after, rate));
    };
    for (class, population) in network.classes.iter().enumerate() {
        let away: u64 = (0..centres).map(|centre| state[centre * classes + class]).sum();
        if population.users > away {
            go(&|after| after[class] += 1, (population.users - away) as f64 / population.think_s);
        }
        for (centre, data) in network.centres.iter().enumerate() {
            let here = state[centre * classes + class];
            if here > 0 {
                let share = here as f64 / all(centre) as f64;
                let leave = |after: &mut State| {
                    after[centre * classes + class] -= 1;
                    if centre + 1 < centres {
                        after[(centre + 1) * classes + class] += 1;
                    }
                };
                go(&leave, speed(data, all(centre)) * share / data.demands_s[class]);
            }
        }
    }
    if let Some((rate, service_s, most)) = stream {
        let last = centres * classes;
        if streaming < most {
            go(&|after| after[last] += 1, rate);
        }
        if streaming > 0 {
            let share = streaming as f64 / all(centres - 1) as f64;
            let speed = speed(&network.centres[centres - 1], all(centres - 1));
            go(&|after| after[last] -= 1, speed * share / service_s);
        }
    }
    to
}

/// The mean values of the chain, and the mean customers of the stream.
fn chain(network: &ClosedNetwork, stream: Option<Stream>) -> (ClosedMeans, f64) {
    let (centres, classes) = (network.centres.len(), network.classes.len());
    let mut states: Vec<State> = vec![vec![0; centres * classes + 1]];
    let mut index: HashMap<State, usize> = HashMap::from([(states[0].clone(), 0)]);
    let mut found: Vec<(usize, usize, f64)> = Vec::new();
    let mut next = 0;
    while next < states.len() {
        for (after, rate) in moves(network, stream, &states[next]) {
            let place = *index.entry(after.clone()).or_insert_with(|| {
                states.push(after);
                states.len() - 1
            });
            found.push((next, place, rate));
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
            let away: f64 = queues.iter().map(|queue| queue[class]).sum();
            (network.classes[class].users as f64 - away) / network.classes[class].think_s
        })
        .collect();
    (ClosedMeans { rates_per_s, queues }, mean(centres * classes))
}

fn assert_near(found: &ClosedMeans, wanted: &ClosedMeans) {
    let rates = found.rates_per_s.iter().zip(&wanted.rates_per_s);
    for (found, wanted) in rates.chain(found.queues.iter().flatten().zip(wanted.queues.iter().flatten())) {
        assert!((found / wanted - 1.0).abs() < 1e-10, "{found} is not {wanted}");
    }
}

#[test]
fn exact_solutions_are_those_of_the_chain() {
    let classes = vec![Population { users: 3, think_s: 0.5 }, Population { users: 2, think_s: 1.5 }];
    // One server, two servers, and a station that gets slower, then faster than its last speed.
    for speeds in [vec![1.0], vec![1.0, 2.0], vec![1.0, 0.6, 2.5, 1.5]] {
        let centres = vec![
            Centre::queue(1, vec![0.2, 0.5]),
            Centre { demands_s: vec![0.7, 0.3], speeds: Some(speeds) },
            Centre::delay(vec![0.4, 0.1]),
        ];
        let network = ClosedNetwork { centres, classes: classes.clone() };
        let (wanted, _) = chain(&network, None);
        assert_near(&exact(&network), &wanted);
        assert_near(&convolution::means(&network).means, &wanted);
    }
    let network = ClosedNetwork {
        centres: vec![
            Centre::queue(3, vec![0.9]),
            Centre::queue(2, vec![0.5]),
            Centre { demands_s: vec![0.7], speeds: Some(vec![1.0, 1.2, 1.3]) },
        ],
        classes: vec![Population { users: 7, think_s: 0.8 }],
    };
    assert_near(&exact(&network), &chain(&network, None).0);
}

#[test]
fn mixed_networks_are_those_of_the_chain() {
    for servers in [1, 2, 3] {
        let closed = ClosedNetwork {
            centres: vec![Centre::queue(1, vec![0.4]), Centre::queue(servers, vec![0.5])],
            classes: vec![Population { users: 3, think_s: 1.0 }],
        };
        // The stream's load is 0.3: that there are more than 40 has a probability of some 10⁻²⁰.
        let (wanted, streaming) = chain(&closed, Some((1.5, 0.2, 40)));
        let station = |name: &str, servers, services: &[(&str, f64)]| {
            let mut station = Station::queue(name, servers, 0.0);
            if let StationKind::Queue(queue) = &mut station.kind {
                let law = |mean_s: f64| TimeLaw::Exponential { mean_s };
                queue.service =
                    PerClass::ByClass(services.iter().map(|(class, s)| ((*class).to_owned(), law(*s))).collect());
                queue.scheduling = Scheduling::ProcessorSharing;
            }
            station
        };
        let network = QueueingNetwork::new(
            vec![CustomerClass::closed("c", 3, 1.0), CustomerClass::open("o", 1.5)],
            vec![station("a", 1, &[("c", 0.4)]), station("b", servers, &[("c", 0.5), ("o", 0.2)])],
        );
        let found = solve(&network, Settings::default()).unwrap();
        assert!((found.classes[0].throughput_per_s / wanted.rates_per_s[0] - 1.0).abs() < 1e-9);
        let queue = found.stations[1].classes[1].queue;
        assert!((queue / streaming - 1.0).abs() < 1e-9, "{servers} servers: {queue} is not {streaming}");
    }
}
