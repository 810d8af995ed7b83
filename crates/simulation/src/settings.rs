//! The settings of a simulation.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use busyhour_queueing::network::Finding;
use thiserror::Error;

/// How a network is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationSettings {
    /// Where all random numbers come from. Two networks simulated with one seed see the same random numbers at places
    /// of the same name.
    pub seed: u64,
    /// Share of intervals that hold the true value, above 0 and below 1.
    pub confidence: f64,
    /// Half an interval's width over its middle at which a measure is known well enough.
    pub precision: f64,
    /// Independent replications, at least 1. The result depends on it, and not on how many threads there are.
    pub replications: u32,
    /// Maximum number of events of all replications; the simulation then ends with the precision reached.
    pub events_max: u64,
    /// Threads; `None`: as many as there are cores.
    pub threads: Option<usize>,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            confidence: 0.95,
            precision: 0.02,
            replications: 8,
            events_max: 100_000_000,
            threads: None,
        }
    }
}

impl SimulationSettings {
    /// What is wrong with them, in words.
    pub(crate) fn check(&self) -> Result<(), SimulationError> {
        let wrong = |message: &str| Err(SimulationError::Settings(message.to_owned()));
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return wrong("the confidence must be between 0 and 1");
        }
        if !(self.precision > 0.0 && self.precision.is_finite()) {
            return wrong("the precision is greater than 0");
        }
        if self.replications == 0 || self.replications > 10_000 {
            return wrong("there are 1 to 10,000 replications");
        }
        if self.events_max == 0 {
            return wrong("there must be at least one event");
        }
        Ok(())
    }
}

/// Progress of a running simulation, readable from any thread.
#[derive(Debug, Default)]
pub struct SimulationWatch {
    stop: AtomicBool,
    events: AtomicU64,
}

impl SimulationWatch {
    /// Requests the end of the simulation with the results so far.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How many events have happened.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, events: u64) {
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}

/// Why there is no result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SimulationError {
    /// The network makes no sense.
    #[error("the model makes no sense: {}", list(.0))]
    Network(Vec<Finding>),
    /// The settings make no sense.
    #[error("{0}")]
    Settings(String),
    /// A law that cannot be drawn from.
    #[error("no times can be drawn for class {class:?} at {station:?}: its law has no finite mean")]
    Law {
        /// The station, or "outside".
        station: String,
        /// The class.
        class: String,
    },
    /// A station or class that does not exist.
    #[error("there is no station or class {0:?}")]
    Unknown(String),
    /// More than the simulator can hold.
    #[error("too many {what}: at most {most} can be simulated")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many can be.
        most: u64,
    },
    /// Customers block each other, and nothing can happen any more.
    #[error(
        "customers block each other for ever, first after {at_s:.6} s of simulated time, at {}: each waits for room that \
         another holds; give one of these stations more room, or let it drop",
        .stations.join(", ")
    )]
    Deadlock {
        /// When.
        at_s: f64,
        /// The stations.
        stations: Vec<String>,
    },
    /// Events follow each other for ever without any time passing.
    #[error(
        "after {at_s:.6} s of simulated time events follow each other without any time passing: somewhere customers go \
         round without thinking or being served"
    )]
    Standstill {
        /// When.
        at_s: f64,
    },
}

fn list(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("; ")
}
