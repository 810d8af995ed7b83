//! The settings of a simulation.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use busyhour_queueing::network::NetworkFinding;
use thiserror::Error;

/// Settings of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationSettings {
    /// The seed of all random numbers. Two networks that are simulated with the same seed have the same random numbers at
    /// stations and classes with the same names.
    pub seed: u64,
    /// Confidence level of the intervals, greater than 0 and less than 1.
    pub confidence: f64,
    /// Required half width of the intervals, divided by the value.
    pub precision: f64,
    /// Number of independent replications, at least 1. Unlike the number of threads, it affects the result.
    pub replications: u32,
    /// Maximum number of events of all replications. When it is reached, the simulation ends with the precision reached so far.
    pub events_max: u64,
    /// Number of threads; `None` for the number of cores.
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
    /// Checks that the settings are in their ranges.
    pub(crate) fn check(&self) -> Result<(), SimulationError> {
        let wrong = |message: &str| Err(SimulationError::Settings(message.to_owned()));
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return wrong("the confidence must be between 0 and 1");
        }
        if !(self.precision > 0.0 && self.precision.is_finite()) {
            return wrong("the precision must be greater than 0");
        }
        if self.replications == 0 || self.replications > 10_000 {
            return wrong("the number of replications must be from 1 to 10,000");
        }
        if self.events_max == 0 {
            return wrong("the maximum number of events must be at least 1");
        }
        Ok(())
    }
}

/// Progress of a running simulation; it can be read on any thread.
#[derive(Debug, Default)]
pub struct SimulationWatch {
    stop: AtomicBool,
    events: AtomicU64,
}

impl SimulationWatch {
    /// Requests that the simulation ends with the results so far.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The number of events processed so far.
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

/// The error if a simulation has no result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SimulationError {
    /// The network is inconsistent.
    #[error("the model is invalid: {}", list(.0))]
    Network(Vec<NetworkFinding>),
    /// A setting is out of its range.
    #[error("{0}")]
    Settings(String),
    /// A distribution of times has no finite mean.
    #[error("no times can be drawn for class {class:?} at {station:?}: its law has no finite mean")]
    Law {
        /// The station; "outside" for interarrival times and think times.
        station: String,
        /// The class.
        class: String,
    },
    /// A name refers to a station or class that does not exist.
    #[error("there is no station or class {0:?}")]
    Unknown(String),
    /// The model exceeds a limit of the simulator.
    #[error("too many {what}: the maximum is {most}")]
    TooLarge {
        /// The kind of the items whose number is too large.
        what: &'static str,
        /// The maximum number of these items.
        most: u64,
    },
    /// Customers block each other, so that the simulation cannot continue.
    #[error(
        "deadlock after {at_s:.6} s of simulated time at {}: each customer waits for room that another one occupies; \
         increase the capacity of one of these stations, or let it drop customers",
        .stations.join(", ")
    )]
    Deadlock {
        /// Simulated time of the deadlock in seconds.
        at_s: f64,
        /// The stations in the deadlock.
        stations: Vec<String>,
    },
    /// Events follow each other without end while simulated time does not pass.
    #[error(
        "endless loop after {at_s:.6} s of simulated time: customers circulate without thinking or being served, so that \
         simulated time does not pass"
    )]
    Standstill {
        /// Simulated time of the loop in seconds.
        at_s: f64,
    },
}

fn list(findings: &[NetworkFinding]) -> String {
    findings.iter().map(NetworkFinding::to_string).collect::<Vec<_>>().join("; ")
}
