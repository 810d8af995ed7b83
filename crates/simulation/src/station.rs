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
    /// Some at a time; who comes may interrupt: who is being served.
    Interrupted(Interrupts, Vec<u32>),
    /// One at a time, at a speed that depends on how many are there; who comes may interrupt.
    Paced(Pace),
    /// All at once.
    Shared(Sharing),
    /// All at once, without feeling each other.
    Delay,
    /// Nobody is served: siblings are made, so many for each target.
    Fork(Box<[(Target, u32)]>),
    /// Nobody is served: siblings wait for each other.
    Join,
    /// Nobody is served: customers go on, perhaps as another class. By class: up to which number, which class; empty
    /// for one that stays as it is.
    Through(Box<[Box<[(f64, u16)]>]>),
}

/// Who interrupts whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupts {
    /// The last who came interrupts the first.
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
    /// Who is served, at which speed, and since when.
    pub(crate) customer: Option<u32>,
    pub(crate) speed: f64,
    pub(crate) since_s: f64,
    /// Whether he is done, and waits for room elsewhere.
    pub(crate) blocked: bool,
}

/// Where a customer goes, as which class, and how many more visits to that place are due after the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) target: Target,
    pub(crate) class: u16,
    pub(crate) visits_due: u32,
}

/// Someone who waits before a full station, and the station whose server he blocks; from outside he blocks none.
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
    /// Servers with a customer, whom they serve or who blocks them.
    pub(crate) in_service: u32,
    /// Customers there.
    pub(crate) present: u32,
    /// Of those: who are done, and wait for room elsewhere.
    pub(crate) blocked: u32,
    /// How many find room.
    pub(crate) capacity: u32,
    pub(crate) when_full: WhenFull,
    /// Who waits before the station because it is full, the first in front.
    pub(crate) before: VecDeque<Blocked>,
    /// The station's own event: its number (0 for none) and its time.
    pub(crate) due: (u32, f64),
}

impl Station {
    /// A station with room for all, of the given kind.
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

    /// Whether nobody here can get on by himself: there is no room for anybody to come, and all who are or could be served
    /// are done and wait for room elsewhere.
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
