//! X(N) and R(N) by models with a few parameters.

use serde::{Deserialize, Serialize};

use super::usl::UslCurve;
use crate::finite_source::{shared_queue, single_server};
use crate::mva::single;

/// The prediction of a model for a number of users.
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
    /// One queue for several identical servers with exponential service, and a latency that does not depend on the load.
    Queue {
        /// Number of servers m.
        servers: u32,
        /// Service time S of one server in seconds.
        service_s: f64,
        /// Latency in seconds: network, waiting for other systems.
        latency_s: f64,
    },
    /// One server with gamma-distributed service times, and a latency that does not depend on the load.
    SingleServer {
        /// Mean service time S in seconds.
        service_s: f64,
        /// Squared coefficient of variation c² of the service time: 0 is constant, 1 exponential.
        scv: f64,
        /// Latency in seconds.
        latency_s: f64,
    },
    /// Single-server queues in series, and a latency that does not depend on the load.
    Queues {
        /// Service demands in seconds, the largest first.
        demands_s: Vec<f64>,
        /// Latency in seconds.
        latency_s: f64,
    },
    /// Gunther's Universal Scalability Law.
    Usl(UslCurve),
}

/// Bounds that follow from the demands alone and hold for all distributions (Denning & Buzen, Computing Surveys 10, 1978).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AsymptoticBounds {
    /// X_max = 1/D_max, the upper bound for all loads.
    pub throughput_max_per_s: f64,
    /// R₀: the response time of a single user.
    pub response_min_s: f64,
    /// N* = X_max (R₀ + Z): the intersection of the two bounds. With more users, some always wait.
    pub knee_users: f64,
}

impl AsymptoticBounds {
    /// Upper bound of X for `users`: min(N/(R₀ + Z), X_max).
    #[must_use]
    pub fn throughput_per_s(&self, users: f64, think_s: f64) -> f64 {
        (users / (self.response_min_s + think_s)).min(self.throughput_max_per_s)
    }

    /// Lower bound of R for `users`: max(R₀, N/X_max − Z).
    #[must_use]
    pub fn response_s(&self, users: f64, think_s: f64) -> f64 {
        self.response_min_s.max(users / self.throughput_max_per_s - think_s)
    }
}

impl CapacityModel {
    /// The prediction for `users` with this think time, with linear interpolation between integers.
    #[must_use]
    pub fn predict(&self, users: f64, think_s: f64) -> Prediction {
        if let CapacityModel::Usl(usl) = self {
            let throughput_per_s = usl.throughput_per_s(users);
            // The law does not define the response time, which is therefore computed by Little's law.
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
            // The solution assumes exponential think times; the latency is treated as a part of them.
            CapacityModel::SingleServer { service_s, scv, latency_s } => {
                single_server(users, think_s + latency_s, *service_s, *scv)
            }
            CapacityModel::Queues { demands_s, latency_s } => {
                single::exact(users, think_s + latency_s, demands_s).rate_per_s
            }
            CapacityModel::Usl(usl) => usl.throughput_per_s(users as f64),
        }
    }

    /// The asymptotic bounds; `None` for the Universal Scalability Law, which has no demands.
    #[must_use]
    pub fn bounds(&self, think_s: f64) -> Option<AsymptoticBounds> {
        let (throughput_max_per_s, response_min_s) = match self {
            CapacityModel::Queue { servers, service_s, latency_s } => {
                (f64::from(*servers) / service_s, service_s + latency_s)
            }
            CapacityModel::SingleServer { service_s, latency_s, .. } => {
                (service_s.recip(), service_s + latency_s)
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

    /// Description for reports.
    #[must_use]
    pub fn description(&self) -> String {
        match self {
            CapacityModel::Queue { servers: 1, .. } => "one queue with one server".into(),
            CapacityModel::Queue { servers, .. } => format!("one queue with {servers} servers"),
            CapacityModel::SingleServer { scv, .. } => {
                if *scv == 0.0 {
                    "one queue with one server and constant service times".into()
                } else {
                    format!("one queue with one server and service times with c² {}", two_digits(*scv))
                }
            }
            CapacityModel::Queues { demands_s, .. } => match demands_s.len() {
                2 => "two queues in series".into(),
                count => format!("{count} queues in series"),
            },
            CapacityModel::Usl(usl) if usl.kappa == 0.0 => {
                "Universal Scalability Law without coherency (Amdahl)".into()
            }
            CapacityModel::Usl(_) => "Universal Scalability Law".into(),
        }
    }
}

/// Formats a number with two significant digits.
fn two_digits(value: f64) -> String {
    let decimals = (1 - value.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn predictions_agree_with_independent_solvers() {
        // M/M/2//100 with Z = .7 and S = 2/157.
        let model = CapacityModel::Queue { servers: 2, service_s: 2.0 / 157.0, latency_s: 0.0 };
        let found = model.predict(100.0, 0.7);
        assert_eq!(format!("{:.6} {:.7}", found.throughput_per_s, found.response_s), "135.208381 0.0395991");
    }

    #[test]
    fn many_users_and_servers_do_not_overflow() {
        let model = CapacityModel::Queue { servers: 64, service_s: 0.05, latency_s: 0.01 };
        let found = model.predict(100_000.0, 10.0);
        assert!((found.throughput_per_s - 1280.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn fractional_users_are_interpolated() {
        let model = CapacityModel::Queue { servers: 1, service_s: 0.1, latency_s: 0.0 };
        let at = |users| model.predict(users, 1.0).throughput_per_s;
        assert!((at(7.25) - (0.75 * at(7.0) + 0.25 * at(8.0))).abs() < 1e-12);
        assert!((at(0.5) - 0.5 * at(1.0)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn predictions_satisfy_operational_laws(
            users in 1_u64..300, servers in 1_u32..9, service in 0.001_f64..0.2, latency in 0.0_f64..0.2,
            second in 0.001_f64..0.2, think in 0.0_f64..5.0, scv in 0.0_f64..5.0, form in 0..3,
        ) {
            let model = match form {
                0 => CapacityModel::Queue { servers, service_s: service, latency_s: latency },
                1 => CapacityModel::SingleServer { service_s: service, scv, latency_s: latency },
                _ => CapacityModel::Queues { demands_s: vec![service.max(second), service.min(second)], latency_s: latency },
            };
            let n = users as f64;
            let found = model.predict(n, think);
            let bounds = model.bounds(think).unwrap();
            let slack = 1.0 + 1e-9;
            // Little's law of the loop.
            prop_assert!((found.throughput_per_s * (found.response_s + think) / n - 1.0).abs() < 1e-9);
            // The asymptotic bounds hold, and throughput does not decrease with more users.
            prop_assert!(found.throughput_per_s <= bounds.throughput_per_s(n, think) * slack);
            prop_assert!(found.response_s * slack >= bounds.response_s(n, think) * (1.0 - 1e-9));
            prop_assert!(model.predict(n + 1.0, think).throughput_per_s * slack >= found.throughput_per_s);
            prop_assert!((bounds.knee_users - bounds.throughput_max_per_s * (bounds.response_min_s + think)).abs() < 1e-9 * bounds.knee_users);
        }
    }
}
