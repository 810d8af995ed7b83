//! `busyhour cluster` and `--on` in a program that was built without the feature `cluster`. The verb only prints an error message.

use busyhour_launch::{Prepared, RunHandle};
use clap::Args;

use crate::command_error::CommandError;
use crate::events::ShownEvents;
use crate::exit::Exit;
use crate::missing::{MissingArgs, complain_of_verb};

pub(crate) type ClusterArgs = MissingArgs;

/// The options of runs on agents, of which this program has none.
#[derive(Debug, Default, Args)]
pub(crate) struct OnArgs {}

/// The agents of a run; there are none in this program.
#[derive(Clone, Debug)]
pub(crate) enum AgentsOfRun {}

impl OnArgs {
    /// No agents.
    #[allow(clippy::unnecessary_wraps, reason = "the signature of the complete program")]
    pub(crate) fn settings(&self) -> Result<Option<AgentsOfRun>, CommandError> {
        Ok(None)
    }
}

impl AgentsOfRun {
    /// Cannot be called.
    pub(crate) fn start(&self, _: Prepared, _: &ShownEvents) -> Result<RunHandle, (Exit, String)> {
        match *self {}
    }
}

/// Runs the verb.
pub(crate) fn main(_args: &MissingArgs) -> Exit {
    complain_of_verb("cluster", "runs on several machines", "cluster")
}
