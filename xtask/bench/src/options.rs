//! Options of several benches.

use std::path::PathBuf;

use anyhow::Result;
use xtask_common::project;

/// The measured program.
#[derive(Debug, clap::Args)]
pub struct Program {
    /// Program to measure; without it, this checkout is built
    #[arg(long, value_name = "PATH")]
    busyhour: Option<PathBuf>,
    /// Profile to build with; `dev` only shows that the bench works
    #[arg(long, value_name = "NAME", default_value = "dist")]
    profile: String,
}

impl Program {
    /// The program; it is built if the options do not contain one.
    ///
    /// # Errors
    /// The program does not exist or cannot be built.
    pub fn obtain(&self) -> Result<PathBuf> {
        project::busyhour(self.busyhour.as_deref(), &self.profile)
    }

    /// Whether the options contain the program.
    pub fn is_given(&self) -> bool {
        self.busyhour.is_some()
    }

    /// Builds another program of this checkout with the same profile.
    ///
    /// # Errors
    /// The program cannot be built.
    pub fn build(&self, selection: &[&str], program: &str) -> Result<PathBuf> {
        project::build(&self.profile, selection, program)
    }
}

/// Parses options from a line, for tests.
#[cfg(test)]
pub fn parse<T: clap::Args>(line: &str) -> Result<T, clap::Error> {
    let command = T::augment_args(clap::Command::new("bench"));
    let words = std::iter::once("bench").chain(line.split_whitespace());
    T::from_arg_matches(&command.try_get_matches_from(words)?)
}
