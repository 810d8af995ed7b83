//! The state of a station.

use std::collections::VecDeque;

use busyhour_queueing::network::WhenFull;

use crate::routing::Target;
use crate::sharing::Sharing;
use crate::waiting::Waiting;

/// The way in which a station serves customers.
#[derive(Debug)]
pub(crate) enum Serving {
    /// Serves a limited number of customers at a time, without preemption.
    NonPreemptive,
    /// Serves a limited number of customers at a time. Arrivals can preempt them. The second field contains the customers in
    /// service.
    Preemptive(PreemptionRule, Vec<u32>),
    /// Serves one customer at a time, at a speed that depends on the number of customers. Arrivals may preempt it.
    LoadDependent(LoadDependentServer),
    /// Serves all customers simultaneously; they share the servers.
    Shared(Sharing),
    /// Serves all customers simultaneously, independently of each other.
    Delay,
    /// Has no service; creates siblings. The field contains the number of siblings for each target.
    Fork(Box<[(Target, u32)]>),
    /// Has no service; siblings wait for each other.
    Join,
    /// Has no service; routes customers, which may change their class. For each class: cumulative probabilities and the new
    /// classes; empty for a class that does not change.
    Router(Box<[Box<[(f64, u16)]>]>),
}

/// The rule that selects the customer in service that an arrival preempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreemptionRule {
    /// The customer that arrived first.
    FirstArrival,
    /// A customer of a lower priority level.
    LowerLevel,
}

/// One server whose speed depends on the load.
#[derive(Debug)]
pub(crate) struct LoadDependentServer {
    /// The speeds with 1, 2, … customers.
    pub(crate) speeds: Box<[f64]>,
    pub(crate) preemption: Option<PreemptionRule>,
    /// The customer in service.
    pub(crate) customer: Option<u32>,
    /// The current speed.
    pub(crate) speed: f64,
    /// The time at which the customer's service started or resumed.
    pub(crate) since_s: f64,
    /// Whether the service has ended but the customer is blocked.
    pub(crate) blocked: bool,
}

/// A routing decision for a customer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) target: Target,
    /// The customer's class at the target.
    pub(crate) class: u16,
    /// Number of further visits to the target that follow the coming visit.
    pub(crate) further_visits: u32,
}

/// A customer that waits for room at a full station, and the station whose server it blocks in the meantime. Customers from
/// outside do not block a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocked {
    pub(crate) customer: u32,
    pub(crate) from: Target,
    pub(crate) hop: Hop,
}

/// The state of a station.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) serving: Serving,
    pub(crate) waiting: Waiting,
    /// Whether the service time must be known on arrival.
    pub(crate) draws_on_arrival: bool,
    /// Number of servers; 0 if it is infinite.
    pub(crate) servers: u32,
    /// Number of servers that have a customer, in service or blocked.
    pub(crate) in_service: u32,
    /// Number of customers.
    pub(crate) present: u32,
    /// Number of blocked customers among them.
    pub(crate) blocked: u32,
    /// Maximum number of customers at the station.
    pub(crate) capacity: u32,
    pub(crate) when_full: WhenFull,
    /// Customers that wait for room at this station, in order of arrival.
    pub(crate) waiting_for_room: VecDeque<Blocked>,
    /// Sequence number (0 for none) and time of the scheduled [`StationDue`](crate::events::Event::StationDue) event.
    pub(crate) due: (u32, f64),
}

impl Station {
    /// A station with unlimited capacity.
    pub(crate) fn new(serving: Serving, waiting: Waiting, servers: u32) -> Self {
        Self {
            serving,
            waiting,
            draws_on_arrival: false,
            servers,
            in_service: 0,
            present: 0,
            blocked: 0,
            capacity: u32::MAX,
            when_full: WhenFull::Drop,
            waiting_for_room: VecDeque::new(),
            due: (0, 0.0),
        }
    }

    /// Whether no customer at this station can continue: the station is full, and all customers in service are blocked.
    pub(crate) fn is_stuck(&self) -> bool {
        let served = match &self.serving {
            Serving::Delay | Serving::Shared(_) => self.present,
            _ => self.servers.min(self.present),
        };
        self.is_full() && self.blocked >= served
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.present >= self.capacity
    }
}
