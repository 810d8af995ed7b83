//! The assumptions of product-form solutions, and the parts of a network that break them.

use std::fmt;

use serde::Serialize;

use crate::network::{
    ClassLoad, CustomerClass, Queue, QueueingNetwork, Scheduling, Station, StationKind, Strategy,
};

/// Smaller numbers of visits are treated as zero, because they are rounding errors of the solution of a linear system.
pub(super) const VISITS_MIN: f64 = 1e-12;

/// An assumption of product form that a network breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "assumption", rename_all = "kebab-case")]
pub enum BrokenAssumption {
    /// A station with FCFS, LCFS or random order serves a class by a law that is not exponential.
    ServiceLaw {
        /// The station.
        station: String,
        /// One of the classes concerned.
        class: String,
        /// Its law, in the notation of model files.
        law: String,
    },
    /// A station with FCFS, LCFS or random order has different mean service times for different classes.
    ServiceByClass {
        /// The station.
        station: String,
    },
    /// The queueing discipline depends on the class or on the service time.
    Scheduling {
        /// The station.
        station: String,
        /// The name of the discipline.
        scheduling: String,
    },
    /// The time of a closed class between two services (think time and delays) is not exponential.
    Pause {
        /// The class.
        class: String,
    },
    /// An open class does not arrive as a Poisson process.
    Arrivals {
        /// The class.
        class: String,
    },
    /// Routing depends on the state or on previous customers.
    Routing {
        /// The place that customers leave.
        from: String,
        /// The strategy.
        strategy: String,
    },
    /// The capacity of a station may be exceeded.
    Capacity {
        /// The station.
        station: String,
    },
    /// Customers fork and join.
    ForkJoin {
        /// The station.
        station: String,
    },
    /// Customers change their class.
    ClassSwitch {
        /// The station.
        station: String,
    },
}

impl BrokenAssumption {
    /// Whether a solution that ignores the assumption approximates the network. Without its losses, blocking, forks or class
    /// switches, a network would be too different.
    #[must_use]
    pub fn can_be_ignored(&self) -> bool {
        !matches!(self, Self::Capacity { .. } | Self::ForkJoin { .. } | Self::ClassSwitch { .. })
    }

    /// How a solution that ignores the assumption treats the network, as text for reports.
    #[must_use]
    pub fn ignored_as(&self) -> &'static str {
        match self {
            Self::ServiceLaw { .. } => "solved as if service were exponential with the same mean",
            Self::ServiceByClass { .. } => "solved as if the discipline were processor sharing (ps)",
            Self::Scheduling { .. } => "solved as if the discipline were processor sharing (ps)",
            Self::Pause { .. } => "solved as if think time and delays together were exponential",
            Self::Arrivals { .. } => "solved as if arrivals were a Poisson process with the same rate",
            Self::Routing { .. } => "solved as if customers were routed at random with the same shares",
            Self::Capacity { .. } | Self::ForkJoin { .. } | Self::ClassSwitch { .. } => "not solved",
        }
    }
}

impl fmt::Display for BrokenAssumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServiceLaw { station, class, law } => {
                write!(f, "station {station:?} serves {class:?} by {law}, which is not exponential")
            }
            Self::ServiceByClass { station } => {
                write!(f, "station {station:?} has different mean service times for different classes")
            }
            Self::Scheduling { station, scheduling } => {
                write!(f, "the discipline of station {station:?} prefers some customers ({scheduling})")
            }
            Self::Pause { class } => {
                write!(f, "think time and delays of class {class:?} together are not exponential")
            }
            Self::Arrivals { class } => write!(f, "arrivals of class {class:?} are not a Poisson process"),
            Self::Routing { from, strategy } => {
                write!(f, "customers leaving {from:?} are routed by {strategy}, not by fixed probabilities")
            }
            Self::Capacity { station } => write!(f, "station {station:?} has a limited capacity"),
            Self::ForkJoin { station } => write!(f, "station {station:?} is a fork or a join"),
            Self::ClassSwitch { station } => write!(f, "station {station:?} changes the class of customers"),
        }
    }
}

/// The assumptions of product form that the network breaks, given `visits[class][station]`.
pub(super) fn broken_assumptions(network: &QueueingNetwork, visits: &[Vec<f64>]) -> Vec<BrokenAssumption> {
    let mut found = Vec::new();
    for class in &network.classes {
        if let ClassLoad::Open { interarrival } = &class.load
            && !interarrival.is_exponential()
        {
            found.push(BrokenAssumption::Arrivals { class: class.name.clone() });
        }
    }
    for (at, station) in network.stations.iter().enumerate() {
        let visiting: Vec<&CustomerClass> = network
            .classes
            .iter()
            .zip(visits)
            .filter(|(class, visits)| visits[at] > VISITS_MIN && class.users() != Some(0))
            .map(|(class, _)| class)
            .collect();
        let name = || station.name.clone();
        match &station.kind {
            StationKind::Queue(queue) => check_queue(network, station, queue, &visiting, &mut found),
            StationKind::Fork { .. } | StationKind::Join => {
                found.push(BrokenAssumption::ForkJoin { station: name() })
            }
            StationKind::ClassSwitch { .. } => found.push(BrokenAssumption::ClassSwitch { station: name() }),
            StationKind::Delay { .. } | StationKind::Router => {}
        }
    }
    for route in &network.routes {
        let has_probabilities = route.strategy.probabilities().is_some();
        let is_random = matches!(route.strategy, Strategy::Probabilities(_) | Strategy::Random(_));
        if !has_probabilities && !is_random {
            found.push(BrokenAssumption::Routing {
                from: route.from.name().to_owned(),
                strategy: route.strategy.name().to_owned(),
            });
        }
    }
    found
}

fn check_queue(
    network: &QueueingNetwork,
    station: &Station,
    queue: &Queue,
    visiting: &[&CustomerClass],
    found: &mut Vec<BrokenAssumption>,
) {
    let name = || station.name.clone();
    if let Some(capacity) = queue.capacity {
        // A capacity that is sufficient for all customers of a closed network is not a limit.
        let all_users: Option<u64> = network.classes.iter().map(CustomerClass::users).sum();
        if all_users.is_none_or(|users| users > u64::from(capacity.customers)) {
            found.push(BrokenAssumption::Capacity { station: name() });
        }
    }
    let law = |class: &&CustomerClass| station.service(&class.name).map(|law| (class.name.clone(), law));
    let laws: Vec<_> = visiting.iter().filter_map(law).collect();
    let priorities_differ = visiting.windows(2).any(|pair| pair[0].priority != pair[1].priority);
    let prefers = match &queue.scheduling {
        // The mean values of these disciplines depend on the mean service times only.
        Scheduling::ProcessorSharing | Scheduling::LcfsPreemptiveResume => return,
        Scheduling::DiscriminatoryProcessorSharing { weights } => {
            let weight = |class: &CustomerClass| weights.get(&class.name).copied().unwrap_or(1.0);
            if visiting.windows(2).all(|pair| weight(pair[0]) == weight(pair[1])) {
                return;
            }
            true
        }
        Scheduling::Priority | Scheduling::PriorityPreemptive => priorities_differ,
        Scheduling::ShortestJobFirst => true,
        // Disciplines that ignore service times have the same mean values if service is exponential.
        Scheduling::Fcfs | Scheduling::Lcfs | Scheduling::Random => false,
    };
    if prefers {
        found.push(BrokenAssumption::Scheduling {
            station: name(),
            scheduling: queue.scheduling.name().to_owned(),
        });
        return;
    }
    if let Some((class, law)) = laws.iter().find(|(_, law)| !law.is_exponential()) {
        found.push(BrokenAssumption::ServiceLaw {
            station: name(),
            class: class.clone(),
            law: law.to_string(),
        });
    }
    let differ = |a: f64, b: f64| (a - b).abs() > 1e-9 * a.max(b);
    if laws.windows(2).any(|pair| differ(pair[0].1.mean_s(), pair[1].1.mean_s())) {
        found.push(BrokenAssumption::ServiceByClass { station: name() });
    }
}
