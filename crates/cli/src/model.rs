//! `busyhour model`: capacity models in files, and what follows from them.

mod answers;
mod compare;
mod export;
mod file;
mod fit;
mod measurements;
mod numbers;
mod points_file;
mod probes;
mod simulate;
mod solve;
mod vary;
mod what_if;
mod what_if_page;
mod what_if_points;

use busyhour_queueing::network::QueueingNetwork;
use clap::{Args, Subcommand};

use crate::exit::{Exit, print};

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    verb: ModelVerb,
}

#[derive(Debug, Subcommand)]
enum ModelVerb {
    /// Solve a model: throughput, response time, utilization and queues, exactly where that can be done.
    Solve(solve::SolveArgs),
    /// Simulate a model: any scheduling, strategy and law, with intervals.
    Simulate(simulate::SimulateArgs),
    /// Solve a model again and again while parameters vary.
    WhatIf(what_if::WhatIfArgs),
    /// Fit a model to measurements at several loads, and check the laws that every system keeps.
    Fit(fit::FitArgs),
    /// Hold a model against measurements that it has not seen.
    Compare(compare::CompareModelArgs),
    /// Write a model for another program.
    Export(export::ExportModelArgs),
    /// Show the JSON schema of model files.
    Schema,
}

pub(crate) fn main(args: &ModelArgs) -> Exit {
    match &args.verb {
        ModelVerb::Solve(args) => solve::main(args),
        ModelVerb::Simulate(args) => simulate::main(args),
        ModelVerb::WhatIf(args) => what_if::main(args),
        ModelVerb::Fit(args) => fit::main(args),
        ModelVerb::Compare(args) => compare::main(args),
        ModelVerb::Export(args) => export::main(args),
        ModelVerb::Schema => {
            print(&format!("{:#}\n", QueueingNetwork::schema()));
            Exit::Completed
        }
    }
}
