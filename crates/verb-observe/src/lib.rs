//! `busyhour observe`: watches a system under test, and analyses its logs. `busyhour doctor`: the sources that can be watched
//! on this machine.

pub mod doctor;
mod gc;
mod gc_files;
mod gc_text;
mod leak;
mod leak_text;
mod logs;
mod logs_files;
mod logs_text;
mod logs_window;
mod mark;
mod serve;
pub mod source_options;
mod watch;

use busyhour_terminal::exit::{Exit, complain};
use clap::{Args, Subcommand};

/// Sources to watch or to serve, or a verb on logs.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A run observes its system by itself: busyhour run --observe SOURCES.\n\n\
    Examples:\n  busyhour observe --pid 4711 --for 60s --dir watch\n  \
    busyhour observe --sources os,jvm:shop,log:server.log --for 10min\n  \
    busyhour observe mark 'deployed 1.4'\n  \
    busyhour observe --serve 0.0.0.0:9464 --token-file token\n  \
    busyhour observe gc gc.log* -o gc.html\n  \
    busyhour observe gc before.log -- after.log\n  \
    busyhour observe logs server.log --baseline quiet.log\n  \
    busyhour observe leak --jvm 4711 --plan shop.jmx"
)]
pub struct ObserveArgs {
    #[command(subcommand)]
    verb: Option<ObserveVerb>,
    #[command(flatten)]
    watch: watch::WatchArgs,
    #[command(flatten)]
    serve: serve::ServeArgs,
}

#[derive(Debug, Subcommand)]
enum ObserveVerb {
    /// Summarise a garbage-collection log, or compare two.
    Gc(gc::GcArgs),
    /// Search for memory leaks in rounds of load, or in a recorded run.
    Leak(leak::LeakArgs),
    /// Summarise the problems in a log, or compare it with one of a clean run.
    Logs(logs::LogsArgs),
    /// Add a mark to the run that is in progress.
    Mark(mark::MarkArgs),
}

/// Runs the verb.
pub fn main(args: &ObserveArgs) -> Exit {
    match (&args.verb, &args.serve.serve) {
        (Some(ObserveVerb::Gc(gc)), _) => gc::main(gc),
        (Some(ObserveVerb::Leak(leak)), _) => leak::main(leak),
        (Some(ObserveVerb::Logs(logs)), _) => logs::main(logs),
        (Some(ObserveVerb::Mark(mark)), _) => mark::main(mark),
        (None, Some(address)) => serve::main(&args.serve, &args.watch, address),
        (None, None) if args.watch.has_sources() => watch::main(&args.watch),
        (None, None) => complain(
            Exit::Usage,
            "no source to observe is given\n  hint: busyhour observe --pid PID, --target HOST:PORT or --sources LIST; \
             --serve serves this machine; see busyhour observe --help",
        ),
    }
}
