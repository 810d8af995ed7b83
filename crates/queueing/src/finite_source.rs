//! One station with a limited number of users: the machine repairman model.
//!
//! Each user thinks, waits in the order of arrival, is served, and thinks again. [`shared_queue`] has several servers
//! and exponential service, [`single_server`] one server and service of any variability.

/// The idle time is negligible if a busy period is longer than this many idle periods.
const SATURATED: f64 = 1e17;

/// Weights are rescaled when one exceeds this value.
const WEIGHT_MAX: f64 = 1e200;

/// A sum ends when the remaining terms are less than this share of it.
const NEGLIGIBLE: f64 = 1e-17;

/// Throughput of `users`, at least 1, who think for `think_s` and then queue for one of `servers` with exponential service
/// times.
///
/// This is a birth-death process (Feller, "An Introduction to Probability Theory", volume 1, XVII.7). Its weights are
/// rescaled when they become large, so the sums do not overflow for any number of users and servers. The throughput does not
/// depend on the law of the think time.
#[must_use]
pub fn shared_queue(users: u64, think_s: f64, servers: u32, service_s: f64) -> f64 {
    let busy = |present: u64| present.min(u64::from(servers)) as f64;
    if think_s <= 0.0 {
        return busy(users) / service_s;
    }
    // `weight` belongs to the current number of users at the queue. It is relative to the weight of an empty queue, until all
    // sums are rescaled. The weights increase first and then decrease.
    let (mut weight, mut total, mut working) = (1.0_f64, 1.0_f64, 0.0_f64);
    for present in 1..=users {
        let ratio = (users - present + 1) as f64 * service_s / (think_s * busy(present));
        weight *= ratio;
        total += weight;
        working += weight * busy(present);
        if weight > WEIGHT_MAX {
            weight /= WEIGHT_MAX;
            total /= WEIGHT_MAX;
            working /= WEIGHT_MAX;
        } else if ratio < 1.0 && weight <= NEGLIGIBLE * total * (1.0 - ratio) {
            break;
        }
    }
    working / total / service_s
}

/// Throughput of `users`, at least 1, who think for an exponential time of mean `think_s` and then queue for one server
/// (M/G/1//N). `scv` is the squared coefficient of variation of the service time, which has a gamma law: 0 is constant, 1
/// exponential.
///
/// The server is busy while K users are served. It is then idle until the next of the N users arrives, on average for
/// 1/(Nλ) with λ = 1/Z. Therefore X = E\[K\]/(E\[K\]·S + 1/(Nλ)). With the Laplace transform b* of the service time (Palm
/// 1947; Takács, "Introduction to the Theory of Queues", 1962, chapter 5):
///
/// E\[K\] = Σ C(N − 1, n) Π (1 − b*(iλ))/b*(iλ), with n from 0 to N − 1 and i from 1 to n.
///
/// All terms are positive. Once the ratio of successive terms is below 1, the ratio keeps decreasing, so a geometric series
/// bounds the remaining terms. The summation also ends when the sum is so large that the idle time is negligible. About √N
/// terms are summed.
#[must_use]
pub fn single_server(users: u64, think_s: f64, service_s: f64, scv: f64) -> f64 {
    if think_s <= 0.0 {
        return service_s.recip();
    }
    let offered = service_s / think_s;
    let offered_by_all = users as f64 * offered;
    let (mut term, mut served) = (1.0, 1.0);
    for n in 1..users {
        let ratio = (users - n) as f64 / n as f64 * inverse_transform(n as f64 * offered, scv);
        term *= ratio;
        served += term;
        if served * offered_by_all > SATURATED {
            return service_s.recip();
        }
        if ratio < 1.0 && term * ratio <= NEGLIGIBLE * served * (1.0 - ratio) {
            break;
        }
    }
    served / (served * service_s + think_s / users as f64)
}

/// (1 − b*)/b* of a gamma law, given s times its mean: (1 + s·c²)^(1/c²) − 1.
fn inverse_transform(s_times_mean: f64, scv: f64) -> f64 {
    let exponent = if scv > 0.0 { (s_times_mean * scv).ln_1p() / scv } else { s_times_mean };
    exponent.exp_m1()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mva::single;

    #[test]
    fn one_server_agrees_with_mean_value_analysis() {
        for users in [1, 7, 100, 1_000] {
            let found = shared_queue(users, 0.7, 1, 1.0 / 135.491_597_2);
            let exact = single::exact(users, 0.7, &[1.0 / 135.491_597_2]).rate_per_s;
            assert!((found / exact - 1.0).abs() < 1e-10, "{users}: {found} {exact}");
        }
    }

    #[test]
    fn without_think_time_servers_are_always_busy() {
        assert_eq!(shared_queue(5, 0.0, 2, 0.1), 20.0);
        assert_eq!(single_server(5, 0.0, 0.1, 0.0), 10.0);
    }

    #[test]
    fn two_users_and_constant_service_calculated_by_hand() {
        // With probability e^(−λS), the other user does not arrive during a service. E[K] = 1 + (e^(λS) − 1) = e^(λS).
        let served = 0.5_f64.exp();
        let expected = served / (served * 1.0 + 2.0 / 2.0);
        assert!((single_server(2, 2.0, 1.0, 0.0) - expected).abs() < 1e-15);
    }

    /// The stationary distribution of a Markov chain with these rates (Grassmann, Taksar & Heyman, Operations Research 33,
    /// 1985).
    fn stationary(mut rates: Vec<Vec<f64>>) -> Vec<f64> {
        let size = rates.len();
        for k in (1..size).rev() {
            let leaving: f64 = rates[k][..k].iter().sum();
            for i in 0..k {
                rates[i][k] /= leaving;
                for j in (0..k).filter(|j| *j != i) {
                    rates[i][j] += rates[i][k] * rates[k][j];
                }
            }
        }
        let mut weights = vec![1.0];
        for k in 1..size {
            weights.push(weights.iter().zip(&rates).map(|(weight, row)| weight * row[k]).sum());
        }
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// M/E_k/1//N as a Markov chain. Its states: empty, or n users present and the server in one of k phases.
    fn erlang_by_markov_chain(users: u64, think_s: f64, service_s: f64, phases: usize) -> f64 {
        let state = |present: u64, phase: usize| 1 + (present as usize - 1) * phases + phase;
        let size = 1 + users as usize * phases;
        let mut rates = vec![vec![0.0; size]; size];
        rates[0][state(1, 0)] = users as f64 / think_s;
        let per_phase = phases as f64 / service_s;
        for present in 1..=users {
            for phase in 0..phases {
                let from = state(present, phase);
                if present < users {
                    rates[from][state(present + 1, phase)] += (users - present) as f64 / think_s;
                }
                let to = match (phase + 1 == phases, present) {
                    (false, _) => state(present, phase + 1),
                    (true, 1) => 0,
                    (true, _) => state(present - 1, 0),
                };
                rates[from][to] += per_phase;
            }
        }
        (1.0 - stationary(rates)[0]) / service_s
    }

    proptest! {
        #[test]
        fn exponential_service_agrees_with_the_shared_queue(users in 1_u64..400, think in 0.01_f64..50.0, service in 0.01_f64..1.0) {
            let (general, exact) = (single_server(users, think, service, 1.0), shared_queue(users, think, 1, service));
            prop_assert!((general / exact - 1.0).abs() < 1e-11, "{general} {exact}");
        }

        #[test]
        fn erlang_service_agrees_with_its_markov_chain(
            users in 1_u64..14, phases in 1_usize..7, think in 0.05_f64..20.0,
        ) {
            let exact = erlang_by_markov_chain(users, think, 1.0, phases);
            let found = single_server(users, think, 1.0, 1.0 / phases as f64);
            prop_assert!((found / exact - 1.0).abs() < 1e-11, "{found} {exact}");
        }

        #[test]
        fn the_truncated_sum_agrees_with_the_whole_sum(
            users in 1_u64..3_000, load in 0.01_f64..1.6, scv in prop_oneof![Just(0.0), 0.0_f64..1.0, 1.0_f64..30.0],
        ) {
            let think = users as f64 / load;
            // All terms, as logarithms.
            let (mut logarithm, mut logarithms) = (0.0_f64, vec![0.0_f64]);
            for n in 1..users {
                let y = n as f64 / think;
                let y = if scv > 0.0 { (y * scv).ln_1p() / scv } else { y };
                logarithm += ((users - n) as f64 / n as f64).ln() + y.exp_m1().ln();
                logarithms.push(logarithm);
            }
            let largest = logarithms.iter().copied().fold(0.0, f64::max);
            let sum: f64 = logarithms.iter().map(|logarithm| (logarithm - largest).exp()).sum();
            // 1/X = S + 1/(E[K] N λ).
            let exact = (1.0 + (-largest).exp() / sum * think / users as f64).recip();
            let found = single_server(users, think, 1.0, scv);
            prop_assert!((found / exact - 1.0).abs() < 1e-9, "{found} {exact}");
        }

        #[test]
        fn throughput_decreases_with_variability_and_increases_with_users(
            users in 1_u64..500, load in 0.05_f64..3.0, scv in 0.0_f64..4.0, more in 0.0_f64..4.0,
        ) {
            let think = users as f64 / load;
            let found = single_server(users, think, 1.0, scv);
            let slack = 1.0 + 1e-12;
            prop_assert!(found * slack >= single_server(users, think, 1.0, scv + more));
            prop_assert!(single_server(users + 1, think, 1.0, scv) * slack >= found);
            prop_assert!(found <= (users as f64 / (1.0 + think)).min(1.0) * slack);
        }
    }

    #[test]
    fn a_hundred_thousand_users_take_few_terms_and_do_not_overflow() {
        for scv in [0.0, 1e-9, 0.25, 1.0, 4.0] {
            for load in [0.5, 0.9, 1.0, 1.1, 3.0] {
                let think = 100_000.0 / load;
                let found = single_server(100_000, think, 1.0, scv);
                // Nearly Poisson arrivals: waiting is short compared to thinking.
                assert!((found / load.min(1.0) - 1.0).abs() < 0.01, "c² {scv}, load {load}: {found}");
            }
        }
        // Pollaczek and Khinchine: R = S + ρS(1 + c²)/(2(1 − ρ)).
        let (users, think) = (10_000_000_u64, 2e7);
        for scv in [0.0, 4.0] {
            let response = users as f64 / single_server(users, think, 1.0, scv) - think;
            assert!((response - (1.0 + 0.5 * (1.0 + scv))).abs() < 1e-3, "{response}");
        }
    }
}
