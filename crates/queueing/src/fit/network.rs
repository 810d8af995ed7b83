//! Converts fitted models to networks for the solvers and the simulator.

use super::curve::CapacityModel;
use crate::network::{
    CustomerClass, PerClass, Queue, QueueingNetwork, Scheduling, Station, StationKind, TimeLaw,
};

impl CapacityModel {
    /// The queueing network with this number of users; `None` for the Universal Scalability Law.
    #[must_use]
    pub fn network(&self, users: u64, think_s: f64) -> Option<QueueingNetwork> {
        let queue = |name: String, servers: u32, law: TimeLaw| Station {
            name,
            kind: StationKind::Queue(Queue {
                servers,
                service: PerClass::Same(law),
                speeds: Vec::new(),
                capacity: None,
                scheduling: Scheduling::Fcfs,
            }),
            visits: PerClass::Same(1.0),
        };
        let (mut stations, latency_s) = match self {
            CapacityModel::Queue { servers, service_s, latency_s } => {
                let law = TimeLaw::Exponential { mean_s: *service_s };
                (vec![queue("server".into(), *servers, law)], *latency_s)
            }
            CapacityModel::SingleServer { service_s, scv, latency_s } => {
                let law = if *scv > 0.0 {
                    TimeLaw::Gamma { mean_s: *service_s, cv: scv.sqrt() }
                } else {
                    TimeLaw::Deterministic { mean_s: *service_s }
                };
                (vec![queue("server".into(), 1, law)], *latency_s)
            }
            CapacityModel::Queues { demands_s, latency_s } => {
                let numbered = (1..).zip(demands_s);
                (
                    numbered
                        .map(|(number, demand_s)| {
                            let law = TimeLaw::Exponential { mean_s: *demand_s };
                            queue(format!("server-{number}"), 1, law)
                        })
                        .collect(),
                    *latency_s,
                )
            }
            CapacityModel::Usl(_) => return None,
        };
        if latency_s > 0.0 {
            stations.push(Station {
                name: "latency".into(),
                kind: StationKind::Delay {
                    service: PerClass::Same(TimeLaw::Deterministic { mean_s: latency_s }),
                },
                visits: PerClass::Same(1.0),
            });
        }
        Some(QueueingNetwork::new(vec![CustomerClass::closed("users", users, think_s)], stations))
    }
}
