//! `busyhour experiment keep`: the process that starts and ends the commands of an experiment.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use busyhour_diagnostic::io_hints::chain;
use busyhour_terminal::exit::{Exit, complain};
use busyhour_trials::{KeepRequest, keep};
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct KeepArgs {
    /// File to which the output of the command is appended.
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// Time between SIGTERM and SIGKILL in ms.
    #[arg(long, value_name = "MS", default_value_t = 2_000)]
    grace_ms: u64,
    /// Cores of the command.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cores: Vec<u32>,
    /// Descendants may outlive the command.
    #[arg(long)]
    lingers: bool,
    /// The command starts only when the byte `g` is on standard input.
    #[arg(long)]
    waits: bool,
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the verb.
pub(super) fn main(args: &KeepArgs) -> Exit {
    let request = KeepRequest {
        cores: args.cores.clone(),
        log: args.log.clone(),
        grace: Duration::from_millis(args.grace_ms),
        lingers: args.lingers,
        waits: args.waits,
        command: args.command.clone(),
    };
    // The experiment may have ended, so that nobody reads the reports.
    let mut report = |line: String| {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    };
    match keep(&request, &mut report) {
        Ok(()) => Exit::Completed,
        Err(error) => complain(Exit::Internal, &chain(&error)),
    }
}
