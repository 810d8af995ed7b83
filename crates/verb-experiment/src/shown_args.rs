//! How the result of an experiment is shown.

use std::path::PathBuf;

use clap::Args;

/// How the result is shown.
#[derive(Debug, Args)]
pub(super) struct ShownArgs {
    /// Print the report as JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Write the report (.html, .json) or the trials (.csv); may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}
