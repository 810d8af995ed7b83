//! Mean value analysis of a closed network with one class of users.
//!
//! N users think for Z on average, then visit stations whose service demands (visits × service time) are D₁ … D_K. A
//! station serves one at a time. Exact for product-form networks: exponential service in order of arrival, or
//! processor sharing with any service; the law of the think time does not matter.

/// The mean values of a closed network.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanValues {
    /// Throughput X, which is the arrival rate λ, in requests per second.
    pub rate_per_s: f64,
    /// Response time R over all stations in seconds.
    pub response_s: f64,
    /// Requests at each station.
    pub queues: Vec<f64>,
}

impl MeanValues {
    /// Requests in the whole system: Q = λR.
    pub fn in_system(&self) -> f64 {
        self.queues.iter().sum()
    }
}

/// Exact mean values by the recursion of Reiser & Lavenberg (JACM 27, 1980): whoever arrives sees the network as it
/// would be without him. Takes users × stations steps.
pub fn exact(users: u64, think_s: f64, demands_s: &[f64]) -> MeanValues {
    let mut queues = vec![0.0; demands_s.len()];
    let (mut rate_per_s, mut response_s) = (0.0, 0.0);
    for present in 1..=users {
        response_s = demands_s.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue)).sum();
        rate_per_s = present as f64 / (think_s + response_s);
        for (queue, demand) in queues.iter_mut().zip(demands_s) {
            *queue = rate_per_s * demand * (1.0 + *queue);
        }
    }
    MeanValues { rate_per_s, response_s, queues }
}

/// Most steps of [`approximate`]: it halves its error every few, so that this is never met in practice.
const STEPS_MAX: usize = 1_000_000;

/// Approximate mean values (Schweitzer 1979, Bard 1979): whoever arrives sees (N−1)/N of each queue. Repeated until no
/// queue changes by `tolerance` requests. Off by some percent where the network is about half full; it is here because
/// published tables were made with it.
pub fn approximate(users: u64, think_s: f64, demands_s: &[f64], tolerance: f64) -> MeanValues {
    let n = users as f64;
    let others = if users == 0 { 0.0 } else { (n - 1.0) / n };
    let mut queues = vec![n / demands_s.len().max(1) as f64; demands_s.len()];
    let mut steps = 0;
    loop {
        let responses_s: Vec<f64> =
            demands_s.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + others * queue)).collect();
        let response_s: f64 = responses_s.iter().sum();
        let rate_per_s = if users == 0 { 0.0 } else { n / (think_s + response_s) };
        let next: Vec<f64> = responses_s.iter().map(|response_s| rate_per_s * response_s).collect();
        let change = next.iter().zip(&queues).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        queues = next;
        steps += 1;
        if change < tolerance || steps == STEPS_MAX {
            return MeanValues { rate_per_s, response_s, queues };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn independent_solvers_agree() {
        let found = exact(20, 4.0, &[0.125, 0.3, 0.2]);
        assert_eq!(format!("{:.8} {:.8}", found.rate_per_s, found.response_s), "3.12751041 2.39486280");
        let found = exact(6, 0.0, &[0.605, 2.1, 1.35]);
        assert_eq!(format!("{:.8} {:.8}", found.rate_per_s, found.response_s), "0.45980337 13.04905614");
        let found = approximate(20, 4.0, &[0.125, 0.3, 0.2], 1e-10);
        assert_eq!(format!("{:.8}", found.rate_per_s), "2.99046820");
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
            let found = approximate(users, think_s, &[0.05, 0.04, 0.03], 0.001);
            let in_system = found.in_system();
            let row = format!("{:.2} {:.2} {:.2}", found.rate_per_s, in_system, in_system / think_s);
            assert_eq!(row.replace(" 0.", " ."), format!("{rate} {queue} {share}"), "{users}/{think}");
            // Equation (8): λ = N/Z − Q/Z.
            let by_eight = users as f64 / think_s - in_system / think_s;
            assert_eq!(format!("{by_eight:.2}"), rate, "{users}/{think}");
        }
        assert_eq!(format!("{:.2}", exact(200, 10.0, &[0.05, 0.04, 0.03]).in_system()), "13.59");
    }

    proptest! {
        #[test]
        fn the_laws_hold(
            users in 1_u64..400,
            think_s in 0.0..20.0_f64,
            demands_s in proptest::collection::vec(0.001..0.5_f64, 1..4),
        ) {
            for found in [exact(users, think_s, &demands_s), approximate(users, think_s, &demands_s, 1e-9)] {
                let n = users as f64;
                // Little: Q = λR, and N = Q + λZ.
                prop_assert!((found.in_system() - found.rate_per_s * found.response_s).abs() < 1e-5 * n);
                prop_assert!((found.in_system() + found.rate_per_s * think_s - n).abs() < 1e-5 * n);
                // Asymptotic bounds.
                let total: f64 = demands_s.iter().sum();
                let largest = demands_s.iter().copied().fold(0.0, f64::max);
                prop_assert!(found.rate_per_s <= (n / (think_s + total)).min(1.0 / largest) * (1.0 + 1e-6));
            }
        }
    }
}
