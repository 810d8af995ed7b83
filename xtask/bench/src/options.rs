//! Options that several benches have.

use std::path::PathBuf;

use anyhow::Result;
use xtask_common::project;

/// The program under measurement.
#[derive(Debug, clap::Args)]
pub struct Program {
    /// Program to measure; without it, this checkout is built
    #[arg(long, value_name = "PATH")]
    busyhour: Option<PathBuf>,
    /// Profile to build with; `dev` only shows that the bench works
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
}

impl Program {
    /// The program, built if the options name none.
    ///
    /// # Errors
    /// Fails when it does not exist or cannot be built.
    pub fn obtain(&self) -> Result<PathBuf> {
        project::busyhour(self.busyhour.as_deref(), &self.profile)
    }

    /// Whether the options name the program.
    pub fn is_given(&self) -> bool {
        self.busyhour.is_some()
    }

    /// Another program of this checkout, built with the same profile.
    ///
    /// # Errors
    /// Fails when it cannot be built.
    pub fn build(&self, what: &[&str], program: &str) -> Result<PathBuf> {
        project::build(&self.profile, what, program)
    }
}

/// Options read from a line of words, for tests.
#[cfg(test)]
pub fn parse<T: clap::Args>(line: &str) -> Result<T, clap::Error> {
    let command = T::augment_args(clap::Command::new("bench"));
    let words = std::iter::once("bench").chain(line.split_whitespace());
    T::from_arg_matches(&command.try_get_matches_from(words)?)
}
