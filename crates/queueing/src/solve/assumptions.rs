//! What a solution takes for granted, and where a network does not keep it.

use std::fmt;

use serde::Serialize;

use crate::network::{
    ClassLoad, CustomerClass, Queue, QueueingNetwork, Scheduling, Station, StationKind, Strategy,
};

/// Visits below this are treated as zero: they result from a linear system.
pub(super) const VISITS_MIN: f64 = 1e-12;

/// An assumption of product form that a network breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "assumption", rename_all = "kebab-case")]
pub enum Broken {
    /// In order of arrival (or at random) a class is served by a law that is not exponential.
    ServiceLaw {
        /// The station.
        station: String,
        /// One of the classes concerned.
        class: String,
        /// Its law, as written.
        law: String,
    },
    /// In order of arrival classes have different mean service times.
    ServiceByClass {
        /// The station.
        station: String,
    },
    /// The order of service depends on the class, or on the length of the service.
    Scheduling {
        /// The station.
        station: String,
        /// The scheduling.
        scheduling: String,
    },
    /// The pause of a closed class between two services is not exponential.
    Pause {
        /// The class.
        class: String,
    },
    /// An open class does not arrive as a Poisson process.
    Arrivals {
        /// The class.
        class: String,
    },
    /// The routes depend on the state, or on previous customers.
    Routing {
        /// The place they leave.
        from: String,
        /// The strategy.
        strategy: String,
    },
    /// A station may be full.
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

impl Broken {
    /// Whether a solution that ignores it approximates the network. Losing or blocking customers, forks and changes of
    /// class make another network.
    #[must_use]
    pub fn can_be_ignored(&self) -> bool {
        !matches!(self, Self::Capacity { .. } | Self::ForkJoin { .. } | Self::ClassSwitch { .. })
    }

    /// What a solution does that ignores it.
    #[must_use]
    pub fn ignored_as(&self) -> &'static str {
        match self {
            Self::ServiceLaw { .. } => "solved as if service were exponential with the same mean",
            Self::ServiceByClass { .. } => {
                "solved as if the station were shared by all customers at once (ps)"
            }
            Self::Scheduling { .. } => "solved as if the station were shared by all customers at once (ps)",
            Self::Pause { .. } => "solved as if think time and delays together were exponential",
            Self::Arrivals { .. } => "solved as if arrivals were a Poisson process of the same rate",
            Self::Routing { .. } => "solved as if the same shares were drawn at random",
            Self::Capacity { .. } | Self::ForkJoin { .. } | Self::ClassSwitch { .. } => "not solved",
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServiceLaw { station, class, law } => {
                write!(f, "station {station:?} serves {class:?} by {law}, which is not exponential")
            }
            Self::ServiceByClass { station } => {
                write!(
                    f,
                    "station {station:?} serves in order of arrival, and classes differ in their mean service time"
                )
            }
            Self::Scheduling { station, scheduling } => {
                write!(f, "station {station:?} prefers some customers to others ({scheduling})")
            }
            Self::Pause { class } => write!(
                f,
                "customers of class {class:?} come back after a pause (think time and delays) that is not exponential"
            ),
            Self::Arrivals { class } => write!(f, "class {class:?} does not arrive as a Poisson process"),
            Self::Routing { from, strategy } => {
                write!(f, "customers leaving {from:?} choose by {strategy}, not by fixed probabilities")
            }
            Self::Capacity { station } => write!(f, "station {station:?} can be full"),
            Self::ForkJoin { station } => write!(f, "station {station:?} is a fork or a join"),
            Self::ClassSwitch { station } => write!(f, "station {station:?} changes the class of customers"),
        }
    }
}

/// What of product form the network breaks, given the visits of each class: `visits[class][station]`.
pub(super) fn broken(network: &QueueingNetwork, visits: &[Vec<f64>]) -> Vec<Broken> {
    let mut found = Vec::new();
    for class in &network.classes {
        if let ClassLoad::Open { interarrival } = &class.load
            && !interarrival.is_exponential()
        {
            found.push(Broken::Arrivals { class: class.name.clone() });
        }
    }
    for (at, station) in network.stations.iter().enumerate() {
        let here: Vec<&CustomerClass> = network
            .classes
            .iter()
            .zip(visits)
            .filter(|(class, visits)| visits[at] > VISITS_MIN && class.users() != Some(0))
            .map(|(class, _)| class)
            .collect();
        let name = || station.name.clone();
        match &station.kind {
            StationKind::Queue(queue) => at_queue(network, station, queue, &here, &mut found),
            StationKind::Fork { .. } | StationKind::Join => found.push(Broken::ForkJoin { station: name() }),
            StationKind::ClassSwitch { .. } => found.push(Broken::ClassSwitch { station: name() }),
            StationKind::Delay { .. } | StationKind::Router => {}
        }
    }
    for route in &network.routes {
        let is_fixed = route.strategy.probabilities().is_some();
        let shares_only = matches!(route.strategy, Strategy::Probabilities(_) | Strategy::Random(_));
        if !is_fixed && !shares_only {
            found.push(Broken::Routing {
                from: route.from.name().to_owned(),
                strategy: route.strategy.name().to_owned(),
            });
        }
    }
    found
}

fn at_queue(
    network: &QueueingNetwork,
    station: &Station,
    queue: &Queue,
    here: &[&CustomerClass],
    found: &mut Vec<Broken>,
) {
    let name = || station.name.clone();
    if let Some(capacity) = queue.capacity {
        // A capacity for all customers of a closed network is unlimited.
        let everybody: Option<u64> = network.classes.iter().map(CustomerClass::users).sum();
        if everybody.is_none_or(|users| users > u64::from(capacity.customers)) {
            found.push(Broken::Capacity { station: name() });
        }
    }
    let law = |class: &&CustomerClass| station.service(&class.name).map(|law| (class.name.clone(), law));
    let laws: Vec<_> = here.iter().filter_map(law).collect();
    let priorities_differ = here.windows(2).any(|pair| pair[0].priority != pair[1].priority);
    let prefers = match &queue.scheduling {
        // These serve whom they serve by any law with the same mean values.
        Scheduling::ProcessorSharing | Scheduling::LcfsPreemptiveResume => return,
        Scheduling::DiscriminatoryProcessorSharing { weights } => {
            let weight = |class: &CustomerClass| weights.get(&class.name).copied().unwrap_or(1.0);
            if here.windows(2).all(|pair| weight(pair[0]) == weight(pair[1])) {
                return;
            }
            true
        }
        Scheduling::Priority | Scheduling::PriorityPreemptive => priorities_differ,
        Scheduling::ShortestJobFirst => true,
        // Without knowledge of service times the order does not matter to means while service is exponential.
        Scheduling::Fcfs | Scheduling::Lcfs | Scheduling::Random => false,
    };
    if prefers {
        found.push(Broken::Scheduling { station: name(), scheduling: queue.scheduling.name().to_owned() });
        return;
    }
    if let Some((class, law)) = laws.iter().find(|(_, law)| !law.is_exponential()) {
        found.push(Broken::ServiceLaw { station: name(), class: class.clone(), law: law.to_string() });
    }
    let differ = |a: f64, b: f64| (a - b).abs() > 1e-9 * a.max(b);
    if laws.windows(2).any(|pair| differ(pair[0].1.mean_s(), pair[1].1.mean_s())) {
        found.push(Broken::ServiceByClass { station: name() });
    }
}
