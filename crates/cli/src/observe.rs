//! `busyhour observe`: watches the system under test and analyses its data.

mod gc;
mod gc_files;
mod gc_log;
mod gc_text;
mod serve;

use clap::{Args, Subcommand};

use crate::exit::{Exit, complain};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  busyhour observe --serve\n  \
    busyhour observe --serve 0.0.0.0:9464 --token-file token --tls-cert cert.pem --tls-key key.pem\n  \
    busyhour observe --serve 0.0.0.0:9464 --perfmon 4444 --serve-remote\n  \
    busyhour observe gc gc.log\n  \
    busyhour observe gc gc.log* -o gc.csv --json\n  \
    busyhour observe gc before.log -- after.log"
)]
pub(crate) struct ObserveArgs {
    #[command(subcommand)]
    verb: Option<ObserveVerb>,
    #[command(flatten)]
    serve: serve::ServeArgs,
}

#[derive(Debug, Subcommand)]
enum ObserveVerb {
    /// Summarise a garbage-collection log, or compare two.
    Gc(gc::GcArgs),
}

/// Runs the verb.
pub(crate) fn main(args: &ObserveArgs) -> Exit {
    match (&args.verb, &args.serve.serve) {
        (Some(ObserveVerb::Gc(gc)), _) => gc::main(gc),
        (None, Some(address)) => serve::main(&args.serve, address),
        (None, None) => {
            complain(Exit::Usage, "observe what? Give --serve or a verb (busyhour observe --help)")
        }
    }
}
