//! Approximate mean values, whose cost does not depend on the populations.
//!
//! Both apply Reiser & Lavenberg's equations to the whole population and estimate the queues with one customer less. With F_kj = Q_kj/N_j the share of class j at centre k, Schweitzer (1979) and Bard (1979) assume that these
//! shares do not change; Linearizer (Chandy & Neuse, CACM 25, 1982) estimates how they change, by solving the
//! network with one customer less of each class, too. The sums over classes are computed once per iteration (de Souza e Silva &
//! Muntz, IEEE Trans. Computers 39, 1990).
//!
//! A centre of m servers is replaced by one server of demand D/m and a delay of D(m−1)/m (Seidmann, Schweitzer &
//! Shalev-Oren, Large Scale Systems 12, 1987): exact for one customer and for very many, with errors of some per cent in between.

use super::closed_network::{ClosedMeans, ClosedNetwork};

/// When an iteration ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// When no queue changes by more than so many customers in a step. PDQ takes 0.001.
    Customers(f64),
    /// When no queue changes by more than that share of its class.
    Share(f64),
}

/// PDQ's criterion, which published tables use.
pub const PDQ: Stop = Stop::Customers(0.001);

/// Chandy & Neuse stop at 1/(4000 + 16|N|); steps are cheap, so this is nearer to the fixed point.
const CONVERGED: Stop = Stop::Share(1e-10);

/// Maximum steps of one iteration, which is not reached in practice: a few steps halve the error.
const STEPS_MAX: usize = 100_000;

/// How often Linearizer estimates the changes of shares; as in its publication.
const ROUNDS: usize = 3;

/// The network as input of the approximations.
struct Seen {
    /// Demand at the single server: `[centre][class]`.
    demands_s: Vec<Vec<f64>>,
    /// Think time and all other delays without waiting.
    delays_s: Vec<f64>,
    /// Delay of each class at each centre.
    delay_at_s: Vec<Vec<f64>>,
}

impl Seen {
    fn new(network: &ClosedNetwork) -> Self {
        let mut delays_s: Vec<f64> = network.classes.iter().map(|class| class.think_s).collect();
        let (mut demands_s, mut delay_at_s) = (Vec::new(), Vec::new());
        for centre in &network.centres {
            // A busy centre works at its highest speed.
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

/// How the share of a class at a centre changes when one customer of a class is less: `[removed][centre][class]`.
type Changes = Vec<Vec<Vec<f64>>>;

/// Shares and throughputs at one population.
struct State {
    /// F_kj: `[centre][class]`.
    shares: Vec<Vec<f64>>,
    rates_per_s: Vec<f64>,
}

/// Solves the equations for one population, given how shares change.
fn core(seen: &Seen, users: &[f64], changes: Option<&Changes>, mut state: State, stop: Stop) -> State {
    let (centres, classes) = (seen.demands_s.len(), users.len());
    // Σ_j (N − e_s)_j D_kjs does not change in the iteration.
    let less = |class: usize, removed: usize| {
        if class == removed { (users[class] - 1.0).max(0.0) } else { users[class] }
    };
    let corrections: Vec<Vec<f64>> = (0..classes)
        .map(|removed| match changes {
            None => vec![0.0; centres],
            Some(changes) => (0..centres)
                .map(|centre| {
                    (0..classes).map(|class| less(class, removed) * changes[removed][centre][class]).sum()
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
            let mut cycle_s = seen.delays_s[class];
            for centre in 0..centres {
                let own = state.shares[centre][class] * (users[class] - less(class, class));
                let others = (totals[centre] - own + corrections[class][centre]).max(0.0);
                residences_s[centre] = seen.demands_s[centre][class] * (1.0 + others);
                cycle_s += residences_s[centre];
            }
            state.rates_per_s[class] = users[class] / cycle_s;
            for (residence_s, shares) in residences_s.iter().zip(&mut state.shares) {
                let share = residence_s / cycle_s;
                let moved = (share - shares[class]).abs();
                change = change.max(match stop {
                    Stop::Customers(_) => moved * users[class],
                    Stop::Share(_) => moved,
                });
                shares[class] = share;
            }
        }
        let (Stop::Customers(limit) | Stop::Share(limit)) = stop;
        if change < limit {
            break;
        }
    }
    state
}

fn start(seen: &Seen, classes: usize) -> State {
    let share = 1.0 / seen.demands_s.len().max(1) as f64;
    State { shares: vec![vec![share; classes]; seen.demands_s.len()], rates_per_s: vec![0.0; classes] }
}

fn means(seen: &Seen, users: &[f64], state: &State) -> ClosedMeans {
    let queues = state
        .shares
        .iter()
        .zip(&seen.delay_at_s)
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

/// Approximate mean values by Bard and Schweitzer: the error is largest, up to a tenth, where the network is about half
/// full.
#[must_use]
pub fn schweitzer(network: &ClosedNetwork, stop: Stop) -> ClosedMeans {
    let seen = Seen::new(network);
    let users: Vec<f64> = network.classes.iter().map(|class| class.users as f64).collect();
    let state = core(&seen, &users, None, start(&seen, users.len()), stop);
    means(&seen, &users, &state)
}

/// [`schweitzer`] until convergence.
#[must_use]
pub fn schweitzer_converged(network: &ClosedNetwork) -> ClosedMeans {
    schweitzer(network, CONVERGED)
}

/// Approximate mean values by Linearizer: mostly within one percent.
#[must_use]
pub fn linearizer(network: &ClosedNetwork) -> ClosedMeans {
    let seen = Seen::new(network);
    let users: Vec<f64> = network.classes.iter().map(|class| class.users as f64).collect();
    let (centres, classes) = (seen.demands_s.len(), users.len());
    let mut changes: Changes = vec![vec![vec![0.0; classes]; centres]; classes];
    let mut whole = core(&seen, &users, None, start(&seen, classes), CONVERGED);
    for round in 0..ROUNDS {
        if round > 0 {
            whole = core(&seen, &users, Some(&changes), whole, CONVERGED);
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
            let from = State { shares: whole.shares.clone(), rates_per_s: whole.rates_per_s.clone() };
            let found = core(&seen, &less, Some(&changes), from, CONVERGED);
            for (centre, changes) in next[removed].iter_mut().enumerate() {
                for (class, change) in changes.iter_mut().enumerate() {
                    // An empty class has no shares; its weight is 0.
                    *change = if less[class] > 0.0 {
                        found.shares[centre][class] - whole.shares[centre][class]
                    } else {
                        0.0
                    };
                }
            }
        }
        changes = next;
    }
    means(&seen, &users, &whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mva::{Centre, Population, exact};

    fn one_class(users: u64, think_s: f64, demands_s: &[f64]) -> ClosedNetwork {
        ClosedNetwork {
            centres: demands_s.iter().map(|demand_s| Centre::queue(1, vec![*demand_s])).collect(),
            classes: vec![Population { users, think_s }],
        }
    }

    #[test]
    fn an_independent_solver_agrees() {
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
            let in_system = found.of(0);
            let row = format!("{:.2} {:.2} {:.2}", found.rates_per_s[0], in_system, in_system / think_s);
            assert_eq!(row.replace(" 0.", " ."), format!("{rate} {queue} {share}"), "{users}/{think}");
            // Equation (8): λ = N/Z − Q/Z.
            let by_eight = users as f64 / think_s - in_system / think_s;
            assert_eq!(format!("{by_eight:.2}"), rate, "{users}/{think}");
        }
        assert_eq!(format!("{:.2}", exact(&one_class(200, 10.0, &[0.05, 0.04, 0.03])).of(0)), "13.59");
    }

    #[test]
    fn linearizer_is_nearer_than_schweitzer() {
        let network = one_class(20, 4.0, &[0.125, 0.3, 0.2]);
        let truth = exact(&network).rates_per_s[0];
        let error = |found: ClosedMeans| (found.rates_per_s[0] / truth - 1.0).abs();
        let (near, far) = (error(linearizer(&network)), error(schweitzer_converged(&network)));
        assert!(near < 0.01 && near < far / 3.0, "{near} {far}");
    }

    #[test]
    fn a_hundred_classes() {
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
                .map(|class| Population { users: 1 + u64::from(class) % 5, think_s: 1.0 })
                .collect(),
        };
        let found = linearizer(&network);
        for (class, population) in network.classes.iter().enumerate() {
            let thinking = found.rates_per_s[class] * population.think_s;
            assert!((found.of(class) + thinking - population.users as f64).abs() < 1e-9);
        }
    }
}
