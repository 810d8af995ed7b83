//! Stations, which serve or route customers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::TimeLaw;
use super::per_class::PerClass;
use super::routing::Place;

/// A node of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Unique name.
    pub name: String,
    /// Kind of station, with its parameters.
    pub kind: StationKind,
    /// Visits per pass of each class, if there are no routes: default 1, 0 for classes that the table does not list.
    /// Ignored in a network with routes.
    pub visits: PerClass<f64>,
}

/// The kinds of stations.
#[derive(Clone, Debug, PartialEq)]
pub enum StationKind {
    /// Serves a limited number of customers at a time; the others wait.
    Queue(Queue),
    /// Serves all customers simultaneously, without waiting.
    Delay {
        /// Service time of a visit.
        service: PerClass<TimeLaw>,
    },
    /// Splits a customer into sibling tasks, which are routed independently and in parallel.
    Fork {
        /// Targets of the siblings.
        to: Vec<Place>,
        /// Number of siblings for each target.
        tasks: u32,
    },
    /// Waits for all siblings of a customer and merges them into one customer.
    Join,
    /// Routes customers without serving them.
    Router,
    /// Changes the class of customers at random.
    ClassSwitch {
        /// For each arriving class, the probabilities of the classes in which the customer departs; they sum to 1.
        /// Customers of classes that are not listed keep their class.
        to: BTreeMap<String, BTreeMap<String, f64>>,
    },
}

/// A station that serves a limited number of customers at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Number of servers, at least 1.
    pub servers: u32,
    /// The queueing discipline.
    pub scheduling: Scheduling,
    /// Service time of a visit at speed 1. Classes without a service time do not visit the station.
    pub service: PerClass<TimeLaw>,
    /// Load-dependent service: the speed of the whole station with 1, 2, 3 … customers; the last value applies to
    /// more customers. If empty, each server works at speed 1. If not empty, `servers` is 1.
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
    /// The customer is rejected (lost): its pass ends without success.
    Drop,
    /// The customer stays in its server and blocks it until there is room (blocking after service). Arrivals from
    /// outside wait in front of the station.
    Block,
}

/// Queueing disciplines.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduling {
    /// First come, first served.
    Fcfs,
    /// Last come, first served, without preemption.
    Lcfs,
    /// Last come, first served; arrivals preempt, and preempted customers resume later.
    LcfsPreemptiveResume,
    /// Random order of service.
    Random,
    /// Shortest service time first, without preemption.
    ShortestJobFirst,
    /// All customers are served simultaneously, each with an equal share of the servers and at most one server.
    ProcessorSharing,
    /// All customers are served simultaneously, each with a share proportional to the weight of its class.
    DiscriminatoryProcessorSharing {
        /// The weight of each class; 1 for classes that are not listed.
        weights: BTreeMap<String, f64>,
    },
    /// Highest priority first, in order of arrival within a priority, without preemption.
    Priority,
    /// Highest priority first; arrivals preempt, and preempted customers resume later.
    PriorityPreemptive,
}

impl Station {
    /// An FCFS queue with one visit per pass and exponential service of mean `service_s` for all classes.
    #[must_use]
    pub fn queue(name: impl Into<String>, servers: u32, service_s: f64) -> Self {
        let service = PerClass::Same(TimeLaw::Exponential { mean_s: service_s });
        Self {
            name: name.into(),
            kind: StationKind::Queue(Queue::new(servers, service)),
            visits: PerClass::Same(1.0),
        }
    }

    /// A delay with one visit per pass and the same law for all classes.
    #[must_use]
    pub fn delay(name: impl Into<String>, law: TimeLaw) -> Self {
        let kind = StationKind::Delay { service: PerClass::Same(law) };
        Self { name: name.into(), kind, visits: PerClass::Same(1.0) }
    }

    /// Law of the service time of a visit of `class`; `None` if the station does not serve this class.
    #[must_use]
    pub fn service(&self, class: &str) -> Option<&TimeLaw> {
        match &self.kind {
            StationKind::Queue(queue) => queue.service.get(class),
            StationKind::Delay { service } => service.get(class),
            _ => None,
        }
    }

    /// Visits per pass of `class`, in a network without routes: 0 for classes that the station does not serve.
    #[must_use]
    pub fn visits(&self, class: &str) -> f64 {
        let serves = matches!(self.kind, StationKind::Queue(_) | StationKind::Delay { .. });
        if serves && self.service(class).is_none() {
            return 0.0;
        }
        self.visits.get(class).copied().unwrap_or(0.0)
    }
}

impl Queue {
    /// An FCFS queue with unlimited capacity.
    #[must_use]
    pub fn new(servers: u32, service: PerClass<TimeLaw>) -> Self {
        Self { servers, scheduling: Scheduling::Fcfs, service, speeds: Vec::new(), capacity: None }
    }

    /// Speed of the whole station with this number of customers, in servers of speed 1.
    #[must_use]
    pub fn speed(&self, customers: u64) -> f64 {
        if customers == 0 {
            return 0.0;
        }
        match self.speeds.last() {
            None => customers.min(u64::from(self.servers)) as f64,
            Some(last) => usize::try_from(customers - 1)
                .ok()
                .and_then(|index| self.speeds.get(index))
                .copied()
                .unwrap_or(*last),
        }
    }
}

impl Scheduling {
    /// Name in the model file.
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
