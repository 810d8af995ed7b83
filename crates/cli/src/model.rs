//! `busyhour model`: solves, simulates, fits and compares capacity models.

mod compare;
mod export;
mod fit;
mod measurements;
mod simulate;
mod solve;
mod what_if;
mod what_if_page;

use std::path::Path;

use busyhour_capacity::{ModelFile, ModelFileError};
use busyhour_diagnostic::Diagnostic;
use busyhour_queueing::network::QueueingNetwork;
use clap::{Args, Subcommand};

use crate::exit::{Exit, complain, print, say};

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    verb: ModelVerb,
}

#[derive(Debug, Subcommand)]
enum ModelVerb {
    /// Compute throughput, response time, utilization and queue lengths of a model, exactly if possible.
    Solve(solve::SolveArgs),
    /// Simulate a model with any discipline, routing strategy and law; results have confidence intervals.
    Simulate(simulate::SimulateArgs),
    /// Solve or simulate a model for several values of its parameters.
    WhatIf(what_if::WhatIfArgs),
    /// Fit a model to measurements at several loads, after checking them against operational laws.
    Fit(fit::FitArgs),
    /// Compare the predictions of a model with measurements that were not used to fit it.
    Compare(compare::CompareModelArgs),
    /// Convert a model to the format of another program.
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

/// Reads a model and prints notes about its conversion. Prints errors and returns the exit code.
fn read_model(path: &Path) -> Result<ModelFile, Exit> {
    match ModelFile::read(path) {
        Ok(model) => {
            say_all(&model.notes);
            Ok(model)
        }
        Err(ModelFileError::Invalid(findings)) => {
            say_all(&findings);
            Err(Exit::Refused)
        }
        Err(error @ ModelFileError::Unreadable { .. }) => Err(complain(Exit::Refused, &error.to_string())),
    }
}

fn say_all(findings: &[Diagnostic]) {
    findings.iter().for_each(|finding| say(&finding.to_string()));
}
