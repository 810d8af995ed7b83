//! What can be asked of a run that goes on, and how it stands.

use std::time::Duration;

use busyhour_record::{ChangedFrom, ControlEvent};
use serde::Deserialize;

/// What somebody wants of the run.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// No arrival begins, and users with work of their own hold.
    Pause,
    /// It goes on.
    Resume,
    /// Arrivals come at so many times the rate that was asked for.
    Rate {
        /// How many times.
        factor: f64,
    },
    /// Users finish the samples they are in, and it ends.
    Stop,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunPhase {
    /// It goes on.
    #[default]
    Running,
    /// It is paused.
    Paused,
    /// It was asked to end.
    Stopping,
    /// It has ended.
    Ended,
}

impl RunPhase {
    /// In a word.
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

/// How the load stands now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadState {
    /// How far the run is.
    pub phase: RunPhase,
    /// How many times the rate that was asked for arrivals come at.
    pub factor: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Length of the whole run, if it is known.
    pub length: Option<Duration>,
    /// Users at work.
    pub active: u64,
    /// What was changed so far.
    pub changes: Vec<ControlEvent>,
}

/// Who carries orders out.
pub trait Steering: Send + Sync {
    /// Carries an order out.
    ///
    /// # Errors
    /// Why it cannot be, in words for the person who gave it.
    fn order(&self, order: Order, from: ChangedFrom) -> Result<(), String>;

    /// How the load stands.
    fn state(&self) -> LoadState;
}
