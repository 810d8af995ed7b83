//! Orders to a run, and the state of its load.

use std::time::Duration;

use busyhour_sample::{ChangedFrom, ControlEvent};
use serde::Deserialize;

/// An order to a run.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// No arrival starts, and other users stop before their next sample.
    Pause,
    /// Continue after a pause.
    Resume,
    /// Change the rate of arrivals.
    Rate {
        /// Multiple of the requested rate.
        factor: f64,
    },
    /// Users finish the current samples, and the run ends. Refused if the run is ending already.
    Stop,
    /// Like [`Order::Stop`]; a repetition ends the run at once, as the second Ctrl-C does.
    #[serde(skip)]
    Interrupt,
    /// Requests in flight are abandoned. TearDown groups still run within the grace period, as in JMeter.
    #[serde(skip)]
    StopNow,
}

/// Where an order comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderSource {
    /// A user at the terminal of this process. Recorded in the manifest.
    Terminal,
    /// The live page. Recorded in the manifest.
    Page,
    /// A signal of another process, JMeter's stop port or a program that uses this crate. The outcome of the run says
    /// that it was stopped.
    Program,
}

impl OrderSource {
    /// The source as recorded in the manifest, if it is.
    pub(crate) fn recorded(self) -> Option<ChangedFrom> {
        match self {
            OrderSource::Terminal => Some(ChangedFrom::Terminal),
            OrderSource::Page => Some(ChangedFrom::Page),
            OrderSource::Program => None,
        }
    }
}

/// Why an order was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OrderRefused {
    /// The run has not started.
    #[error("the run has not started")]
    NotStarted,
    /// The run is ending.
    #[error("the run is ending and can no longer be changed")]
    Ending,
    /// The rate is not that of a schedule.
    #[error("{0}")]
    FixedRate(String),
    /// The rate is not possible.
    #[error(transparent)]
    Rate(#[from] busyhour_program::run_control::ControlError),
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunPhase {
    /// Before the first user starts.
    Preparing,
    /// Running.
    #[default]
    Running,
    /// Paused.
    Paused,
    /// A stop was requested.
    Stopping,
    /// Ended.
    Ended,
}

impl RunPhase {
    /// The phase as one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RunPhase::Preparing => "preparing",
            RunPhase::Running => "running",
            RunPhase::Paused => "paused",
            RunPhase::Stopping => "stopping",
            RunPhase::Ended => "ended",
        }
    }
}

/// The current state of the load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadState {
    /// The phase of the run.
    pub phase: RunPhase,
    /// The current multiple of the requested rate.
    pub factor: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Length of the whole run, if it is known.
    pub length: Option<Duration>,
    /// Active users.
    pub active: u64,
    /// The changes so far.
    pub changes: Vec<ControlEvent>,
}

/// Executes orders, and returns the state of the load. [`RunControl`] implements it; tests of pages use another one.
pub trait Steering: Send + Sync {
    /// Executes an order.
    ///
    /// # Errors
    /// The order is refused.
    fn order(&self, order: Order, source: OrderSource) -> Result<(), OrderRefused>;

    /// The current state of the load.
    fn state(&self) -> LoadState;
}
