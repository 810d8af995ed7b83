//! `busyhour cluster attach`: takes over a run whose controller has ended.

use busyhour_cluster::{AbandonedRun, Invitation};
use busyhour_terminal::exit::{Exit, complain, note};

use super::args::AttachArgs;
use crate::agents::AgentsOfRun;
use crate::agents::failure::failure;
use crate::observing::RunObservation;
use crate::run;
use crate::run_command::RunCommand;

/// Runs the verb.
pub(super) fn main(args: &AttachArgs) -> Exit {
    let opened = Invitation::for_controller(&args.on).and_then(|invitation| {
        let run = AbandonedRun::open(&args.dir)?;
        run.clear()?;
        Ok((invitation, run))
    });
    match opened {
        Ok((invitation, abandoned)) => take_over(abandoned, invitation),
        Err(error) => {
            let (exit, message) = failure(&error);
            complain(exit, &message)
        }
    }
}

/// Follows the run to its end. Outputs and the observation of the first controller are unknown here.
fn take_over(abandoned: AbandonedRun, invitation: Invitation) -> Exit {
    let observation = match RunObservation::of_list("none") {
        Ok(observation) => observation,
        Err(error) => return complain(Exit::Internal, &error),
    };
    note(&format!(
        "not continued: the observation of the system under test, exports, the live page, and files of -o, which \
         `busyhour report {} -o FILE` writes afterwards",
        abandoned.request().dir.as_deref().unwrap_or_else(|| "DIR".as_ref()).display()
    ));
    run::main(&RunCommand {
        run: abandoned.request().clone(),
        agents: Some(AgentsOfRun::attach(abandoned, invitation)),
        observation,
        ..RunCommand::default()
    })
}
