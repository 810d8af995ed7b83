//! `busyhour cluster attach`: takes over a run whose controller has ended.

use busyhour_cluster::{AbandonedRun, Invitation};
use busyhour_terminal::exit::{Exit, complain};

use super::args::AttachArgs;
use crate::agents::AgentsOfRun;
use crate::agents::failure::failure;
use crate::run;
use crate::run_command::RunCommand;

/// Runs the verb.
pub(super) fn main(args: &AttachArgs) -> Exit {
    let opened = Invitation::read(&args.on).and_then(|invitation| {
        let run = AbandonedRun::open(&args.dir)?;
        run.clear()?;
        Ok((invitation, run))
    });
    match opened {
        Ok((invitation, abandoned)) => run::main(&RunCommand {
            run: abandoned.request().clone(),
            agents: Some(AgentsOfRun::attach(abandoned, invitation)),
            ..RunCommand::default()
        }),
        Err(error) => {
            let (exit, message) = failure(&error);
            complain(exit, &message)
        }
    }
}
