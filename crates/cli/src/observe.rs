//! `busyhour observe`: analyses data of the system under test.

mod gc;
mod gc_files;
mod gc_text;

use clap::{Args, Subcommand};

use crate::exit::Exit;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour observe gc gc.log\n  \
    busyhour observe gc gc.log* -o gc.html\n  \
    busyhour observe gc before.log -- after.log")]
pub(crate) struct ObserveArgs {
    #[command(subcommand)]
    verb: ObserveVerb,
}

#[derive(Debug, Subcommand)]
enum ObserveVerb {
    /// Summarise a garbage-collection log, or compare two.
    Gc(gc::GcArgs),
}

/// Runs the verb.
pub(crate) fn main(args: &ObserveArgs) -> Exit {
    match &args.verb {
        ObserveVerb::Gc(gc) => gc::main(gc),
    }
}
