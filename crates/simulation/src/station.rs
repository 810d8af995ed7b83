//! A station as it is at a moment.

use std::collections::VecDeque;

use busyhour_queueing::network::WhenFull;

use crate::routing::Target;
use crate::sharing::Sharing;
use crate::waiting::Waiting;

/// How a station serves.
#[derive(Debug)]
pub(crate) enum Serving {
    /// Some at a time, each to the end.
    ToTheEnd,
    /// Several at a time; arrivals can preempt: the customers in service.
    Interrupted(Interrupts, Vec<u32>),
    /// One at a time, at a speed that depends on the number present; arrivals can preempt.
    Paced(Pace),
    /// All at once.
    Shared(Sharing),
    /// All at once, without feeling each other.
    Delay,
    /// No service: creates siblings, a number for each target.
    Fork(Box<[(Target, u32)]>),
    /// No service: siblings wait for each other.
    Join,
    /// No service: customers can change their class. By class: cumulative probabilities and classes; empty for a
    /// class that does not change.
    Through(Box<[Box<[(f64, u16)]>]>),
}

/// The preemption rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupts {
    /// The last arrival preempts the first.
    Last,
    /// A higher level interrupts a lower one.
    Level,
}

/// One server whose speed depends on the load.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The speed with 1, 2, … customers.
    pub(crate) speeds: Box<[f64]>,
    pub(crate) interrupts: Option<Interrupts>,
    /// A customer in service, its speed, and the start of service.
    pub(crate) customer: Option<u32>,
    pub(crate) speed: f64,
    pub(crate) since_s: f64,
    /// Whether the customer is finished and blocked.
    pub(crate) blocked: bool,
}

/// Where a customer goes, as which class, and how many more visits to that place are due after the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) target: Target,
    pub(crate) class: u16,
    pub(crate) visits_due: u32,
}

/// A customer that waits for room at a full station, and the station whose server it blocks; customers from outside
/// block none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocked {
    pub(crate) customer: u32,
    pub(crate) from: Target,
    pub(crate) hop: Hop,
}

/// A station.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) serving: Serving,
    pub(crate) waiting: Waiting,
    /// Whether the service time must be known on arrival.
    pub(crate) draws_on_arrival: bool,
    /// How many servers there are; 0 of infinitely many.
    pub(crate) servers: u32,
    /// Servers with a customer, in service or blocked.
    pub(crate) in_service: u32,
    /// Customers there.
    pub(crate) present: u32,
    /// Blocked customers among those.
    pub(crate) blocked: u32,
    /// Maximum number of customers.
    pub(crate) capacity: u32,
    pub(crate) when_full: WhenFull,
    /// Customers that wait for room, the first in front.
    pub(crate) before: VecDeque<Blocked>,
    /// The station's own event: its number (0 for none) and its time.
    pub(crate) due: (u32, f64),
}

impl Station {
    /// A station of the given kind without a limit.
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
            before: VecDeque::new(),
            due: (0, 0.0),
        }
    }

    /// Whether no customer here can progress: the station is full, and all customers in service, or next in line, are
    /// blocked.
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
