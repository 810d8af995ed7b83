//! `busyhour demo` and `busyhour lab` in a program that was built without the feature `demo`. They only print an error
//! message.

use busyhour_terminal::exit::Exit;
use clap::Command;

use crate::missing::{MissingArgs, complain_of_verb};

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
    complain_of_verb(verb, "the servers to test", "demo")
}

/// Returns the command unchanged, because it has no options with times.
pub(crate) fn with_bare_times(server: Command) -> Command {
    server
}
