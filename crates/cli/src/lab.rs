//! `busyhour demo` and `busyhour lab`: servers to test, and neighbours. Without the feature `demo`, `lab_missing.rs` replaces this
//! module.

mod args;
mod backend_notation;
mod broker;
mod cells;
mod demo;
mod demo_cells;
mod demo_cells_args;
#[cfg_attr(not(target_os = "linux"), path = "lab/neighbour_missing.rs")]
mod neighbour;
mod neighbour_args;
#[cfg(target_os = "linux")]
mod neighbour_text;
mod probe;
mod quantities;
mod server_end;

pub(crate) use args::{DemoArgs, LabArgs, ServerArgs};
pub(crate) use demo::{demo, server};

use busyhour_terminal::exit::Exit;
use clap::Command;

use args::LabVerb;

/// Runs `busyhour lab`.
pub(crate) fn main(args: &LabArgs) -> Exit {
    match &args.verb {
        LabVerb::Server(server) => demo::server(server),
        LabVerb::Neighbour(neighbour) => neighbour::main(neighbour),
    }
}

/// Makes the old form of `lab server` accept times without a unit.
pub(crate) fn with_bare_times(server: Command) -> Command {
    server
        .mut_arg("stall", |arg| arg.value_parser(quantities::stall_in_seconds))
        .mut_arg("delay", |arg| arg.value_parser(quantities::duration_in_seconds))
}
