//! The `busyhour` command. Only this crate prints, exits, and reads arguments and the environment.

#[cfg_attr(not(feature = "cluster"), path = "agents_missing.rs")]
mod agents;
mod args;
mod arrivals;
mod capacity;
mod check;
#[cfg_attr(not(feature = "cluster"), path = "cluster_missing.rs")]
mod cluster;
mod columns;
mod command_error;
mod compare;
mod config;
mod console;
#[cfg_attr(not(feature = "observe"), path = "doctor_missing.rs")]
mod doctor;
mod events;
mod exit;
mod experiment;
mod export;
mod export_series;
mod export_stacks;
mod headings;
mod inputs;
mod jmeter_args;
mod judge;
#[cfg_attr(not(feature = "demo"), path = "lab_missing.rs")]
mod lab;
mod live;
mod load_args;
#[cfg(not(all(feature = "cluster", feature = "demo", feature = "observe")))]
mod missing;
#[cfg_attr(not(feature = "observe"), path = "observe_missing.rs")]
mod observe;
#[cfg_attr(not(feature = "observe"), path = "observed_missing.rs")]
mod observed;
mod observed_dir;
#[cfg_attr(not(feature = "observe"), path = "observing_missing.rs")]
mod observing;
mod old_names;
mod output;
mod outputs;
mod own_args;
mod percentiles;
#[cfg_attr(not(feature = "observe"), path = "perfmon_missing.rs")]
mod perfmon;
mod progress;
mod properties;
mod quantities;
mod reading;
mod recorded_command;
mod report;
mod results_args;
mod results_options;
mod run;
mod run_check;
mod run_command;
mod run_paths;
mod send_urls;
mod server_log;
mod stop_port;
mod stop_signals;
mod terminal_view;
mod thresholds;
mod trend;
mod usage;
mod verbs;
mod watching;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::exit::{Exit, Verbosity};
use crate::verbs::{AnyVerb, Cli, OldVerb, Verb};

/// The allocator of musl needs three times the CPU time, and more if several threads allocate at the same time.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Environment variable: number of steps after which a slice of a long evaluation ends, instead of after a time.
const SLICE_STEPS: &str = "BUSYHOUR_SLICE_STEPS";

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
        Verb::Capacity(capacity) => capacity::main(&capacity),
        Verb::Observe(observe) => observe::main(&observe),
        Verb::Experiment(experiment) => experiment::main(experiment),
        Verb::Cluster(cluster) => cluster::main(&cluster),
        Verb::Lab(lab) => lab::main(&lab),
        Verb::Doctor(doctor) => doctor::main(&doctor),
        Verb::Config(config) => config::main(&config, verbs::shown_command()),
    }
}

fn dispatch_old(verb: OldVerb) -> Exit {
    match verb {
        OldVerb::Judge(judge) => judge::main(judge),
        OldVerb::Trend(trend) => trend::main(&trend),
        OldVerb::Arrivals(arrivals) => arrivals::main(&arrivals),
        OldVerb::PlanLoad(plan) => capacity::plan_load(&plan),
        OldVerb::Users(users) => capacity::real_users(&users),
        OldVerb::Model(model) => capacity::model(&model),
        OldVerb::DemoServer(server) => lab::server(&server),
    }
}
