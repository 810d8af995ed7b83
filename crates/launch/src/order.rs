//! Commands to a run, and the state of its load.

use std::time::Duration;

use busyhour_sample::{ChangedFrom, ControlEvent};
use serde::Deserialize;

/// A command to a run.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Command {
    /// No arrival starts, and other users stop before their next sample until the load is resumed.
    Pause,
    /// Continue after a pause.
    Resume,
    /// Change the rate of arrivals.
    Rate {
        /// Multiple of the requested rate.
        factor: f64,
    },
    /// Users finish the current samples, and the run ends. The command is refused if the run is already ending.
    Stop,
    /// Like [`Command::Stop`], but a second interrupt ends the run at once, like the second Ctrl-C.
    #[serde(skip)]
    Interrupt,
    /// Requests in flight are abandoned. TearDown groups still run within the grace period, as in JMeter.
    #[serde(skip)]
    StopNow,
}

/// The source of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandSource {
    /// A user at the terminal of this process. Such commands are recorded in the manifest.
    Terminal,
    /// The live page. Such commands are recorded in the manifest.
    Page,
    /// A signal of another process, JMeter's stop port or a program that uses this crate. The manifest does not record the command,
    /// but the outcome of the run shows that it was stopped.
    Program,
}

impl CommandSource {
    /// The source for the manifest; `None` if it is not recorded.
    pub(crate) fn recorded(self) -> Option<ChangedFrom> {
        match self {
            CommandSource::Terminal => Some(ChangedFrom::Terminal),
            CommandSource::Page => Some(ChangedFrom::Page),
            CommandSource::Program => None,
        }
    }
}

/// The reason why a command was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandRefused {
    /// The run has not started.
    #[error("the run has not started")]
    NotStarted,
    /// The run is already ending.
    #[error("the run is ending and can no longer be changed")]
    Ending,
    /// The rate of the run does not come from a schedule and cannot be changed.
    #[error("{0}")]
    FixedRate(String),
    /// The rate is out of range, or there were too many changes.
    #[error(transparent)]
    Rate(#[from] busyhour_program::run_control::LoadChangeError),
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunPhase {
    /// Before the first user starts.
    Preparing,
    /// Users are running.
    #[default]
    Running,
    /// The load is paused.
    Paused,
    /// A stop was requested.
    Stopping,
    /// The run has ended.
    Ended,
}

impl RunPhase {
    /// The name of the phase, one word.
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
    /// The current factor of the requested rate.
    pub factor: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Length of the whole run, if it is known.
    pub length: Option<Duration>,
    /// Number of active users.
    pub active: u64,
    /// The changes so far.
    pub changes: Vec<ControlEvent>,
}

/// Executes commands, and returns the state of the load. [`RunControl`] implements this trait; tests of pages have their own
/// implementation.
pub trait CommandHandler: Send + Sync {
    /// Executes a command.
    ///
    /// # Errors
    /// The command is refused.
    fn execute(&self, command: Command, source: CommandSource) -> Result<(), CommandRefused>;

    /// The current state of the load.
    fn state(&self) -> LoadState;
}
