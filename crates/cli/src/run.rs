//! Runs a plan: from a request to a run directory and a result.

mod files;
mod finish;
mod observers;
mod prepare;
mod refusal;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_compile::Started;
use busyhour_engine::runner::{self, RunReport};
use busyhour_program::run::{Level, Properties};
use busyhour_record::{ApdexLimits, BatchWriter, Recorder, RecorderConfig, RunEnd, SnapshotSender};
use busyhour_report::prepare_dashboard;
use finish::EndedRun;
use observers::Observers;
use prepare::{Prepared, prepare};
use refusal::Refusal;
use tokio::sync::oneshot;

use crate::command_error::CommandError;
use crate::console;
use crate::exit::{self, Exit, complain, say};
use crate::forecast;
use crate::io_hints::chain;
use crate::log_file::LogFile;
use crate::notes::{missed_starts, script_caveats};
use crate::outcome::{exit_code, outcome};
use crate::progress::Display;
use crate::run_request::RunRequest;
use crate::settings::{self, Settings};
use crate::stop_signals::{GRACE, StopRequests};
use crate::system;
use crate::watching::{Memory, Watched};

/// Runs the plan and shows the result.
pub(crate) fn main(request: &RunRequest) -> Exit {
    if let Err(error) = console::start() {
        return complain(Exit::Internal, &format!("cannot start a thread: {error}"));
    }
    let stops = StopRequests::new(request.grace.unwrap_or(GRACE));
    let exit = match run(request, &stops) {
        Ok(exit) => exit,
        Err(Refusal(exit, message)) if message.is_empty() => exit,
        Err(Refusal(exit, message)) => complain(exit, &message),
    };
    console::drain(|| stops.is_requested());
    exit
}

fn run(request: &RunRequest, stops: &StopRequests) -> Result<Exit, Refusal> {
    if let Some(dashboard) = &request.dashboard {
        if request.force {
            files::remove_dashboard(dashboard)?;
        }
        prepare_dashboard(dashboard).map_err(|error| Refusal::usage(chain(&error)))?;
    }
    let prepared = prepare(request, stops)?;
    let length = request.length_s.map(Duration::from_secs).or_else(|| forecast::length(&prepared.started));
    limit_body_memory(&prepared.started.shared.properties);
    let (observers, senders) = Observers::start(request, &prepared, stops, length)?;
    let (recorder, mut writers) = start_recorder(&prepared, stops, senders)?;
    if request.has_secret_url && !prepared.main.config.url {
        writers.iter_mut().for_each(BatchWriter::omit_urls);
    }
    stops.attach(&prepared.started.shared);
    files::make_private(&prepared.dir);
    let mut display = display(request, &prepared, length);
    if request.as_jmeter {
        print_jmeter_start(request);
    }
    let (engine, finished) = start_engine(&prepared.started, writers)?;
    if observers.with_screen {
        display.take_screen(&prepared.manifest);
    } else {
        prepared.started.shared.print_to(Box::new(exit::print_of_script));
    }
    let Observers { thresholds, orders, exports, mut live, .. } = observers;
    let Prepared { started, mut manifest, dir, main, log, log_path, events, unread, .. } = prepared;
    let cpu_before = system::CpuTimes::now();
    let watched = Watched {
        shared: &started.shared,
        recorder: &recorder,
        stops,
        live: live.as_ref(),
        has_stop_port: request.as_jmeter,
        dir: dir.path(),
        length,
    };
    let mut memory = Memory::new(request.backs_off);
    let stopped_by = watched
        .until_it_ends(&mut display, events, finished, orders, &mut memory)
        .map_err(Refusal::internal)?;
    // Later requests do not stop the run, because it has ended.
    let stop = stops.stop();
    let report = engine.join();
    let cpu_stolen =
        cpu_before.zip(system::CpuTimes::now()).and_then(|(before, now)| now.stolen_since(before));
    let shared = &started.shared;
    let (totals, delta, total) = recorder.finish_with_summary();
    if let Some(live) = &mut live {
        live.end(totals.events.len());
    }
    display.end(shared, &delta, &total);
    for failure in exports.finish(|| stops.is_forced()) {
        log.write(Level::Warn, &failure);
        say(&format!("warning: {failure}"));
    }
    let (report, failure) = engine_result(report, &log_path);
    let mut outcome = outcome(&report, &started, stop, stopped_by.is_some(), failure.is_some(), &totals);
    outcome.generator.cpu_stolen = cpu_stolen;
    let failed_by_stop = stopped_by.as_ref().is_some_and(|order| order.failed);
    let end = outcome.end;
    // An earlier stop request takes precedence over the threshold as the recorded reason.
    outcome.stopped_by = stopped_by.filter(|_| end == RunEnd::StoppedByThreshold).map(|order| order.text);
    manifest.notes.extend(missed_starts(shared));
    manifest.notes.extend(script_caveats(shared));
    manifest.notes.extend(memory.note());
    if let Some(live) = &live {
        manifest.events = live.steered.events();
    }
    manifest.events.extend(stops.stop_from_terminal());
    manifest.outcome = Some(outcome);
    end_log(&log, end, &log_path);
    finish::warn_of_unused(request, &shared.properties, &unread);
    let ended = EndedRun {
        request,
        manifest: &manifest,
        dir: &dir,
        main: &main,
        log_path: &log_path,
        started: &started,
        totals: &totals,
    };
    let results = ended.finish(thresholds, failure.as_deref());
    if let Some(live) = live {
        live.finish();
    }
    Ok(exit_code(end, failed_by_stop, &results))
}

/// The bytes that response bodies may take in the whole process.
const BODY_MEMORY_PROPERTY: &str = "busyhour.body_memory";

/// Limits the memory for response bodies to the number of bytes in the property, or to half of what this process may use.
fn limit_body_memory(properties: &Properties) {
    let asked = properties.get(BODY_MEMORY_PROPERTY).and_then(|text| text.trim().parse().ok());
    let bytes = asked.or_else(|| system::available_memory().map(|bytes| bytes / 2));
    if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) {
        busyhour_program::body_memory::limit_body_memory(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
}

fn start_recorder(
    prepared: &Prepared,
    stops: &StopRequests,
    observers: Vec<SnapshotSender>,
) -> Result<(Recorder, Vec<BatchWriter>), Refusal> {
    let Prepared { settings, started, manifest, dir, main, cores, .. } = prepared;
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: started.names.clone(),
        labels: started.labels.clone(),
        wall_anchor_ms: manifest.wall_anchor_ms,
        main: Some(main.clone()),
        listeners: started.listeners.clone(),
        listener_sets: started.listener_sets.clone(),
        writers: *cores,
        observers,
        apdex: apdex_limits(settings, &started.shared.properties).map_err(Refusal::usage)?,
        pipes: stops.pipes(),
        ..RecorderConfig::default()
    };
    if system::is_pipe(&main.path) {
        say(&format!("waiting for a program that reads the pipe {}", main.path.display()));
    }
    Recorder::start(config).map_err(|error| {
        let exit = if stops.is_requested() { Exit::Stopped } else { Exit::Internal };
        Refusal(exit, chain(&error))
    })
}

type Engine = JoinHandle<std::io::Result<RunReport>>;

/// Starts the engine on a separate thread; the receiver reports its end.
fn start_engine(
    started: &Started,
    writers: Vec<BatchWriter>,
) -> Result<(Engine, oneshot::Receiver<()>), Refusal> {
    let (program, shared, labels) =
        (Arc::clone(&started.program), Arc::clone(&started.shared), started.labels.clone());
    let (done, finished) = oneshot::channel();
    let body = move || {
        let report = runner::run(&program, &shared, &labels, writers);
        let _ = done.send(());
        report
    };
    let thread = std::thread::Builder::new().name("engine".into()).spawn(body).map_err(Refusal::internal)?;
    Ok((thread, finished))
}

/// The report of the engine, and a message if the engine or users failed.
fn engine_result(
    result: std::thread::Result<std::io::Result<RunReport>>,
    log_path: &Path,
) -> (RunReport, Option<String>) {
    match result {
        Ok(Ok(report)) => {
            let died: u64 = report.cores.iter().map(|core| core.died).sum();
            let failure = (died > 0).then(|| {
                format!(
                    "{died} users ended because of a bug in busyhour, see {}; please report it",
                    log_path.display()
                )
            });
            (report, failure)
        }
        Ok(Err(error)) => (RunReport::default(), Some(format!("the engine could not start: {error}"))),
        Err(_) => {
            (RunReport::default(), Some("the engine failed; the results recorded so far are kept".to_owned()))
        }
    }
}

fn end_log(log: &LogFile, end: RunEnd, path: &Path) {
    log.write(Level::Info, &format!("the run ended: {end:?}"));
    let lost_lines = log.flush();
    if lost_lines > 0 {
        say(&format!("warning: {lost_lines} lines could not be written to {} in time", path.display()));
    }
}

fn print_jmeter_start(request: &RunRequest) {
    let wall = jiff::Zoned::now().strftime("%Y %b %d %H:%M:%S %Z").to_string();
    exit::print(&format!(
        "Created the tree successfully using {}\nStarting standalone test @ {wall}\n",
        request.plan.display()
    ));
}

fn display(request: &RunRequest, prepared: &Prepared, length: Option<Duration>) -> Display {
    let properties = &prepared.started.shared.properties;
    let get = |name: &str| settings::used(&prepared.settings, properties, name).map(str::trim);
    // A flag with an empty name switches the summariser off.
    let flag = request.flags.jmeter.iter().rfind(|(name, _)| name == "summariser.name");
    let default = if flag.is_some() { "" } else { "summary" };
    let name = get("summariser.name").unwrap_or(default).to_owned();
    let interval = get("summariser.interval").and_then(|text| text.parse().ok()).unwrap_or(30);
    Display::new(request.as_jmeter, name, interval, length)
}

fn apdex_limits(settings: &Settings, properties: &Properties) -> Result<ApdexLimits, CommandError> {
    for name in crate::results_options::APDEX_PROPERTIES {
        settings::used(settings, properties, name);
    }
    crate::results_options::apdex_limits(&settings.jmeter)
}
