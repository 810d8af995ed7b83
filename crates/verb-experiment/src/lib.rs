//! `busyhour experiment`: executes an experiment, and reports its results.

mod args;
mod checks;
mod confirm;
mod confirm_args;
mod dry_run;
mod file;
mod keep;
mod progress;
mod recorded_command;
mod report;
mod restore;
mod run;
mod shipped;
mod shown_args;

use busyhour_experiment::Experiment;
use busyhour_terminal::exit::{Exit, print};

pub use args::ExperimentArgs;
pub use checks::TrialProgram;
pub use recorded_command::RecordedCommand;

use args::ExperimentVerb;

/// Runs the verb. `program` is the one that executes the runs of trials: this one.
pub fn main(args: ExperimentArgs, program: TrialProgram) -> Exit {
    match args.verb {
        ExperimentVerb::List => shipped::list(),
        ExperimentVerb::Copy(args) => shipped::copy(&args),
        ExperimentVerb::Run(args) => run::main(&args, program),
        ExperimentVerb::Confirm(args) => confirm::main(*args, program),
        ExperimentVerb::Report(args) => report::main(&args),
        ExperimentVerb::Restore(args) => restore::main(&args),
        ExperimentVerb::Schema => {
            print(&schema());
            Exit::Completed
        }
        ExperimentVerb::Keep(args) => keep::main(&args),
    }
}

/// The JSON schema of the file of an experiment.
pub fn schema() -> String {
    format!("{:#}\n", Experiment::schema())
}
