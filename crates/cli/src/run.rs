//! Making a run: from a request to a run directory and a result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use busyhour_analysis::thresholds::Criterion;
use busyhour_analysis::{RunFacts, Summary};
use busyhour_compile::{Compiled, Options, Started};
use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_engine::clock::Clock;
use busyhour_engine::run::{Level, Properties, RunShared};
use busyhour_engine::runner::{self, RunReport};
use busyhour_export::{NowMs, Origin, UserCounts};
use busyhour_http::TlsPolicy;
use busyhour_plan::TestPlan;
use busyhour_record::{
    ApdexLimits, CsvOutput, MANIFEST_VERSION, Machine, Manifest, PlanFile, Recorder, RecorderConfig, RunDir,
    RunEnd, RunTotals, SaveConfig, Which, plan_hash,
};
use busyhour_report::{Look, add_arrivals, end_of_run, prepare_dashboard, write_dashboard, write_reports};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::console;
use crate::exit::{self, Exit, complain, say};
use crate::export::Exports;
use crate::forecast;
use crate::io_hints;
use crate::live::{Live, Steered, View};
use crate::log_file::LogFile;
use crate::notes::{missed_starts, notes, script_doubts};
use crate::outcome::{Results, exit_code, outcome};
use crate::progress::{self, Display};
use crate::redaction;
use crate::run_request::RunRequest;
use crate::settings::{self, Settings};
use crate::stop_signals::{Asked, GRACE, Heard, listen};
use crate::system;
use crate::terminal_view;
use crate::thresholds::{Thresholds, Watch};
use crate::watching::Watched;

/// How long before a start `--spin` begins to watch the clock, in nanoseconds: a little more than what the kernel takes to
/// wake a sleeper.
const SPIN_NS: u64 = 50_000;

/// Why a run does not begin.
struct Refusal(Exit, String);

impl Refusal {
    fn internal(what: impl std::fmt::Display) -> Self {
        Self(Exit::Internal, what.to_string())
    }
}

/// Makes the run and shows its result.
pub(crate) fn main(request: &RunRequest) -> Exit {
    if let Err(error) = console::start() {
        return complain(Exit::Internal, &format!("cannot start a thread: {error}"));
    }
    let asked = Asked::new(request.grace.unwrap_or(GRACE));
    let exit = match run(request, &asked) {
        Ok(exit) => exit,
        Err(Refusal(exit, message)) if message.is_empty() => exit,
        Err(Refusal(exit, message)) => complain(exit, &message),
    };
    console::drain(|| asked.is_asked());
    exit
}

/// Everything that is made before the first request.
struct Prepared {
    settings: Settings,
    started: Started,
    manifest: Manifest,
    dir: RunDir,
    main: CsvOutput,
    log: LogFile,
    log_path: PathBuf,
    cores: usize,
    heard: UnboundedReceiver<Heard>,
}

fn run(request: &RunRequest, asked: &Asked) -> Result<Exit, Refusal> {
    if let Some(dashboard) = &request.dashboard {
        if request.force {
            remove_dashboard(dashboard)?;
        }
        prepare_dashboard(dashboard).map_err(|error| Refusal(Exit::Usage, chain(&error)))?;
    }
    let prepared = prepare(request, asked)?;
    let Prepared { settings, started, mut manifest, dir, main, log, log_path, cores, heard } = prepared;
    let criteria = &request.thresholds.criteria;
    let (judge, seconds, orders) = match Watch::start(criteria).map_err(Refusal::internal)? {
        Some((judge, seconds, orders)) => (Some(judge), Some(seconds), Some(orders)),
        None => (None, None, None),
    };
    let origin = Origin { wall_anchor_ms: manifest.wall_anchor_ms };
    let plan = [&manifest.plan.name, &manifest.plan.path].into_iter().find(|name| !name.is_empty());
    let (exports, mut observers) = Exports::start(
        &request.exports,
        &started.backends,
        plan.map_or("run", String::as_str),
        origin,
        &now_ms(&started.shared),
        &user_counts(&started.shared),
    )
    .map_err(|text| Refusal(Exit::Usage, text))?;
    observers.extend(seconds);
    let length = request.length_s.map(Duration::from_secs).or_else(|| forecast::length(&started));
    let with_screen = wants_screen(request)?;
    let mut live = if with_screen || request.live.live.is_some() {
        let steered = Steered::new(&started, asked, length, &dir, &manifest);
        let (live, seconds) = Live::start(&request.live, criteria, &started, steered)
            .map_err(|text| Refusal(Exit::Usage, text))?;
        observers.push(seconds);
        Some(live)
    } else {
        None
    };
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: started.names.clone(),
        labels: started.labels.clone(),
        wall_anchor_ms: manifest.wall_anchor_ms,
        main: Some(main.clone()),
        listeners: started.listeners.clone(),
        listener_sets: started.listener_sets.clone(),
        writers: cores,
        observers,
        apdex: apdex_limits(&settings, &started.shared.properties)
            .map_err(|text| Refusal(Exit::Usage, text))?,
        pipes: asked.pipes(),
        ..RecorderConfig::default()
    };
    if system::is_pipe(&main.path) {
        say(&format!("waiting for a program that reads the pipe {}", main.path.display()));
    }
    let (recorder, writers) = Recorder::start(config).map_err(|error| {
        let exit = if asked.is_asked() { Exit::Stopped } else { Exit::Internal };
        Refusal(exit, chain(&error))
    })?;
    asked.begin(&started.shared);
    make_private(&dir);
    let mut display = display(request, &settings, &started.shared.properties, length);
    if request.as_jmeter {
        let wall = jiff::Zoned::now().strftime("%Y %b %d %H:%M:%S %Z").to_string();
        exit::print(&format!(
            "Created the tree successfully using {}\nStarting standalone test @ {wall}\n",
            request.plan.display()
        ));
    }
    let engine = {
        let (program, shared, labels) =
            (Arc::clone(&started.program), Arc::clone(&started.shared), started.labels.clone());
        let (done, finished) = tokio::sync::oneshot::channel();
        let body = move || {
            let report = runner::run(&program, &shared, &labels, writers);
            let _ = done.send(());
            report
        };
        let thread =
            std::thread::Builder::new().name("engine".into()).spawn(body).map_err(Refusal::internal)?;
        (thread, finished)
    };
    let (thread, finished) = engine;
    if with_screen {
        display.take_screen(&manifest);
    } else {
        started.shared.print_to(Box::new(exit::print_of_script));
    }
    let cpu_before = system::CpuTimes::now();
    let watched = Watched {
        shared: &started.shared,
        recorder: &recorder,
        asked,
        live: live.as_ref(),
        has_stop_port: request.as_jmeter,
    };
    let stopped_by =
        watched.until_it_ends(&mut display, heard, finished, orders).map_err(Refusal::internal)?;
    // Whoever asks from here on does not stop the run: it has ended.
    let asked_before_end = asked.stop();
    let report = thread.join();
    let cpu_stolen =
        cpu_before.zip(system::CpuTimes::now()).and_then(|(before, now)| now.stolen_since(before));
    let shared = &started.shared;
    let (totals, delta, total) = recorder.finish_with_summary();
    if let Some(live) = &mut live {
        live.end(totals.events.len());
    }
    display.end(shared, &delta, &total);
    for failure in exports.finish(|| asked.is_forced()) {
        log.write(Level::Warn, &failure);
        say(&format!("warning: {failure}"));
    }
    let (report, failure) = match report {
        Ok(Ok(report)) => {
            let died: u64 = report.cores.iter().map(|core| core.died).sum();
            let failure = (died > 0).then(|| {
                format!(
                    "{died} users died of a mistake of the program's, see {}: please report it",
                    log_path.display()
                )
            });
            (report, failure)
        }
        Ok(Err(error)) => (RunReport::default(), Some(format!("the engine could not start: {error}"))),
        Err(_) => {
            (RunReport::default(), Some("the engine failed; what was recorded until then is kept".to_owned()))
        }
    };
    let mut outcome =
        outcome(&report, &started, asked_before_end, stopped_by.is_some(), failure.is_some(), &totals);
    outcome.generator.cpu_stolen = cpu_stolen;
    let failed_by_it = stopped_by.as_ref().is_some_and(|order| order.failed);
    let end = outcome.end;
    // Who was asked to stop before stopped for that reason.
    outcome.stopped_by = stopped_by.filter(|_| end == RunEnd::StoppedByThreshold).map(|order| order.text);
    manifest.notes.extend(missed_starts(shared));
    manifest.notes.extend(script_doubts(shared));
    if let Some(live) = &live {
        manifest.events = live.steered.events();
    }
    manifest.outcome = Some(outcome);
    log.write(Level::Info, &format!("the run ended: {end:?}"));
    let lost_lines = log.flush();
    if lost_lines > 0 {
        say(&format!(
            "warning: {} lacks {lost_lines} lines, which it did not take in time",
            log_path.display()
        ));
    }
    warn_of_unused(request, &shared.properties);
    let results = finish(request, &manifest, &dir, &main, &log_path, &started, &totals, judge, failure);
    if let Some(live) = live {
        live.finish();
    }
    results.map(|results| exit_code(end, failed_by_it, &results))
}

/// How many users have started and finished, for those who are told while the run goes on.
fn user_counts(shared: &Arc<RunShared>) -> UserCounts {
    use std::sync::atomic::Ordering::Relaxed;
    let shared = Arc::clone(shared);
    Arc::new(move || Some((shared.started.load(Relaxed), shared.finished.load(Relaxed))))
}

/// The run's clock, for those who are told while it goes on.
fn now_ms(shared: &Arc<RunShared>) -> NowMs {
    let clock = shared.clock.clone();
    Arc::new(move || i64::try_from(clock.wall_ms(clock.now())).unwrap_or(i64::MAX))
}

fn prepare(request: &RunRequest, asked: &Asked) -> Result<Prepared, Refusal> {
    let clock = Clock::start();
    let settings =
        settings::load(&request.flags, clock.wall_start_ms()).map_err(|text| Refusal(Exit::Usage, text))?;
    let bytes: Vec<u8> = match &request.plan_text {
        Some(text) => text.as_bytes().to_vec(),
        None => std::fs::read(&request.plan).map_err(|error| {
            let why = io_hints::with_hint(&error);
            Refusal(Exit::Refused, format!("cannot read the plan {}: {why}", request.plan.display()))
        })?,
    };
    let plan_name = request.plan.display().to_string();
    let properties = Arc::new(Properties::new(settings.jmeter.clone()));
    let file_name =
        request.plan.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    properties.set(busyhour_compile::PLAN_NAME_PROPERTY, &file_name);
    let directory = busyhour_compile::plan_directory(&plan_name);
    properties.set(busyhour_compile::PLAN_DIRECTORY_PROPERTY, &directory);
    properties.set(busyhour_compile::ALLOW_UNSUPPORTED_PROPERTY, &request.allow_unsupported.to_string());
    let base_dir = request.plan.parent().map(Path::to_owned).unwrap_or_default();
    let options = Options {
        properties: Arc::clone(&properties),
        base_dir,
        allow_unsupported: request.allow_unsupported,
        tls: if request.verify_tls { TlsPolicy::Verify } else { TlsPolicy::AcceptAny },
        proxy: request.proxy.clone(),
        request_deadline: request.request_deadline,
        open: request.open.clone(),
    };
    let (_, compiled, findings) = understand(&bytes, &plan_name, &options);
    let refused = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    for finding in &findings {
        if finding.severity != Severity::Note {
            say(&format!("{finding}\n"));
        }
    }
    let Some(compiled) = compiled.filter(|_| refused == 0) else {
        let what = if refused == 1 { "1 error".to_owned() } else { format!("{refused} errors") };
        let text = format!("{plan_name} is refused because of {what}; no request was sent");
        return Err(Refusal(Exit::Refused, text));
    };
    let seed = request.seed.unwrap_or_else(system::new_seed);
    let wall_ms = i64::try_from(clock.wall_start_ms()).unwrap_or(0);
    let stem =
        request.plan.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned());
    if let Some(results) = &request.results {
        check_results_file(request, results)?;
    }
    let mut save = SaveConfig::from_properties(|name| setting(&settings, &properties, name))
        .map_err(|error| Refusal(Exit::Usage, error.to_string()))?;
    if save.xml && request.results.is_none() {
        // The property is for a file that was not asked for, and for listeners that do not choose themselves.
        save.xml = false;
    }
    save.in_functional_mode(compiled.functional_mode());
    // A run that has a directory never ends without writing how.
    let heard = listen(asked).map_err(Refusal::internal)?;
    let dir = match &request.dir {
        Some(dir) => RunDir::create(dir),
        None => RunDir::create_in(Path::new("busyhour-runs"), &stem, wall_ms),
    };
    let dir = dir.map_err(|error| Refusal(Exit::Internal, chain(&error)))?;
    let log_path = request.log.clone().unwrap_or_else(|| dir.path().join("run.log"));
    let log = LogFile::create(&log_path).map_err(|error| {
        Refusal(
            Exit::Internal,
            format!("cannot write the log {}: {}", log_path.display(), io_hints::with_hint(&error)),
        )
    })?;
    let main_path = request.results.clone().unwrap_or_else(|| dir.jtl_path());
    let main = CsvOutput { path: main_path, config: save, which: Which::All };
    let name = compiled.plan_name().to_owned();
    let started = busyhour_compile::start(compiled, seed, clock, &properties, log.sink());
    if request.spin {
        started.shared.spin_ns.store(SPIN_NS, std::sync::atomic::Ordering::Relaxed);
    }
    let cores = request.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    forecast::limits(&started, cores);
    forecast::verdicts(&started);
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let stored_value = |name: &str, value: &str| {
        if request.keep_secrets { value.to_owned() } else { redaction::property(name, value) }
    };
    let plan_name = if request.keep_secrets { plan_name } else { redaction::url(&plan_name) };
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        busyhour: env!("CARGO_PKG_VERSION").into(),
        plan: PlanFile { path: plan_name, name, sha256: plan_hash(&bytes) },
        seed,
        command_line: if request.keep_secrets {
            arguments.collect()
        } else {
            redaction::command_line(arguments)
        },
        properties: settings
            .given
            .iter()
            .map(|(name, value)| (name.clone(), stored_value(name, value)))
            .collect(),
        machine: Machine::this(started.names.hostname.clone()),
        wall_anchor_ms: wall_ms,
        notes: notes(&findings),
        thresholds: request.thresholds.criteria.iter().map(Criterion::portable).collect(),
        events: Vec::new(),
        outcome: None,
    };
    dir.write_manifest(&manifest).map_err(|error| Refusal(Exit::Internal, chain(&error)))?;
    // The plan beside its results: what was run can be looked up and run again.
    if let Err(error) = RunDir::write_whole(&dir.plan_path(), &bytes) {
        say(&format!("warning: {}", chain(&error)));
    }
    Ok(Prepared { settings, started, manifest, dir, main, log, log_path, cores, heard })
}

/// Reads and compiles a plan. What is damaged is not compiled: findings about the rest would only repeat the damage.
pub(crate) fn understand(
    bytes: &[u8],
    name: &str,
    options: &Options,
) -> (TestPlan, Option<Compiled>, Vec<Diagnostic>) {
    let (plan, mut findings) = busyhour_plan::parse(bytes, name);
    if findings.iter().any(Diagnostic::is_error) {
        return (plan, None, findings);
    }
    let (compiled, more) = busyhour_compile::compile(&plan, options);
    findings.extend(more);
    (plan, compiled, findings)
}

/// Other users of the machine must not read what plans, logs and results contain.
fn make_private(dir: &RunDir) {
    if let Err(error) = dir.make_files_private() {
        say(&format!("warning: other users may be able to read the run directory: {}", chain(&error)));
    }
}

/// JMeter's `-f` takes an old report away, too. Nothing but a report is removed.
fn remove_dashboard(dir: &Path) -> Result<(), Refusal> {
    if !dir.join("statistics.json").is_file() {
        return Ok(());
    }
    std::fs::remove_dir_all(dir).map_err(|error| {
        Refusal(
            Exit::Internal,
            format!("cannot remove the old report {}: {}", dir.display(), io_hints::with_hint(&error)),
        )
    })
}

fn check_results_file(request: &RunRequest, path: &Path) -> Result<(), Refusal> {
    let length = std::fs::metadata(path).map_or(0, |file| file.len());
    if length == 0 {
        return Ok(());
    }
    if request.force {
        return std::fs::remove_file(path).map_err(|error| {
            Refusal(
                Exit::Internal,
                format!("cannot delete {}: {}", path.display(), io_hints::with_hint(&error)),
            )
        });
    }
    if request.dashboard.is_some() {
        let text = format!(
            "the results file {} is not empty; a report over old and new samples would mislead: use -f",
            path.display()
        );
        return Err(Refusal(Exit::Usage, text));
    }
    Ok(())
}

fn display(
    request: &RunRequest,
    settings: &Settings,
    properties: &Properties,
    length: Option<Duration>,
) -> Display {
    let get = |name: &str| setting(settings, properties, name).map(str::trim);
    // A flag that takes the name away turns the summariser off.
    let flag = request.flags.jmeter.iter().rfind(|(name, _)| name == "summariser.name");
    let default = if flag.is_some() { "" } else { "summary" };
    let name = get("summariser.name").unwrap_or(default).to_owned();
    let interval = get("summariser.interval").and_then(|text| text.parse().ok()).unwrap_or(30);
    Display::new(request.as_jmeter, name, interval, length)
}

/// A setting of JMeter's; that it was asked for is noted.
fn setting<'s>(settings: &'s Settings, properties: &Properties, name: &str) -> Option<&'s str> {
    properties.with(name, |_| ());
    settings.jmeter.get(name).map(String::as_str)
}

fn apdex_limits(settings: &Settings, properties: &Properties) -> Result<ApdexLimits, String> {
    for name in crate::report::APDEX_PROPERTIES {
        properties.with(name, |_| ());
    }
    crate::report::apdex_limits(&settings.jmeter)
}

/// Names that -J set and that nothing has asked for: mistyped, most likely.
fn warn_of_unused(request: &RunRequest, properties: &Properties) {
    let mut told: Vec<&str> = Vec::new();
    for (name, value) in &request.flags.jmeter {
        if value.is_empty() || properties.is_read(name) || told.contains(&name.as_str()) {
            continue;
        }
        told.push(name);
        say(&format!(
            "warning: neither the plan nor this program has read the property {name}, which -J sets\n  hint: compare its \
             name with the plan's ${{__P(…)}}"
        ));
    }
}

/// Whether the terminal is to show a screen.
fn wants_screen(request: &RunRequest) -> Result<bool, Refusal> {
    match (request.live.view, terminal_view::reason_against()) {
        (View::Lines, _) => Ok(false),
        // Whoever types JMeter's command line expects JMeter's lines.
        (View::Auto, why) => Ok(why.is_none() && !request.as_jmeter),
        (View::Screen, None) => Ok(true),
        (View::Screen, Some(why)) => Err(Refusal(Exit::Usage, format!("--view screen: {why}"))),
    }
}

/// Writes what is made at the end and prints the result; tells what became of it.
fn finish(
    request: &RunRequest,
    manifest: &Manifest,
    dir: &RunDir,
    main: &CsvOutput,
    log_path: &Path,
    started: &Started,
    totals: &RunTotals,
    judge: Option<Watch>,
    failure: Option<String>,
) -> Result<Results, Refusal> {
    let (mut lost, mut unjudged) = (!totals.events.is_empty(), false);
    let mut summary = Summary::new(RunFacts::from_manifest(manifest), totals);
    let mut written = vec![main.path.display().to_string()];
    let listeners =
        started.listeners.iter().map(|file| &file.path).filter(|path| !path.as_os_str().is_empty());
    written.extend(listeners.map(|path| path.display().to_string()));
    let mut complain_of = |error: &(dyn std::error::Error + 'static)| {
        say(&format!("warning: {}", chain(error)));
        lost = true;
    };
    if let Err(error) = dir.write_manifest(manifest) {
        complain_of(&error);
    }
    if let Err(error) = add_arrivals(dir, &mut summary) {
        complain_of(&error);
    }
    if let Some(judge) = judge {
        match judge.finish(dir, &summary, &request.thresholds.criteria) {
            Ok(results) => {
                summary.thresholds = results;
                // A run that came to its end meanwhile was stopped by nobody.
                let stopped = summary.run.stopped_by.is_some();
                summary.thresholds.iter_mut().for_each(|threshold| threshold.stopped_run &= stopped);
            }
            Err(error) => {
                say(&format!("warning: {error}"));
                // What could not be judged is not kept.
                unjudged = true;
            }
        }
    }
    match write_reports(dir, &summary) {
        Ok(paths) => written.extend(paths.iter().map(|path| path.display().to_string())),
        Err(error) => complain_of(&error),
    }
    if let Some(dashboard) = &request.dashboard {
        match write_dashboard(dashboard, &summary) {
            Ok(paths) => written.extend(paths.iter().map(|path| path.display().to_string())),
            Err(error) => complain_of(&error),
        }
    }
    make_private(dir);
    let (paths, failures) = request.thresholds.write(&dir.path().display().to_string(), &summary);
    written.extend(paths.iter().map(|path| path.display().to_string()));
    for error in &failures {
        say(&format!("warning: {error}"));
        lost = true;
    }
    written.push(log_path.display().to_string());
    let on_terminal = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let colour = on_terminal && std::env::var_os("NO_COLOR").is_none();
    let look = Look { width: if on_terminal { progress::columns() } else { None }, colour };
    exit::print(&end_of_run(&summary, request.show, &written, look));
    if request.as_jmeter {
        exit::print("... end of run\n");
    }
    if let Some(failure) = failure {
        say(&format!("error: {failure}"));
    }
    if let Some(error) = &summary.run.error {
        say(&format!("error: the run was stopped by an error: {error}"));
    }
    let nothing_sent = totals.total.samples == 0 && summary.run.generator.interrupted_samples == 0;
    if nothing_sent && matches!(summary.run.end, Some(RunEnd::Completed | RunEnd::StoppedByPlan)) {
        say(&format!(
            "error: no request was sent: every user ended before its first sampler\n  hint: {} may say why",
            log_path.display()
        ));
    }
    Ok(Results { lost, failed: unjudged || Thresholds::failed(&summary), nothing_sent })
}

/// An error and its causes in one line, with what to do about an error of the system.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    if let Some(hint) = io_hints::hint_in_chain(error) {
        text.push_str("; ");
        text.push_str(hint);
    }
    text
}
