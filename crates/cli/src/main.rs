//! The `busyhour` command: the only crate that prints, exits, and reads arguments and the environment.

mod args;
mod arrivals;
mod backend_notation;
mod check;
mod columns;
mod command_error;
mod compare;
mod console;
mod demo;
mod events;
mod exit;
mod export;
mod inputs;
mod jmeter_args;
mod judge;
mod live;
mod load_args;
mod model;
mod output;
mod own_args;
mod plan_load;
mod probe;
mod progress;
mod properties;
mod quantities;
mod reading;
mod report;
mod request_properties;
mod results_args;
mod results_options;
mod run;
mod run_command;
mod run_paths;
mod stop_port;
mod stop_signals;
mod terminal_view;
mod thresholds;
mod trend;
mod url_plan;
mod usage;
mod users;
mod watching;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::exit::Exit;

/// Ends the slices of long evaluations after so many steps instead of by time.
const SLICE_STEPS: &str = "BUSYHOUR_SLICE_STEPS";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(steps) = std::env::var_os(SLICE_STEPS) {
        // For tests: short slices find borrows and counters that a suspension breaks.
        busyhour_slices::suspend_every(steps.to_str().and_then(|steps| steps.parse().ok()).unwrap_or(0));
    }
    let exit = if let Some(exit) = usage::refuse_options_before_verb(&arguments) {
        exit
    } else if jmeter_args::is_jmeter_style(&arguments) {
        jmeter_args::main(&arguments)
    } else {
        match Cli::try_parse_from(&arguments) {
            Ok(cli) => dispatch(cli),
            Err(error) => usage::explain(error, &arguments),
        }
    };
    // What was printed after a run had ended may still wait to be written.
    console::drain(|| true);
    exit.into()
}

fn dispatch(cli: Cli) -> Exit {
    match cli.command {
        Command::Run(run) => match run.into_command() {
            Ok(command) => run::main(&command),
            Err(message) => exit::complain(Exit::Usage, &message),
        },
        Command::Check(check) => check::main(&check),
        Command::Report(report) => report::main(&report),
        Command::Arrivals(arrivals) => arrivals::main(&arrivals),
        Command::Compare(compare) => compare::main(&compare),
        Command::Trend(trend) => trend::main(&trend),
        Command::Export(export) => export::main(&export),
        Command::Judge(judge) => judge::main(judge),
        Command::Demo(demo) => demo::main(&demo),
        Command::DemoServer(server) => demo::server(&server),
        Command::PlanLoad(plan) => plan_load::main(&plan),
        Command::Model(model) => model::main(&model),
        Command::Users(users) => users::main(&users),
    }
}
