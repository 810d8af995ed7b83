//! `busyhour demo --system cells`: loads the cells emulator and observes it.

use std::path::Path;
use std::time::Duration;

use busyhour_demo::{ACCESS_LOG, CellsServer, GC_LOG, SERVER_LOG};
use busyhour_launch::{PropertySources, RunRequest};
use busyhour_terminal::exit::{Exit, complain, print, say};

use super::args::DemoArgs;
use super::cells::{self, CellsArgs, CollectorName};
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

/// Factor for the CPU time of requests. It is small, so that the emulator and the generator fit on a small machine.
const CPU_FACTOR: f64 = 0.1;

/// The heap is small, so that the leaks fill much of it within a minute. ZGC collects the whole heap each time, so that
/// its log frequently contains the size of live memory.
const HEAP_BYTES: u64 = 128 << 20;
const COLLECTOR: CollectorName = CollectorName::Z;

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
    let observation = match RunObservation::of_list(&sources(&server, &options.dir)) {
        Ok(observation) => observation,
        Err(message) => return complain(Exit::Internal, &message),
    };
    let users = args.users.unwrap_or(USERS);
    say(&format!("{users} users start within {RAMP_UP_S} s and run for {seconds} s"));
    let command = RunCommand {
        run: request(args, &server, users, seconds),
        // The report leaves 6 lines free for the next steps.
        show: busyhour_report::RunShow { lines_below: 6, ..Default::default() },
        observation,
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

/// The machine, the process, its JVM and its logs, as a list of sources.
fn sources(server: &CellsServer, dir: &Path) -> String {
    let pid = server.pid();
    // A comma in a path would end a source.
    let file = |name: &str| dir.join(name).display().to_string().replace(',', "\\,");
    let (gc, server, access) = (file(GC_LOG), file(SERVER_LOG), file(ACCESS_LOG));
    format!("os,process:{pid},jvm:{pid},gc:{gc},log:{server},log:{access}")
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
