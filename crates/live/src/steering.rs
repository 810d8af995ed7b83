//! Orders to a running run, and its state.

use std::time::Duration;

use busyhour_record::{ChangedFrom, ControlEvent};
use serde::Deserialize;

/// An order.
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
    /// Users finish the current samples, and the run ends.
    Stop,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunPhase {
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

busyhour_diagnostic::message_error! {
    /// Why an order was refused.
    pub struct OrderRefused;
}

/// Executes orders.
pub trait Steering: Send + Sync {
    /// Executes an order.
    ///
    /// # Errors
    /// When the order is refused.
    fn order(&self, order: Order, from: ChangedFrom) -> Result<(), OrderRefused>;

    /// The current state of the load.
    fn state(&self) -> LoadState;
}
