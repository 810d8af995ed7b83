//! `busyhour capacity`: fits, solves, simulates, varies and verifies capacity models, plans loads, and finds the
//! largest load.

mod convert;
mod find;
mod find_args;
mod find_progress;
mod fit;
mod measurements;
mod model_input;
mod plan;
mod simulate;
mod solve;
mod users;
mod verify;
mod what_if;
mod what_if_page;

use busyhour_queueing::network::QueueingNetwork;
use busyhour_terminal::command_error::CommandLineCheck;
use busyhour_terminal::exit::{Exit, print};
use clap::{Args, Subcommand};

pub use self::plan::PlanArgs;
pub use self::users::UsersArgs;

/// Models and measurements of the capacity of a system.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  busyhour capacity fit runs/users-20 runs/users-60 runs/users-100 -o model.toml\n  \
    busyhour capacity what-if model.toml --vary class.users.users=10..99:10\n  \
    busyhour capacity solve model.toml\n  \
    busyhour capacity verify model.toml runs/users-160\n  \
    busyhour capacity plan --rate 20/s --response 50ms\n  \
    busyhour capacity find shop.jmx --users 10..2000 --threshold 'p95 < 1s'"
)]
pub struct CapacityArgs {
    #[command(subcommand)]
    verb: CapacityVerb,
}

#[derive(Debug, Subcommand)]
enum CapacityVerb {
    /// Fit a model to measurements at several loads, after checking them against operational laws.
    Fit(fit::FitArgs),
    /// Solve or simulate a model for several values of its parameters.
    WhatIf(what_if::WhatIfArgs),
    /// Compute throughput, response time, utilization and queue lengths of a model, exactly if possible.
    Solve(solve::SolveArgs),
    /// Simulate a model with any discipline, routing strategy and law; results have confidence intervals.
    Simulate(simulate::SimulateArgs),
    /// Compare the predictions of a model with measurements that were not used to fit it.
    Verify(verify::VerifyArgs),
    /// Convert a model to the format of another program.
    Convert(convert::ConvertArgs),
    /// Estimate how many real web users a measured load corresponds to.
    Users(UsersArgs),
    /// Find numbers of users and think times for a request rate.
    Plan(PlanArgs),
    /// Find the largest load that meets the thresholds, by trials.
    Find(find_args::FindArgs),
}

/// The verbs of `busyhour model`, the old name of `busyhour capacity`.
#[derive(Debug, Args)]
pub struct ModelArgs {
    #[command(subcommand)]
    verb: ModelVerb,
}

#[derive(Debug, Subcommand)]
enum ModelVerb {
    /// Compute the mean values of a model.
    Solve(solve::SolveArgs),
    /// Simulate a model.
    Simulate(simulate::SimulateArgs),
    /// Solve or simulate a model for several values of its parameters.
    WhatIf(what_if::WhatIfArgs),
    /// Fit a model to measurements.
    Fit(fit::FitArgs),
    /// Compare a model with measurements.
    Compare(verify::VerifyArgs),
    /// Convert a model.
    Export(convert::ConvertArgs),
    /// Print the JSON schema of model files.
    Schema,
}

/// Runs the verb. `check_run` checks the command line of a run, which begins with the word `run`, without executing it.
pub fn main(args: &CapacityArgs, check_run: CommandLineCheck) -> Exit {
    match &args.verb {
        CapacityVerb::Fit(args) => fit::main(args),
        CapacityVerb::WhatIf(args) => what_if::main(args),
        CapacityVerb::Solve(args) => solve::main(args),
        CapacityVerb::Simulate(args) => simulate::main(args),
        CapacityVerb::Verify(args) => verify::main(args),
        CapacityVerb::Convert(args) => convert::main(args),
        CapacityVerb::Users(args) => users::main(args),
        CapacityVerb::Plan(args) => plan::main(args),
        CapacityVerb::Find(args) => find::main(args, check_run),
    }
}

/// Runs a verb of `busyhour model`.
pub fn model(args: &ModelArgs) -> Exit {
    match &args.verb {
        ModelVerb::Solve(args) => solve::main(args),
        ModelVerb::Simulate(args) => simulate::main(args),
        ModelVerb::WhatIf(args) => what_if::main(args),
        ModelVerb::Fit(args) => fit::main(args),
        ModelVerb::Compare(args) => verify::main(args),
        ModelVerb::Export(args) => convert::main(args),
        ModelVerb::Schema => {
            print(&schema());
            Exit::Completed
        }
    }
}

/// Runs `busyhour plan-load`, the old name of `busyhour capacity plan`.
pub fn plan_load(args: &PlanArgs) -> Exit {
    plan::main(args)
}

/// Runs `busyhour users`, the old name of `busyhour capacity users`.
pub fn real_users(args: &UsersArgs) -> Exit {
    users::main(args)
}

/// The JSON schema of model files.
pub fn schema() -> String {
    format!("{:#}\n", QueueingNetwork::schema())
}
