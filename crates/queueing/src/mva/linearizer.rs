//! Approximate mean values, whose cost does not depend on the populations.
//!
//! Schweitzer's method and Linearizer apply Reiser & Lavenberg's equations to the full population and estimate the queues with
//! one customer less.
//! Let F_kj = Q_kj/N_j be the share of class j at centre k. Schweitzer (1979) and Bard (1979) assume that the shares do not
//! change. Linearizer (Chandy & Neuse, CACM 25, 1982) estimates their changes by also solving the network with one customer
//! less of each class. The sums over classes are computed once per iteration (de Souza e Silva & Muntz, IEEE Trans. Computers
//! 39, 1990).
//!
//! A centre of m servers is replaced by one server of demand D/m and a delay of D(m−1)/m (Seidmann, Schweitzer &
//! Shalev-Oren, Large Scale Systems 12, 1987). This is exact for one customer and in the limit of many customers, with errors
//! of a few per cent in between.

use super::closed_network::{ClosedMeans, ClosedNetwork};

/// Stopping rule of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// No queue changes by this number of customers or more in a step. PDQ uses 0.001.
    Customers(f64),
    /// No queue changes by this share of the customers of its class or more in a step.
    Share(f64),
}

/// PDQ's stopping rule, which published tables use.
pub const PDQ: StopRule = StopRule::Customers(0.001);

/// Stricter than the rule of Chandy & Neuse, 1/(4000 + 16|N|), because steps are cheap.
const CONVERGED: StopRule = StopRule::Share(1e-10);

/// Maximum number of steps of one iteration. It is not reached in practice, because a few steps halve the error.
const STEPS_MAX: usize = 100_000;

/// Number of rounds of Linearizer, as in its publication.
const ROUNDS: usize = 3;

/// A network in which single servers and delays replace the centres with several servers.
struct ReducedNetwork {
    /// Demand at the single server: `[centre][class]`.
    demands_s: Vec<Vec<f64>>,
    /// Sum of the think time and all delays of each class.
    delays_s: Vec<f64>,
    /// Delay of each class at each centre: `[centre][class]`.
    delay_at_s: Vec<Vec<f64>>,
}

impl ReducedNetwork {
    fn new(network: &ClosedNetwork) -> Self {
        let mut delays_s: Vec<f64> = network.classes.iter().map(|class| class.think_s).collect();
        let (mut demands_s, mut delay_at_s) = (Vec::new(), Vec::new());
        for centre in &network.centres {
            // With many customers a centre works at its highest speed.
            let servers = match &centre.speeds {
                Some(speeds) => speeds.iter().copied().fold(0.0, f64::max),
                None => f64::INFINITY,
            };
            let waiting: Vec<f64> = centre.demands_s.iter().map(|demand_s| demand_s / servers).collect();
            let delayed: Vec<f64> = centre
                .demands_s
                .iter()
                .zip(&waiting)
                .map(|(demand_s, at_server)| (demand_s - at_server).max(0.0))
                .collect();
            delays_s.iter_mut().zip(&delayed).for_each(|(sum, delay_s)| *sum += delay_s);
            demands_s.push(waiting);
            delay_at_s.push(delayed);
        }
        Self { demands_s, delays_s, delay_at_s }
    }
}

/// Changes of the shares if one customer is removed: `[class of the removed customer][centre][class]`.
type Changes = Vec<Vec<Vec<f64>>>;

/// Shares and throughputs for one population.
struct State {
    /// The shares F_kj: `[centre][class]`.
    shares: Vec<Vec<f64>>,
    rates_per_s: Vec<f64>,
}

/// Solves the equations for one population, given the changes of the shares.
fn iterate(
    network: &ReducedNetwork,
    users: &[f64],
    changes: Option<&Changes>,
    mut state: State,
    stop: StopRule,
) -> State {
    let (centres, classes) = (network.demands_s.len(), users.len());
    let users_without = |class: usize, removed: usize| {
        if class == removed { (users[class] - 1.0).max(0.0) } else { users[class] }
    };
    // Σ_j (N − e_s)_j D_kjs is constant during the iteration. D_kjs is the change of F_kj if a customer of class s is removed.
    let corrections: Vec<Vec<f64>> = (0..classes)
        .map(|removed| match changes {
            None => vec![0.0; centres],
            Some(changes) => (0..centres)
                .map(|centre| {
                    (0..classes)
                        .map(|class| users_without(class, removed) * changes[removed][centre][class])
                        .sum()
                })
                .collect(),
        })
        .collect();
    let mut residences_s = vec![0.0; centres];
    for _ in 0..STEPS_MAX {
        let totals: Vec<f64> = state
            .shares
            .iter()
            .map(|shares| shares.iter().zip(users).map(|(share, users)| share * users).sum())
            .collect();
        let mut change: f64 = 0.0;
        for class in 0..classes {
            if users[class] == 0.0 {
                state.rates_per_s[class] = 0.0;
                continue;
            }
            let mut cycle_s = network.delays_s[class];
            for centre in 0..centres {
                let own = state.shares[centre][class] * (users[class] - users_without(class, class));
                let others = (totals[centre] - own + corrections[class][centre]).max(0.0);
                residences_s[centre] = network.demands_s[centre][class] * (1.0 + others);
                cycle_s += residences_s[centre];
            }
            state.rates_per_s[class] = users[class] / cycle_s;
            for (residence_s, shares) in residences_s.iter().zip(&mut state.shares) {
                let share = residence_s / cycle_s;
                let difference = (share - shares[class]).abs();
                change = change.max(match stop {
                    StopRule::Customers(_) => difference * users[class],
                    StopRule::Share(_) => difference,
                });
                shares[class] = share;
            }
        }
        let (StopRule::Customers(limit) | StopRule::Share(limit)) = stop;
        if change < limit {
            break;
        }
    }
    state
}

fn initial_state(network: &ReducedNetwork, classes: usize) -> State {
    let share = 1.0 / network.demands_s.len().max(1) as f64;
    State { shares: vec![vec![share; classes]; network.demands_s.len()], rates_per_s: vec![0.0; classes] }
}

fn means(network: &ReducedNetwork, users: &[f64], state: &State) -> ClosedMeans {
    let queues = state
        .shares
        .iter()
        .zip(&network.delay_at_s)
        .map(|(shares, delays_s)| {
            shares
                .iter()
                .zip(users)
                .zip(delays_s.iter().zip(&state.rates_per_s))
                // A class without visits to the centre has only the initial share.
                .map(|((share, users), (delay_s, rate))| share * users + rate * delay_s)
                .collect()
        })
        .collect();
    ClosedMeans { rates_per_s: state.rates_per_s.clone(), queues }
}

/// Approximate mean values by Bard and Schweitzer. The error is largest, up to 10 %, if the network is about half full.
#[must_use]
pub fn schweitzer(network: &ClosedNetwork, stop: StopRule) -> ClosedMeans {
    let reduced = ReducedNetwork::new(network);
    let users: Vec<f64> = network.classes.iter().map(|class| class.users as f64).collect();
    let state = iterate(&reduced, &users, None, initial_state(&reduced, users.len()), stop);
    means(&reduced, &users, &state)
}

/// [`schweitzer`] until convergence.
#[must_use]
pub fn schweitzer_converged(network: &ClosedNetwork) -> ClosedMeans {
    schweitzer(network, CONVERGED)
}

/// Approximate mean values by Linearizer; most errors are below one per cent.
#[must_use]
pub fn linearizer(network: &ClosedNetwork) -> ClosedMeans {
    let reduced = ReducedNetwork::new(network);
    let users: Vec<f64> = network.classes.iter().map(|class| class.users as f64).collect();
    let (centres, classes) = (reduced.demands_s.len(), users.len());
    let mut changes: Changes = vec![vec![vec![0.0; classes]; centres]; classes];
    let mut full = iterate(&reduced, &users, None, initial_state(&reduced, classes), CONVERGED);
    for round in 0..ROUNDS {
        if round > 0 {
            full = iterate(&reduced, &users, Some(&changes), full, CONVERGED);
        }
        if round + 1 == ROUNDS {
            break;
        }
        let mut next = changes.clone();
        for removed in 0..classes {
            if users[removed] == 0.0 {
                continue;
            }
            let mut less = users.clone();
            less[removed] -= 1.0;
            let from = State { shares: full.shares.clone(), rates_per_s: full.rates_per_s.clone() };
            let found = iterate(&reduced, &less, Some(&changes), from, CONVERGED);
            for (centre, changes) in next[removed].iter_mut().enumerate() {
                for (class, change) in changes.iter_mut().enumerate() {
                    // An empty class has no shares, and its weight is 0.
                    *change = if less[class] > 0.0 {
                        found.shares[centre][class] - full.shares[centre][class]
                    } else {
                        0.0
                    };
                }
            }
        }
        changes = next;
    }
    means(&reduced, &users, &full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mva::{Centre, ClosedClass, exact};

    fn one_class(users: u64, think_s: f64, demands_s: &[f64]) -> ClosedNetwork {
        ClosedNetwork {
            centres: demands_s.iter().map(|demand_s| Centre::queue(1, vec![*demand_s])).collect(),
            classes: vec![ClosedClass { users, think_s }],
        }
    }

    #[test]
    fn schweitzer_agrees_with_an_independent_solver() {
        let found = schweitzer_converged(&one_class(20, 4.0, &[0.125, 0.3, 0.2]));
        assert_eq!(format!("{:.8}", found.rates_per_s[0]), "2.99046820");
    }

    #[test]
    fn table_1_of_brady_and_gunther() {
        // (N, Z, λ, Q, Q/Z) as printed.
        let table = [
            (100, 10, "9.80", "2.01", ".20"),
            (200, 10, "18.46", "15.37", "1.54"),
            (400, 10, "19.95", "200.52", "20.05"),
            (600, 10, "19.98", "400.17", "40.02"),
            (800, 10, "19.99", "600.09", "60.01"),
            (1000, 10, "19.99", "800.05", "80.01"),
            (100, 5, "17.80", "11.02", "2.20"),
            (400, 20, "18.93", "21.38", "1.07"),
            (600, 30, "19.14", "25.95", ".86"),
            (800, 40, "19.26", "29.78", ".74"),
            (1000, 50, "19.34", "33.15", ".66"),
        ];
        for (users, think, rate, queue, share) in table {
            let think_s = f64::from(think);
            let found = schweitzer(&one_class(users, think_s, &[0.05, 0.04, 0.03]), PDQ);
            let in_system = found.in_system(0);
            let row = format!("{:.2} {:.2} {:.2}", found.rates_per_s[0], in_system, in_system / think_s);
            assert_eq!(row.replace(" 0.", " ."), format!("{rate} {queue} {share}"), "{users}/{think}");
            // Equation (8): λ = N/Z − Q/Z.
            let by_equation_8 = users as f64 / think_s - in_system / think_s;
            assert_eq!(format!("{by_equation_8:.2}"), rate, "{users}/{think}");
        }
        assert_eq!(format!("{:.2}", exact(&one_class(200, 10.0, &[0.05, 0.04, 0.03])).in_system(0)), "13.59");
    }

    #[test]
    fn linearizer_is_more_accurate_than_schweitzer() {
        let network = one_class(20, 4.0, &[0.125, 0.3, 0.2]);
        let exact_rate = exact(&network).rates_per_s[0];
        let error = |found: ClosedMeans| (found.rates_per_s[0] / exact_rate - 1.0).abs();
        let (by_linearizer, by_schweitzer) =
            (error(linearizer(&network)), error(schweitzer_converged(&network)));
        assert!(
            by_linearizer < 0.01 && by_linearizer < by_schweitzer / 3.0,
            "{by_linearizer} {by_schweitzer}"
        );
    }

    #[test]
    fn linearizer_conserves_the_customers_of_a_hundred_classes() {
        let classes = 100_u32;
        let network = ClosedNetwork {
            centres: (0..5)
                .map(|centre| {
                    Centre::queue(
                        1,
                        (0..classes)
                            .map(|class| 1e-3 * f64::from(1 + (class * 7 + centre * 3) % 11))
                            .collect(),
                    )
                })
                .collect(),
            classes: (0..classes)
                .map(|class| ClosedClass { users: 1 + u64::from(class) % 5, think_s: 1.0 })
                .collect(),
        };
        let found = linearizer(&network);
        for (class, population) in network.classes.iter().enumerate() {
            let thinking = found.rates_per_s[class] * population.think_s;
            assert!((found.in_system(class) + thinking - population.users as f64).abs() < 1e-9);
        }
    }
}
