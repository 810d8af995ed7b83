//! `busyhour demo` and `busyhour lab` in a program that was built without the feature `demo`. They only print an error
//! message.

use std::ffi::OsString;

use clap::{Args, Command};

use crate::exit::{Exit, complain, hinted};

/// The command line of a verb that is not in this program.
#[derive(Debug, Args)]
pub(crate) struct MissingArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) type DemoArgs = MissingArgs;
pub(crate) type LabArgs = MissingArgs;
pub(crate) type ServerArgs = MissingArgs;

/// Runs `busyhour demo`.
pub(crate) fn demo(_args: &MissingArgs) -> Exit {
    missing("demo")
}

/// Runs `busyhour lab`.
pub(crate) fn main(_args: &MissingArgs) -> Exit {
    missing("lab")
}

/// Runs `busyhour lab server`.
pub(crate) fn server(_args: &MissingArgs) -> Exit {
    missing("lab server")
}

fn missing(verb: &str) -> Exit {
    let message =
        format!("this program was built without the servers to test, so it has no `busyhour {verb}`");
    complain(
        Exit::Usage,
        &hinted(message, "build it with the feature demo: cargo build --release --features demo"),
    )
}

/// Returns the command unchanged, because it has no options with times.
pub(crate) fn with_bare_times(server: Command) -> Command {
    server
}
