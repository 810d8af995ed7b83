//! `busyhour demo --system cells`: loads the cells emulator and observes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_demo::{ACCESS_LOG, CellsServer, GC_LOG, SERVER_LOG};
use busyhour_launch::{PropertySources, RunRequest};
use busyhour_observation::{ProcessName, SourceSpec};
use clap::Args;

use super::args::DemoArgs;
use super::cells::{self, CellsArgs, CollectorName};
use crate::exit::{Exit, complain, print, say};
use crate::observing::RunObservation;
use crate::run;
use crate::run_command::RunCommand;

const PLAN: &str = include_str!("../../../../plans/cells.jmx");

/// Length of the load. The leaks are visible after a minute.
pub(super) const LENGTH: Duration = Duration::from_secs(60);

/// Number of users, their ramp-up time in seconds, and their think time and its random part in ms.
const USERS: u32 = 100;
const RAMP_UP_S: u32 = 5;
const THINK_MS: [u32; 2] = [300, 200];

/// Factor for the CPU time of requests: the load must fit into a small machine, beside the generator.
const CPU_FACTOR: f64 = 0.1;

/// The heap is small, so that the leaks fill much of it within a minute. ZGC collects the whole heap each time, so that its log
/// shows live memory often.
const HEAP_BYTES: u64 = 128 << 20;
const COLLECTOR: CollectorName = CollectorName::Z;

/// The first line of [`DemoCellsArgs`], for messages.
pub(super) const OPTION_NAMES: &str = "--configurations, --heap, --collector and --java-home";

/// Options of the demo for the cells.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Cells emulator")]
pub(crate) struct DemoCellsArgs {
    /// Configurations to call, from 1 to 10 (default: all); 1, 2 and 7 leak, 4 and 9 fail.
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10))]
    configurations: Vec<u32>,
    /// Initial and maximum size of the heap (default: 128m).
    #[arg(long, value_name = "SIZE", value_parser = cells::heap_bytes)]
    heap: Option<u64>,
    /// Garbage collector (default: z).
    #[arg(long, value_name = "NAME")]
    collector: Option<CollectorName>,
    /// Directory of a JDK, version 11 or later (default: JAVA_HOME, or javac on the PATH).
    #[arg(long, value_name = "DIR")]
    java_home: Option<PathBuf>,
}

/// Starts the emulator, runs the load, and ends the emulator.
pub(super) fn demo(args: &DemoArgs, seconds: u32) -> Exit {
    if args.closed || args.rate.is_some() {
        return complain(Exit::Usage, "--closed and --rate are for the shop; the cells have --users");
    }
    let emulator = CellsArgs {
        cpu_factor: Some(CPU_FACTOR),
        heap: Some(args.cells.heap.unwrap_or(HEAP_BYTES)),
        collector: Some(args.cells.collector.unwrap_or(COLLECTOR)),
        java_home: args.cells.java_home.clone(),
        ..CellsArgs::default()
    };
    let options = match emulator.options(0) {
        Ok(options) => options,
        Err(message) => return complain(Exit::Refused, &message),
    };
    let server = match cells::start(&emulator, &options) {
        Ok(server) => server,
        Err(exit) => return exit,
    };
    say(&format!(
        "started the cells emulator at http://{}; its logs are in {}",
        server.address(),
        options.dir.display()
    ));
    let users = args.users.unwrap_or(USERS);
    say(&format!("{users} users start within {RAMP_UP_S} s and run for {seconds} s"));
    let command = RunCommand {
        run: request(args, &server, users, seconds),
        // The report leaves 6 lines free for the next steps.
        show: busyhour_report::RunShow { lines_below: 6, ..Default::default() },
        observation: RunObservation::of(sources(&server, &options.dir)),
        ..RunCommand::default()
    };
    let exit = run::main(&command);
    drop(server);
    if exit == Exit::Completed {
        print_next_steps(&options.dir);
    }
    exit
}

/// The plan with the properties for the emulator.
fn request(args: &DemoArgs, server: &CellsServer, users: u32, seconds: u32) -> RunRequest {
    let numbers = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(":");
    let all: Vec<u32> = (1..=10).collect();
    let configurations = if args.cells.configurations.is_empty() { &all } else { &args.cells.configurations };
    let [think_ms, random_ms] = THINK_MS;
    let property = |name: &str, value: String| (name.to_owned(), value);
    RunRequest {
        plan: "cells.jmx".into(),
        plan_text: Some(PLAN.into()),
        properties: PropertySources {
            jmeter: vec![
                property("HOST", server.address().ip().to_string()),
                property("PORT", server.address().port().to_string()),
                property("USERS", users.to_string()),
                property("RAMPUP", RAMP_UP_S.to_string()),
                property("DURATION", seconds.to_string()),
                property("THINK", think_ms.to_string()),
                property("THINK_RANDOM", random_ms.to_string()),
                property("CONFIGURATIONS", numbers(configurations)),
            ],
            ..PropertySources::default()
        },
        dir: args.dir.clone(),
        seed: args.seed,
        length: Some(Duration::from_secs(seconds.into())),
        ..RunRequest::default()
    }
}

/// The machine, the process, its JVM and its logs.
fn sources(server: &CellsServer, dir: &Path) -> Vec<SourceSpec> {
    let pid = || ProcessName::Pid(server.pid());
    vec![
        SourceSpec::Os,
        SourceSpec::Process(pid()),
        SourceSpec::Jvm(Some(pid())),
        SourceSpec::GcLog(dir.join(GC_LOG)),
        SourceSpec::Log(dir.join(SERVER_LOG)),
        SourceSpec::Log(dir.join(ACCESS_LOG)),
    ]
}

fn print_next_steps(dir: &Path) {
    let gc_log = dir.join(GC_LOG);
    print(&format!(
        "\nNext steps:\n  \
         busyhour observe gc {} -o gc.html\n  \
         busyhour demo --system cells --configurations 3,5,6,8,10\n  \
         busyhour lab server cells                    start the emulator for your own load\n  \
         busyhour run YOUR.jmx --observe auto         observe your own system\n",
        gc_log.display()
    ));
}
