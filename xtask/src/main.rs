//! Tasks of the project: `cargo xtask tidy`, `cargo xtask test`, `cargo xtask conformance`, `cargo xtask bench`.
//!
//! Only the checks are part of this program. The other tools are separate crates that are built when they are used,
//! because they have many more dependencies.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool that prints its results")]

mod test_programs;
mod tidy;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;
use xtask_common::project;

const EXAMPLES: &str = "\
Examples:
  cargo xtask tidy
  cargo xtask test
  cargo xtask conformance record loop-
  cargo xtask conformance new-case --help
  cargo xtask bench http --only throughput";

/// Tasks of the project
#[derive(Debug, clap::Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Check the rules of the code: layers, import cycles, lengths, banned calls, licences
    Tidy(tidy::Options),
    /// Run all tests, several test programs at the same time
    Test,
    /// Write the list of known differences of conformance cases into docs/jmeter-differences.md
    Differences,
    /// Write the drawing of the layers of crates into ARCHITECTURE.md
    Layers,
    /// Record the behaviour of JMeter, and compare Busyhour with it
    #[command(disable_help_flag = true)]
    Conformance(ToolArguments),
    /// Measure Busyhour and other load generators
    #[command(disable_help_flag = true)]
    Bench(ToolArguments),
}

/// The arguments of a tool in a separate crate.
#[derive(Debug, clap::Args)]
struct ToolArguments {
    /// Arguments of the tool; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Tidy(options) => tidy::run(&options).map(|()| ExitCode::SUCCESS),
        Task::Test => test_programs::run().map(|()| ExitCode::SUCCESS),
        Task::Differences => tidy::differences::write(&project::root()).map(|()| ExitCode::SUCCESS),
        Task::Layers => tidy::layers_page::write(&project::root()).map(|()| ExitCode::SUCCESS),
        Task::Conformance(arguments) => run_tool("xtask-conformance", &arguments),
        Task::Bench(arguments) => run_tool("xtask-bench", &arguments),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Builds and runs the tool in `package`; returns its exit code.
fn run_tool(package: &str, arguments: &ToolArguments) -> Result<ExitCode> {
    let manifest = project::root().join("Cargo.toml");
    let status = project::cargo()
        .args(["run", "--quiet", "--package", package, "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(&arguments.arguments)
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_of_tools_are_passed_on_unchanged() {
        let words = |line: &str| match Arguments::parse_from(line.split(' ')).task {
            Task::Bench(arguments) | Task::Conformance(arguments) => arguments.arguments,
            _ => Vec::new(),
        };
        assert_eq!(words("xtask bench http --only users"), ["http", "--only", "users"]);
        assert_eq!(words("xtask conformance --help"), ["--help"]);
        assert_eq!(words("xtask conformance record -h"), ["record", "-h"]);
    }
}
