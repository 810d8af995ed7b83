//! The `busyhour` command. Only this crate, `terminal` and the crates of verbs print, exit, and read arguments
//! and the environment.

#[cfg_attr(not(feature = "cluster"), path = "agents_missing.rs")]
mod agents;
mod args;
mod arrivals;
mod check;
#[cfg_attr(not(feature = "cluster"), path = "cluster_missing.rs")]
mod cluster;
mod compare;
mod config;
mod events;
mod export;
mod export_series;
mod export_stacks;
mod headings;
mod jmeter_args;
mod judge;
#[cfg_attr(not(feature = "demo"), path = "lab_missing.rs")]
mod lab;
mod live;
mod load_args;
#[cfg(not(all(feature = "cluster", feature = "demo", feature = "observe")))]
mod missing;
#[cfg(not(feature = "observe"))]
mod observe_missing;
#[cfg_attr(not(feature = "observe"), path = "observed_missing.rs")]
mod observed;
#[cfg_attr(not(feature = "observe"), path = "observing_missing.rs")]
mod observing;
mod old_names;
mod own_args;
mod percentiles;
#[cfg_attr(not(feature = "observe"), path = "perfmon_missing.rs")]
mod perfmon;
mod progress;
mod recorded_command;
mod report;
mod report_links;
mod run;
mod run_check;
mod run_command;
mod send_urls;
mod server_log;
mod stop_port;
mod stop_signals;
mod terminal_view;
mod trend;
mod usage;
mod verbs;
mod watching;

use std::ffi::OsString;
use std::process::ExitCode;

use busyhour_terminal::console;
use busyhour_terminal::exit::{self, Exit, Verbosity};
use busyhour_verb_experiment::TrialProgram;
#[cfg(feature = "observe")]
use busyhour_verb_observe as observe;
use clap::FromArgMatches as _;

#[cfg(not(feature = "observe"))]
use crate::observe_missing as observe;
use crate::verbs::{AnyVerb, Cli, OldVerb, Verb};

/// The allocator of musl needs three times the CPU time, and more if several threads allocate at the same time.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Environment variable: number of steps after which a slice of a long evaluation ends, instead of after a time.
const SLICE_STEPS: &str = "BUSYHOUR_SLICE_STEPS";

/// This program, as the one that executes the runs of trials.
const TRIAL_PROGRAM: TrialProgram = TrialProgram {
    check_run: run_check::check,
    read_run: recorded_command::parse,
    has_neighbours: cfg!(all(feature = "demo", target_os = "linux")),
};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(steps) = std::env::var_os(SLICE_STEPS) {
        // For tests: with short slices, tests find borrows and counters that are not correct after a suspension.
        busyhour_slices::suspend_every(steps.to_str().and_then(|steps| steps.parse().ok()).unwrap_or(0));
    }
    let exit = if let Some(exit) = usage::refuse_options_before_verb(&arguments) {
        exit
    } else if jmeter_args::is_jmeter_style(&arguments) {
        jmeter_args::main(&arguments)
    } else {
        let arguments = old_names::with_json_files(arguments);
        match parsed(&arguments) {
            Ok(cli) => {
                exit::set_verbosity(match (cli.quiet, cli.verbose) {
                    (true, _) => Verbosity::Quiet,
                    (false, true) => Verbosity::Verbose,
                    (false, false) => Verbosity::Normal,
                });
                old_names::advise(&arguments);
                match cli.verb {
                    AnyVerb::Shown(verb) => dispatch(verb),
                    AnyVerb::Old(verb) => dispatch_old(verb),
                }
            }
            Err(error) => usage::explain(error, &arguments),
        }
    };
    // Messages that were printed after the end of a run may still be in the queue.
    console::drain(|| true);
    exit.into()
}

fn parsed(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = verbs::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn dispatch(verb: Verb) -> Exit {
    match verb {
        Verb::Run(run) => match run.into_command() {
            Ok(command) => run::main(&command),
            Err(message) => exit::complain(Exit::Usage, &message),
        },
        Verb::Check(check) => check::main(&check),
        Verb::Demo(demo) => lab::demo(&demo),
        Verb::Report(report) => report::main(report),
        Verb::Compare(compare) => compare::main(compare),
        Verb::Export(export) => export::main(&export),
        Verb::Capacity(capacity) => busyhour_verb_capacity::main(&capacity, run_check::check),
        Verb::Observe(observe) => observe::main(&observe),
        Verb::Experiment(experiment) => busyhour_verb_experiment::main(experiment, TRIAL_PROGRAM),
        Verb::Cluster(cluster) => cluster::main(&cluster),
        Verb::Lab(lab) => lab::main(&lab),
        Verb::Doctor(doctor) => observe::doctor::main(&doctor),
        Verb::Config(config) => config::main(&config, verbs::shown_command()),
    }
}

fn dispatch_old(verb: OldVerb) -> Exit {
    match verb {
        OldVerb::Judge(judge) => judge::main(judge),
        OldVerb::Trend(trend) => trend::main(&trend),
        OldVerb::Arrivals(arrivals) => arrivals::main(&arrivals),
        OldVerb::PlanLoad(plan) => busyhour_verb_capacity::plan_load(&plan),
        OldVerb::Users(users) => busyhour_verb_capacity::real_users(&users),
        OldVerb::Model(model) => busyhour_verb_capacity::model(&model),
        OldVerb::DemoServer(server) => lab::server(&server),
    }
}
