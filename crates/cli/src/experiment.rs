//! `busyhour experiment`: executes an experiment, and reports its results.

mod args;
mod checks;
mod confirm;
mod confirm_args;
mod dry_run;
mod file;
mod keep;
mod progress;
mod report;
mod restore;
mod run;
mod shipped;
mod shown_args;

use busyhour_experiment::Experiment;
use busyhour_terminal::exit::{Exit, print};

pub(crate) use args::ExperimentArgs;

use args::ExperimentVerb;

/// Runs the verb.
pub(crate) fn main(args: ExperimentArgs) -> Exit {
    match args.verb {
        ExperimentVerb::List => shipped::list(),
        ExperimentVerb::Copy(args) => shipped::copy(&args),
        ExperimentVerb::Run(args) => run::main(&args),
        ExperimentVerb::Confirm(args) => confirm::main(*args),
        ExperimentVerb::Report(args) => report::main(&args),
        ExperimentVerb::Restore(args) => restore::main(&args),
        ExperimentVerb::Schema => {
            print(&format!("{:#}\n", Experiment::schema()));
            Exit::Completed
        }
        ExperimentVerb::Keep(args) => keep::main(&args),
    }
}
