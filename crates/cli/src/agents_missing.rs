//! Runs on agents in a program that was built without the feature `cluster`: there are none.

use busyhour_launch::{Prepared, RunHandle};
use busyhour_program::clock::Clock;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::Exit;
use clap::Args;

use crate::events::ShownEvents;

/// The options of runs on agents, of which this program has none.
#[derive(Debug, Default, Args)]
pub(crate) struct OnArgs {}

/// The agents of a run; there are none in this program.
#[derive(Clone, Debug)]
pub(crate) enum AgentsOfRun {}

impl OnArgs {
    /// No agents.
    #[allow(clippy::unnecessary_wraps, reason = "the signature of the complete program")]
    pub(crate) fn settings(&self, _is_observed: bool) -> Result<Option<AgentsOfRun>, CommandError> {
        Ok(None)
    }

    /// Users are not multiplied.
    pub(crate) fn user_factor(&self) -> Option<u32> {
        None
    }
}

impl AgentsOfRun {
    /// Cannot be called.
    pub(crate) fn clock(&self) -> Option<&Clock> {
        match *self {}
    }

    /// Cannot be called.
    pub(crate) fn start(&self, _: Prepared, _: &ShownEvents) -> Result<RunHandle, (Exit, String)> {
        match *self {}
    }
}
