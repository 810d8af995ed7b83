//! Stations: where customers are served, or sent on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::TimeLaw;
use super::per_class::PerClass;
use super::routing::Place;

/// A place in the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: StationKind,
    /// Visits per pass of each class, if there are no routes: default 1, 0 for classes that a table does not name.
    /// Ignored in a network with routes.
    pub visits: PerClass<f64>,
}

/// What a station does.
#[derive(Clone, Debug, PartialEq)]
pub enum StationKind {
    /// Serves some customers at a time; the others wait.
    Queue(Queue),
    /// Serves all customers simultaneously, without waiting.
    Delay {
        /// How long a visit takes.
        service: PerClass<TimeLaw>,
    },
    /// Makes of a customer siblings that go their ways at the same time.
    Fork {
        /// Where siblings go.
        to: Vec<Place>,
        /// How many siblings go to each of these places.
        tasks: u32,
    },
    /// Waits for all siblings of a customer and makes him one again.
    Join,
    /// Sends customers on without serving them.
    Router,
    /// Makes of a customer one of another class, or leaves him as he is.
    ClassSwitch {
        /// By the class that comes: the probability of each class that leaves; they sum to 1. A class that is not
        /// named stays as it is.
        to: BTreeMap<String, BTreeMap<String, f64>>,
    },
}

/// A station that serves some customers at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// How many servers there are, at least 1.
    pub servers: u32,
    /// Whom a free server takes.
    pub scheduling: Scheduling,
    /// How long a server works for a visit (at speed 1). Classes without one do not come here.
    pub service: PerClass<TimeLaw>,
    /// Load-dependent service: how fast the station as a whole works with 1, 2, 3 … customers; the last value holds
    /// for more. Empty: the servers work at speed 1 each. With it there is one server.
    pub speeds: Vec<f64>,
    /// Maximum number of customers; `None`: unlimited.
    pub capacity: Option<Capacity>,
}

/// The capacity of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Maximum number of customers, waiting and in service.
    pub customers: u32,
    /// The treatment of a customer that finds the station full.
    pub when_full: WhenFull,
}

/// The treatment of a customer that finds a station full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// He is lost: his pass ends without success.
    Drop,
    /// The customer stays in its server and blocks it until there is room (blocking after service). Arrivals from
    /// outside wait in front of the station.
    Block,
}

/// Whom a server takes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduling {
    /// First come, first served.
    Fcfs,
    /// Last come, first served, without preemption.
    Lcfs,
    /// Last come, first served; arrivals preempt, and preempted customers resume later.
    LcfsPreemptiveResume,
    /// A random waiting customer.
    Random,
    /// The customer with the shortest service, without preemption.
    ShortestJobFirst,
    /// All at once, each with the same share of the servers, and no more than one server each.
    ProcessorSharing,
    /// All at once, each with a share by the weight of his class.
    DiscriminatoryProcessorSharing {
        /// The weight of each class; 1 for those that are not named.
        weights: BTreeMap<String, f64>,
    },
    /// The class with the greatest priority, in order of arrival, without preemption.
    Priority,
    /// The class with the greatest priority; it preempts, and preempted customers resume later.
    PriorityPreemptive,
}

impl Station {
    /// A queue with exponential service of that mean for all classes, in the order of arrival, visited once.
    #[must_use]
    pub fn queue(name: impl Into<String>, servers: u32, service_s: f64) -> Self {
        let service = PerClass::Same(TimeLaw::Exponential { mean_s: service_s });
        Self {
            name: name.into(),
            kind: StationKind::Queue(Queue::new(servers, service)),
            visits: PerClass::Same(1.0),
        }
    }

    /// A delay of that law for all classes, visited once.
    #[must_use]
    pub fn delay(name: impl Into<String>, law: TimeLaw) -> Self {
        let kind = StationKind::Delay { service: PerClass::Same(law) };
        Self { name: name.into(), kind, visits: PerClass::Same(1.0) }
    }

    /// The law of a visit of that class; `None` if the station or the class has no service.
    #[must_use]
    pub fn service(&self, class: &str) -> Option<&TimeLaw> {
        match &self.kind {
            StationKind::Queue(queue) => queue.service.of(class),
            StationKind::Delay { service } => service.of(class),
            _ => None,
        }
    }

    /// The visits of a pass of that class, where there are no routes: 0 for classes that are not served here.
    #[must_use]
    pub fn visits(&self, class: &str) -> f64 {
        let serves = matches!(self.kind, StationKind::Queue(_) | StationKind::Delay { .. });
        if serves && self.service(class).is_none() {
            return 0.0;
        }
        self.visits.of(class).copied().unwrap_or(0.0)
    }
}

impl Queue {
    /// A queue in the order of arrival with unlimited capacity.
    #[must_use]
    pub fn new(servers: u32, service: PerClass<TimeLaw>) -> Self {
        Self { servers, scheduling: Scheduling::Fcfs, service, speeds: Vec::new(), capacity: None }
    }

    /// How fast the station as a whole works with that many customers, in servers of speed 1.
    #[must_use]
    pub fn speed(&self, customers: u64) -> f64 {
        if customers == 0 {
            return 0.0;
        }
        match self.speeds.last() {
            None => customers.min(u64::from(self.servers)) as f64,
            Some(last) => usize::try_from(customers - 1)
                .ok()
                .and_then(|at| self.speeds.get(at))
                .copied()
                .unwrap_or(*last),
        }
    }
}

impl Scheduling {
    /// Its name in the file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fcfs => "fcfs",
            Self::Lcfs => "lcfs",
            Self::LcfsPreemptiveResume => "lcfs-pr",
            Self::Random => "random",
            Self::ShortestJobFirst => "sjf",
            Self::ProcessorSharing => "ps",
            Self::DiscriminatoryProcessorSharing { .. } => "dps",
            Self::Priority => "priority",
            Self::PriorityPreemptive => "priority-preemptive",
        }
    }
}
