//! X(N) and R(N) by a model with a handful of parameters.

use serde::{Deserialize, Serialize};

use super::usl::UslCurve;
use crate::mva::single;

/// What a model says of so many users.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prediction {
    /// Throughput X per second.
    pub throughput_per_s: f64,
    /// Response time R in seconds.
    pub response_s: f64,
}

/// A model of a system under a closed load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CapacityModel {
    /// One queue before several servers alike, and a time that no load makes longer.
    Queue {
        /// Servers m.
        servers: u32,
        /// Service time S of one server in seconds.
        service_s: f64,
        /// What else a request takes: network, waiting for others than this system.
        latency_s: f64,
    },
    /// Queues with one server each, one after the other, and a time that no load makes longer.
    Queues {
        /// Service demands, the largest first.
        demands_s: Vec<f64>,
        /// What else a request takes.
        latency_s: f64,
    },
    /// Gunther's Universal Scalability Law.
    Usl(UslCurve),
}

/// The bounds that follow from the demands alone, whatever the distributions (Denning & Buzen, Computing Surveys 10, 1978).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AsymptoticBounds {
    /// X_max = 1/D_max: no load makes more.
    pub throughput_max_per_s: f64,
    /// R₀: the response time of a user who is alone.
    pub response_min_s: f64,
    /// N* = X_max (R₀ + Z): where the two bounds meet. With more users somebody always waits.
    pub knee_users: f64,
}

impl AsymptoticBounds {
    /// The most that `users` can make: min(N/(R₀ + Z), X_max).
    #[must_use]
    pub fn throughput_per_s(&self, users: f64, think_s: f64) -> f64 {
        (users / (self.response_min_s + think_s)).min(self.throughput_max_per_s)
    }

    /// The least that they wait: max(R₀, N/X_max − Z).
    #[must_use]
    pub fn response_s(&self, users: f64, think_s: f64) -> f64 {
        self.response_min_s.max(users / self.throughput_max_per_s - think_s)
    }
}

impl CapacityModel {
    /// What `users` with this think time get. Between whole numbers of users a straight line is drawn.
    #[must_use]
    pub fn predict(&self, users: f64, think_s: f64) -> Prediction {
        if let CapacityModel::Usl(usl) = self {
            let throughput_per_s = usl.throughput_per_s(users);
            // The law knows no response time; Little's does.
            return Prediction {
                throughput_per_s,
                response_s: (users / throughput_per_s - think_s).max(0.0),
            };
        }
        let below = users.floor().max(1.0);
        let throughput_per_s = if users <= 1.0 {
            users * self.throughput_of(1, think_s)
        } else {
            let share = users - below;
            let lower = self.throughput_of(below as u64, think_s);
            if share == 0.0 {
                lower
            } else {
                lower + share * (self.throughput_of(below as u64 + 1, think_s) - lower)
            }
        };
        Prediction { throughput_per_s, response_s: (users / throughput_per_s - think_s).max(0.0) }
    }

    fn throughput_of(&self, users: u64, think_s: f64) -> f64 {
        match self {
            CapacityModel::Queue { servers, service_s, latency_s } => {
                shared_queue(users, think_s + latency_s, *servers, *service_s)
            }
            CapacityModel::Queues { demands_s, latency_s } => {
                single::exact(users, think_s + latency_s, demands_s).rate_per_s
            }
            CapacityModel::Usl(usl) => usl.throughput_per_s(users as f64),
        }
    }

    /// The asymptotic bounds; `None` of a law that has no demands.
    #[must_use]
    pub fn bounds(&self, think_s: f64) -> Option<AsymptoticBounds> {
        let (throughput_max_per_s, response_min_s) = match self {
            CapacityModel::Queue { servers, service_s, latency_s } => {
                (f64::from(*servers) / service_s, service_s + latency_s)
            }
            CapacityModel::Queues { demands_s, latency_s } => {
                let largest = demands_s.iter().copied().fold(0.0, f64::max);
                (1.0 / largest, demands_s.iter().sum::<f64>() + latency_s)
            }
            CapacityModel::Usl(_) => return None,
        };
        Some(AsymptoticBounds {
            throughput_max_per_s,
            response_min_s,
            knee_users: throughput_max_per_s * (response_min_s + think_s),
        })
    }

    /// In a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            CapacityModel::Queue { servers: 1, .. } => "one queue with one server".into(),
            CapacityModel::Queue { servers, .. } => format!("one queue with {servers} servers"),
            CapacityModel::Queues { demands_s, .. } => match demands_s.len() {
                2 => "two queues one after the other".into(),
                count => format!("{count} queues one after the other"),
            },
            CapacityModel::Usl(usl) if usl.kappa == 0.0 => {
                "Universal Scalability Law without coherency (Amdahl)".into()
            }
            CapacityModel::Usl(_) => "Universal Scalability Law".into(),
        }
    }
}

/// Throughput of `users` who think for `think_s` and then queue for one of `servers`: the machine repairman's birth-death
/// process (Feller, "An Introduction to Probability Theory", volume 1, XVII.7), whose weights are added up as
/// logarithms, so that it is stable for any number of users and servers. Any law of the think time has the same
/// throughput.
fn shared_queue(users: u64, think_s: f64, servers: u32, service_s: f64) -> f64 {
    let busy = |present: u64| present.min(u64::from(servers)) as f64;
    if think_s <= 0.0 {
        return busy(users) / service_s;
    }
    // ln of the weight of each number of users at the queue, relative to none.
    let mut logarithms = Vec::with_capacity(users as usize + 1);
    let mut logarithm = 0.0_f64;
    logarithms.push(logarithm);
    for present in 0..users {
        logarithm += ((users - present) as f64 * service_s / (think_s * busy(present + 1))).ln();
        logarithms.push(logarithm);
    }
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut working) = (0.0, 0.0);
    for (present, logarithm) in logarithms.iter().enumerate() {
        let weight = (logarithm - largest).exp();
        total += weight;
        working += weight * busy(present as u64);
    }
    working / total / service_s
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_server_is_exact_mean_value_analysis() {
        for users in [1, 7, 100, 1_000] {
            let found = shared_queue(users, 0.7, 1, 1.0 / 135.491_597_2);
            let exact = single::exact(users, 0.7, &[1.0 / 135.491_597_2]).rate_per_s;
            assert!((found / exact - 1.0).abs() < 1e-10, "{users}: {found} {exact}");
        }
    }

    #[test]
    fn the_figures_of_independent_solvers() {
        // M/M/2//100 with Z = .7 and S = 2/157.
        let model = CapacityModel::Queue { servers: 2, service_s: 2.0 / 157.0, latency_s: 0.0 };
        let found = model.predict(100.0, 0.7);
        assert_eq!(format!("{:.6} {:.7}", found.throughput_per_s, found.response_s), "135.208381 0.0395991");
    }

    #[test]
    fn very_many_users_and_servers_stay_numbers() {
        let model = CapacityModel::Queue { servers: 64, service_s: 0.05, latency_s: 0.01 };
        let found = model.predict(100_000.0, 10.0);
        assert!((found.throughput_per_s - 1280.0).abs() < 1e-6, "{found:?}");
        assert_eq!(shared_queue(5, 0.0, 2, 0.1), 20.0);
    }

    #[test]
    fn part_users_lie_between_whole_ones() {
        let model = CapacityModel::Queue { servers: 1, service_s: 0.1, latency_s: 0.0 };
        let at = |users| model.predict(users, 1.0).throughput_per_s;
        assert!((at(7.25) - (0.75 * at(7.0) + 0.25 * at(8.0))).abs() < 1e-12);
        assert!((at(0.5) - 0.5 * at(1.0)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn predictions_keep_the_laws(
            users in 1_u64..300, servers in 1_u32..9, service in 0.001_f64..0.2, latency in 0.0_f64..0.2,
            second in 0.001_f64..0.2, think in 0.0_f64..5.0, is_one in any::<bool>(),
        ) {
            let model = if is_one {
                CapacityModel::Queue { servers, service_s: service, latency_s: latency }
            } else {
                CapacityModel::Queues { demands_s: vec![service.max(second), service.min(second)], latency_s: latency }
            };
            let n = users as f64;
            let found = model.predict(n, think);
            let bounds = model.bounds(think).unwrap();
            let slack = 1.0 + 1e-9;
            // Little's law of the loop.
            prop_assert!((found.throughput_per_s * (found.response_s + think) / n - 1.0).abs() < 1e-9);
            // The asymptotic bounds hold, and more users never make less.
            prop_assert!(found.throughput_per_s <= bounds.throughput_per_s(n, think) * slack);
            prop_assert!(found.response_s * slack >= bounds.response_s(n, think) * (1.0 - 1e-9));
            prop_assert!(model.predict(n + 1.0, think).throughput_per_s * slack >= found.throughput_per_s);
            prop_assert!((bounds.knee_users - bounds.throughput_max_per_s * (bounds.response_min_s + think)).abs() < 1e-9 * bounds.knee_users);
        }
    }
}
