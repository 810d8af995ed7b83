//! `cargo xtask conformance`: records the plans in `conformance/cases` with Apache JMeter, and runs larger comparisons
//! of Busyhour with JMeter.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool that prints its results")]

mod corpus;
mod jmeter_plugins;
mod launch;
mod new_case;
mod peer;
mod record;
mod ticket;
mod workers;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;
use record::{Purpose, Selection};

const EXAMPLES: &str = "\
Examples:
  cargo xtask conformance record --group controllers
  cargo xtask conformance verify loop-
  cargo xtask conformance corpus --list petclinic";

/// Record the behaviour of JMeter 5.6.3, and compare Busyhour with it (see conformance/README.md)
#[derive(Debug, clap::Parser)]
#[command(name = "conformance", bin_name = "cargo xtask conformance", after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Create a case and record it
    NewCase(new_case::Options),
    /// Run cases in JMeter and write their recordings
    Record(Selection),
    /// Run cases in JMeter again and compare with their recordings
    Verify(Selection),
    /// Check which public plans are supported, and what the others require
    Corpus(corpus::Options),
    /// Run the ticket workload in JMeter and in Busyhour, and compare
    Ticket(ticket::Options),
    /// Run JMeter's own batch tests in Busyhour, and compare the files they write
    Peer(peer::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<()> {
    let cases = xtask_common::project::root().join("conformance/cases");
    match verb {
        Verb::NewCase(options) => new_case::run(&cases, &options),
        Verb::Record(selection) => record::run(selection.cases(&cases)?, Purpose::Record),
        Verb::Verify(selection) => record::run(selection.cases(&cases)?, Purpose::Verify),
        Verb::Corpus(options) => corpus::run(&options),
        Verb::Ticket(options) => ticket::run(&options),
        Verb::Peer(options) => peer::run(&options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
