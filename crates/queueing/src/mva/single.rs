//! Exact mean value analysis of a closed network with one class of users.
//!
//! N users think for Z on average, then visit stations with service demands (visits × service time) D₁ … D_K. A station serves
//! one user at a time. The solution is exact for product-form networks: exponential service times in order of arrival, or
//! processor sharing with any service times. The distribution of the think time has no influence.

/// The mean values of a closed network.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanValues {
    /// Throughput X, which is the arrival rate λ, in requests per second.
    pub rate_per_s: f64,
    /// Response time R over all stations in seconds.
    pub response_s: f64,
    /// Mean number of requests at each station.
    pub queues: Vec<f64>,
}

impl MeanValues {
    /// Mean number of requests in the whole system: Q = λR.
    pub fn in_system(&self) -> f64 {
        self.queues.iter().sum()
    }
}

/// Exact mean values by the recursion of Reiser & Lavenberg (JACM 27, 1980). An arriving customer finds the mean queues
/// of the network without that customer. It takes users × stations steps.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_solution_agrees_with_independent_solvers() {
        let found = exact(20, 4.0, &[0.125, 0.3, 0.2]);
        assert_eq!(format!("{:.8} {:.8}", found.rate_per_s, found.response_s), "3.12751041 2.39486280");
        let found = exact(6, 0.0, &[0.605, 2.1, 1.35]);
        assert_eq!(format!("{:.8} {:.8}", found.rate_per_s, found.response_s), "0.45980337 13.04905614");
    }

    proptest! {
        #[test]
        fn operational_laws_hold(
            users in 1_u64..400,
            think_s in 0.0..20.0_f64,
            demands_s in proptest::collection::vec(0.001..0.5_f64, 1..4),
        ) {
            let found = exact(users, think_s, &demands_s);
            let n = users as f64;
            // Little: Q = λR, and N = Q + λZ.
            prop_assert!((found.in_system() - found.rate_per_s * found.response_s).abs() < 1e-9 * n);
            prop_assert!((found.in_system() + found.rate_per_s * think_s - n).abs() < 1e-9 * n);
            // Asymptotic bounds.
            let total: f64 = demands_s.iter().sum();
            let largest = demands_s.iter().copied().fold(0.0, f64::max);
            prop_assert!(found.rate_per_s <= (n / (think_s + total)).min(1.0 / largest) * (1.0 + 1e-9));
        }
    }
}
