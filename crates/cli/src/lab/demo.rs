//! `busyhour demo` and `busyhour lab server`: the ticket shop, its workload and the choice of the server.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use busyhour_arrivals::ArrivalProcess;
use busyhour_compile::OpenOptions;
use busyhour_demo::{DataSet, ShopOptions};
use busyhour_diagnostic::io_hints;
use busyhour_launch::{PropertySources, RunRequest};
use busyhour_program::open::NoFreeUser;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, print, say};

use super::args::{DemoArgs, DemoSystem, LabServer, ServerArgs};
use super::broker::{self, BrokerArgs};
use super::cells::{self, CellsArgs};
use super::demo_cells;
use super::demo_cells_args::{DemoCellsArgs, OPTION_NAMES};
use super::server_end::{LISTENING, ServerEnd, listen, wait_for_stdin};
use crate::run;
use crate::run_command::RunCommand;

const PLAN: &str = include_str!("../../../../plans/monsterdr.jmx");

/// Ramp-up time of the demo's users in seconds, and number of these users.
const RAMP_UP_S: u32 = 5;
const USERS: u32 = 100;

/// Rate of requests per second, and length of the load.
const RATE_PER_S: u32 = 400;
const LENGTH: Duration = Duration::from_secs(25);

/// Mean number of requests of one visit, which is one pass through the plan's workload.
const REQUESTS_PER_VISIT: f64 = 6.3;

/// Maximum number of visitors at the same time.
const VISITORS_MAX: u32 = 1_000;

/// Codes of warnings that are expected, because the plan was written for a fixed number of users but visitors execute it.
const KNOWN_WARNINGS: [&str; 2] = ["rate-timer-left-out", "counts-over-sessions"];

/// The names of the plan's thread group with the workload, and of the one that only prepares data.
const WORKLOAD: &str = "Throughput test";
const PREPARATION: &str = "Data Injection";

pub(crate) fn demo(args: &DemoArgs) -> Exit {
    let default = match args.system {
        DemoSystem::Shop => LENGTH,
        DemoSystem::Cells => demo_cells::LENGTH,
    };
    let length_s = args.seconds.unwrap_or(args.length.unwrap_or(default).as_secs());
    let Some(seconds) = u32::try_from(length_s).ok().filter(|seconds| *seconds > 0) else {
        return complain(Exit::Usage, "--for must be at least 1s");
    };
    if args.users == Some(0) || args.rate == Some(0) {
        return complain(Exit::Usage, "--users and --rate must be at least 1");
    }
    match args.system {
        DemoSystem::Shop => demo_shop(args, seconds),
        DemoSystem::Cells => demo_cells::demo(args, seconds),
    }
}

/// Loads the ticket shop.
fn demo_shop(args: &DemoArgs, seconds: u32) -> Exit {
    if args.users.is_some() && !args.closed {
        return complain(
            Exit::Usage,
            "--users is for a fixed number of users: busyhour demo --closed --users N",
        );
    }
    if args.cells != DemoCellsArgs::default() {
        let message = format!("{} are for the cells: busyhour demo --system cells …", OPTION_NAMES);
        return complain(Exit::Usage, &message);
    }
    let (users, rate) = (args.users.unwrap_or(USERS), args.rate.unwrap_or(RATE_PER_S));
    let mut shop = match start_shop() {
        Ok(shop) => shop,
        Err(message) => return complain(Exit::Internal, &message),
    };
    say(&format!("started a ticket shop at http://127.0.0.1:{}/ticket-monster/", shop.port));
    let open = match args.closed {
        true => None,
        false => Some(visitors(rate, seconds)),
    };
    match &open {
        Some((text, _)) => say(&format!("visitors arrive at random: {text}")),
        None => say(&format!("{users} users start within {RAMP_UP_S} s and run for {seconds} s")),
    }
    let property = |name: &str, value: u32| (name.to_owned(), value.to_string());
    let properties = PropertySources {
        jmeter: vec![
            ("HOST".into(), "127.0.0.1".into()),
            property("PORT", u32::from(shop.port)),
            property("USERS", users),
            property("IR", rate),
            property("RAMPUP", RAMP_UP_S),
            property("STEADYSTATE", seconds),
            property("DATAGEN", 0),
            property("VENUES", DataSet::SMALL.venues),
            property("EVENTS", DataSet::SMALL.events),
        ],
        ..PropertySources::default()
    };
    let length_s = if args.closed { RAMP_UP_S + seconds } else { seconds };
    let known_warnings: &[&str] = if args.closed { &[] } else { &KNOWN_WARNINGS };
    let run = RunRequest {
        plan: "monsterdr.jmx".into(),
        plan_text: Some(PLAN.into()),
        properties,
        dir: args.dir.clone(),
        seed: args.seed,
        length: Some(Duration::from_secs(length_s.into())),
        known_warnings: known_warnings.iter().map(|&code| code.to_owned()).collect(),
        open: open.map(|(_, open)| open),
        ..RunRequest::default()
    };
    // The report leaves 6 lines free for the next steps.
    let show = busyhour_report::RunShow { lines_below: 6, ..Default::default() };
    let exit = run::main(&RunCommand { run, show, ..RunCommand::default() });
    shop.close();
    if exit == Exit::Completed {
        print(
            "\nNext steps:\n  \
             busyhour demo --closed                       users that wait for each response, for comparison\n  \
             busyhour demo --rate 2000/s                  more load\n  \
             busyhour check YOUR.jmx                      check whether your plan is supported\n  \
             busyhour -n -t YOUR.jmx -l results.jtl       run it as with jmeter\n",
        );
    }
    exit
}

/// The arrivals of visitors, a Poisson process. Each visitor passes through the workload once.
fn visitors(rate_per_s: u32, seconds: u32) -> (String, OpenOptions) {
    let rate = f64::from(rate_per_s) / REQUESTS_PER_VISIT;
    let text = format!("poisson({rate:.1}/s) for {seconds}s");
    let process = ArrivalProcess::parse(&text).unwrap_or_else(|_| unreachable!("{text} is in the notation"));
    let open = OpenOptions {
        process,
        weights: vec![(WORKLOAD.to_owned(), 1.0), (PREPARATION.to_owned(), 0.0)],
        no_free_user: Some(NoFreeUser::Grow(VISITORS_MAX)),
        users: None,
        ignore_rate_timers: true,
    };
    (text, open)
}

/// A shop in a child process. The child process ends when this process ends.
struct Shop {
    child: Child,
    port: u16,
}

impl Shop {
    fn close(&mut self) {
        // The shop ends when its standard input is closed.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.close();
    }
}

fn start_shop() -> Result<Shop, CommandError> {
    let failed = |error: std::io::Error| format!("the ticket shop cannot be started: {error}");
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(["lab", "server", "shop", "--port", "0", "--small", "--until-stdin-closes"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(failed)?;
    }
    let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
    match port {
        Some(port) => Ok(Shop { child, port }),
        None => {
            let _ = child.wait();
            Err("the ticket shop cannot be started: it did not print its address".into())
        }
    }
}

/// Rejects options that belong to another server than the selected one.
fn refuse_options_of_others(args: &ServerArgs) -> Option<Exit> {
    let shop_flags = args.db.is_some() || args.strict || args.small || args.full || args.backend.is_some();
    let probe_flags = !args.stall.is_empty() || args.delay.is_some() || args.stamps.is_some();
    let cells_flags = args.cells != CellsArgs::default();
    let broker_flags = args.broker != BrokerArgs::default();
    let name = |server: LabServer| match server {
        LabServer::Shop => "shop",
        LabServer::Probe => "probe",
        LabServer::Cells => "cells",
        LabServer::Broker => "broker",
    };
    let groups = [
        (LabServer::Shop, shop_flags, "--db, --strict, --small, --full and --backend"),
        (LabServer::Probe, probe_flags, "--stall, --delay and --stamps"),
        (LabServer::Cells, cells_flags, cells::OPTION_NAMES),
        (LabServer::Broker, broker_flags, broker::OPTION_NAMES),
    ];
    let (other, _, options) =
        groups.iter().find(|(server, is_given, _)| *is_given && *server != args.server)?;
    let (other, selected) = (name(*other), name(args.server));
    let message = format!(
        "{options} are for the server {other}, not for the {selected}: busyhour lab server {other} …"
    );
    Some(complain(Exit::Usage, &message))
}

pub(crate) fn server(args: &ServerArgs) -> Exit {
    if let Some(exit) = refuse_options_of_others(args) {
        return exit;
    }
    let is_probe = match args.server {
        LabServer::Shop => false,
        LabServer::Probe => true,
        LabServer::Cells => return cells::serve(&args.cells, args.port, args.until_stdin_closes),
        LabServer::Broker => return broker::serve(&args.broker, args.port, args.until_stdin_closes),
    };
    let address = SocketAddr::from(([127, 0, 0, 1], args.port));
    let listener = match listen(address) {
        Ok(listener) => listener,
        Err(exit) => return exit,
    };
    // This is created before the address is printed, so that a signal immediately after the output still causes the
    // statistics to be printed.
    let probe_end = match is_probe.then(|| probe_end(args)).transpose() {
        Ok(end) => end,
        Err(message) => return complain(Exit::Internal, &message),
    };
    match listener.local_addr() {
        Ok(local) => {
            print(&format!("{LISTENING}http://{local}\n"));
        }
        Err(error) => return complain(Exit::Internal, &error.to_string()),
    }
    match probe_end {
        Some(end) => super::probe::serve(listener, args, end),
        None => serve_shop(listener, address, args),
    }
}

/// A function that waits for the end of a probe.
type Wait = Box<dyn FnOnce() + Send>;

fn probe_end(args: &ServerArgs) -> Result<Wait, CommandError> {
    if args.until_stdin_closes {
        return Ok(Box::new(wait_for_stdin));
    }
    let failed = |error: std::io::Error| format!("cannot listen for signals: {error}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let mut signals =
        runtime.block_on(async { busyhour_terminal::signals::Signals::new() }).map_err(failed)?;
    say("Ctrl-C ends the probe");
    Ok(Box::new(move || runtime.block_on(signals.next_stop())))
}

fn serve_shop(listener: std::net::TcpListener, address: SocketAddr, args: &ServerArgs) -> Exit {
    let data_set = if args.full {
        Some(DataSet::FULL)
    } else if args.small {
        Some(DataSet::SMALL)
    } else {
        None
    };
    let options = ShopOptions {
        address,
        database: args.db.clone(),
        data_set,
        strict: args.strict,
        idle_timeout: args.strict.then_some(busyhour_demo::ORIGINAL_IDLE_TIMEOUT),
        backend: args.backend,
        ..ShopOptions::default()
    };
    let until_stdin_closes = args.until_stdin_closes;
    if !until_stdin_closes {
        say("Ctrl-C closes the shop");
    }
    let end = async move {
        match ServerEnd::new(until_stdin_closes) {
            Ok(end) => end.wait().await,
            // If signals cannot be handled, only the default action of a signal ends the shop.
            Err(_) => std::future::pending().await,
        }
    };
    match busyhour_demo::run_blocking(listener, options, end) {
        Ok(()) => Exit::Completed,
        Err(error) => complain(Exit::Internal, &io_hints::chain(&error)),
    }
}
