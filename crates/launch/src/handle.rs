//! A run in progress.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_analysis::thresholds::{Judge, ThresholdStop};
use busyhour_engine::runner;
use busyhour_export::{NowMs, ScrapeServer, TimeOrigin, UsersSoFar};
use busyhour_program::run::{JmeterProperties, LogLevel, RunShared};
use busyhour_record::{JtlColumn, LiveFigures, PlanNote, Recorder, RecorderConfig, RunOutcome};
use busyhour_sample::{BatchWriter, IntervalCounts, Live, RunEnd, SnapshotSender};

use crate::control::{ControlledRun, RunControl};
use crate::error::LaunchError;
use crate::event::RunEvent;
use crate::exports::{ExportedRun, start_exports};
use crate::files::make_private;
use crate::finished::{FinishedRun, RecordedRun};
use crate::generator::{Generated, RemoteFacts, RemoteGenerator, RemoteRun};
use crate::notes::{empty_share, missed_starts, script_caveats};
use crate::observers::Observers;
use crate::order::RunPhase;
use crate::outcome::{Ending, outcome};
use crate::prepare::{Prepared, unread};
use crate::quota::QuotaUse;
use crate::seconds::Seconds;
use crate::supervision::{Deadlines, Supervisor};
use crate::system;
use crate::users::RunUserCounts;

/// The property with the maximum number of bytes of all response bodies in the process.
const BODY_MEMORY_PROPERTY: &str = "busyhour.body_memory";

type Engine = JoinHandle<std::io::Result<Generated>>;

/// A run in progress. Dropping the handle does not stop the run, but the run directory then has no outcome and no report.
/// [`RunHandle::wait`] waits for the end and writes them.
pub struct RunHandle {
    prepared: Prepared,
    recorder: Recorder,
    engine: Engine,
    seconds: Option<Seconds>,
    supervisor: Supervisor,
    deadlines: Deadlines,
    servers: Vec<ScrapeServer>,
    cpu_before: Option<system::CpuTimes>,
    quota_before: QuotaUse,
    figures: LiveFigures,
}

impl std::fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHandle").field("info", self.prepared.info()).finish_non_exhaustive()
    }
}

impl Prepared {
    /// Starts the run: observers, recorder and users.
    ///
    /// # Errors
    /// A file cannot be opened, or a thread cannot be started. In this case, all events have been delivered to the
    /// observers.
    pub fn start(self) -> Result<RunHandle, LaunchError> {
        self.start_with(None)
    }

    /// Starts the run: other machines generate its load, and this process records it.
    ///
    /// # Errors
    /// As for [`Prepared::start`].
    pub fn start_remote(self, generator: Box<dyn RemoteGenerator>) -> Result<RunHandle, LaunchError> {
        self.start_with(Some(generator))
    }

    fn start_with(self, remote: Option<Box<dyn RemoteGenerator>>) -> Result<RunHandle, LaunchError> {
        let observers = self.observers.clone();
        let handle = start(self, remote);
        if handle.is_err() {
            observers.abandon();
        }
        handle
    }
}

/// Lists the files of observers in the manifest, before the observers create them.
fn declare_parts(prepared: &mut Prepared) -> Result<(), LaunchError> {
    let added = prepared.observers.parts();
    if added.is_empty() {
        return Ok(());
    }
    for part in added {
        let is_taken = prepared.manifest.parts.iter().any(|known| known.kind == part.kind);
        if is_taken || !part.is_inside() {
            let reason =
                if is_taken { "another part has the same kind" } else { "it is not in the run directory" };
            prepared
                .observers
                .warn(format!("the manifest does not list the part {} ({}): {reason}", part.kind, part.file));
        } else {
            prepared.manifest.parts.push(part);
        }
    }
    Ok(prepared.dir.write_manifest(&prepared.manifest)?)
}

fn start(mut prepared: Prepared, remote: Option<Box<dyn RemoteGenerator>>) -> Result<RunHandle, LaunchError> {
    declare_parts(&mut prepared)?;
    let Prepared { request, control, observers, started, .. } = &prepared;
    limit_body_memory(&started.shared.properties);
    let servers = start_exports(&request.exports, &exported_run(&prepared), observers)?;
    let thread = |what| move |source| LaunchError::Thread { what, source };
    let needs_seconds = observers.need_seconds() || !request.thresholds.is_empty();
    let (seconds, sender) = match needs_seconds {
        true => {
            let judge = Judge::new(request.thresholds.clone());
            let (seconds, sender) =
                Seconds::follow(judge, observers, control).map_err(thread("the seconds"))?;
            (Some(seconds), Some(sender))
        }
        false => (None, None),
    };
    // The seconds of a remote run come from its generators, those of a local run from the recorder.
    let (of_recorder, of_generator) = if remote.is_some() { (None, sender) } else { (sender, None) };
    let writers = remote.as_ref().map(|generator| generator.writers());
    let (recorder, mut writers) = start_recorder(&prepared, of_recorder, writers)?;
    let figures = if remote.is_some() { LiveFigures::default() } else { recorder.figures() };
    if request.has_secret_url && !prepared.main.config.shown.has(JtlColumn::Url) {
        writers.iter_mut().for_each(BatchWriter::omit_urls);
    }
    control.attach(ControlledRun {
        shared: Arc::clone(&started.shared),
        length: prepared.info.length,
        fixed_rate: prepared.info.fixed_rate.clone(),
        dir: prepared.dir.clone(),
        manifest: prepared.manifest.clone(),
        observers: observers.clone(),
    });
    if let Some(warning) = make_private(&prepared.dir) {
        observers.warn(warning);
    }
    observers.start(prepared.info.clone());
    observers.emit(RunEvent::PhaseChanged(control.phase()));
    let deadlines = Deadlines::watch(control).map_err(thread("the deadlines"))?;
    let supervisor =
        Supervisor::watch(&prepared, figures.clone(), remote.is_none()).map_err(thread("the supervision"))?;
    let cpu_before = system::CpuTimes::now();
    let quota_before = QuotaUse::now();
    let run = RemoteRun {
        shared: Arc::clone(&started.shared),
        labels: started.labels.clone(),
        writers,
        seconds: of_generator,
        figures: figures.clone(),
        control: control.clone(),
        open_groups: started
            .program
            .open
            .iter()
            .map(|open| open.groups.iter().map(|(group, _)| *group).collect())
            .collect(),
    };
    let engine = match remote {
        Some(generator) => start_thread(control, observers, move || Ok(generator.generate(run))),
        None => start_engine(&prepared, run),
    };
    let engine = engine.map_err(thread("the engine"))?;
    Ok(RunHandle {
        recorder,
        engine,
        seconds,
        supervisor,
        deadlines,
        servers,
        cpu_before,
        quota_before,
        figures,
        prepared,
    })
}

/// Limits the memory for response bodies to the number of bytes in the property, or to half of the memory that this process
/// may use.
fn limit_body_memory(properties: &JmeterProperties) {
    let asked = properties.get(BODY_MEMORY_PROPERTY).and_then(|text| text.trim().parse().ok());
    let bytes = asked.or_else(|| system::available_memory().map(|bytes| bytes / 2));
    if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) {
        busyhour_program::body_memory::limit_body_memory(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
}

fn exported_run(prepared: &Prepared) -> ExportedRun<'_> {
    let Prepared { started, manifest, .. } = prepared;
    let title = [&manifest.plan.name, &manifest.plan.path].into_iter().find(|name| !name.is_empty());
    ExportedRun {
        listeners: &started.backends,
        title: title.map_or("run", String::as_str),
        origin: TimeOrigin { wall_anchor_ms: manifest.wall_anchor_ms },
        now_ms: now_ms(&started.shared),
        users: user_counts(&started.shared),
        series: prepared.series.clone(),
    }
}

/// Returns a function that reads the numbers of started and finished users.
fn user_counts(shared: &Arc<RunShared>) -> UsersSoFar {
    let shared = Arc::clone(shared);
    Arc::new(move || Some((shared.started.load(Relaxed), shared.finished.load(Relaxed))))
}

/// Returns a function that reads the clock of the run, in milliseconds since 1970.
fn now_ms(shared: &Arc<RunShared>) -> NowMs {
    let clock = shared.clock.clone();
    Arc::new(move || i64::try_from(clock.wall_ms(clock.now())).unwrap_or(i64::MAX))
}

fn start_recorder(
    prepared: &Prepared,
    seconds: Option<SnapshotSender>,
    remote_writers: Option<usize>,
) -> Result<(Recorder, Vec<BatchWriter>), LaunchError> {
    let Prepared { started, manifest, dir, main, control, observers, info, .. } = prepared;
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: started.names.clone(),
        labels: started.labels.clone(),
        wall_anchor_ms: manifest.wall_anchor_ms,
        main: Some(main.clone()),
        listeners: started.listeners.clone(),
        listener_sets: started.listener_sets.clone(),
        writers: remote_writers.unwrap_or(info.cores),
        batches: remote_writers.map_or_else(|| RecorderConfig::default().batches, remote_batches),
        observers: seconds.into_iter().collect(),
        apdex: prepared.apdex,
        pipes: control.pipes(),
        ..RecorderConfig::default()
    };
    if system::is_pipe(&main.path) {
        let path = main.path.display();
        observers.emit(RunEvent::Notice(format!("waiting for a program that reads the pipe {path}")));
    }
    Recorder::start(config).map_err(|error| match control.is_requested() {
        true => LaunchError::Stopped(error),
        false => LaunchError::Recorder(error),
    })
}

/// Number of batches of each writer of a remote run. The writers are used one after the other, so a few are enough.
fn remote_batches(writers: usize) -> usize {
    (256 / writers.max(1)).clamp(2, 16)
}

/// Starts the engine of this process.
fn start_engine(prepared: &Prepared, run: RemoteRun) -> std::io::Result<Engine> {
    let (program, log_path) = (Arc::clone(&prepared.started.program), prepared.log_path.clone());
    start_thread(&prepared.control, &prepared.observers, move || {
        let report = runner::run(&program, &run.shared, &run.labels, run.writers)?;
        Ok(Generated::local(report, &log_path))
    })
}

/// Starts the generator on a thread. The thread reports its end.
fn start_thread(
    control: &RunControl,
    observers: &Observers,
    generate: impl FnOnce() -> std::io::Result<Generated> + Send + 'static,
) -> std::io::Result<Engine> {
    let (control, observers) = (control.clone(), observers.clone());
    std::thread::Builder::new().name("engine".into()).spawn(move || {
        // The end is reported even if the generator panics.
        let _end = EndOfEngine { control, observers };
        generate()
    })
}

/// Reports the end of the engine when it is dropped.
struct EndOfEngine {
    control: RunControl,
    observers: Observers,
}

impl Drop for EndOfEngine {
    fn drop(&mut self) {
        self.control.engine_ended();
        self.observers.emit(RunEvent::PhaseChanged(RunPhase::Ended));
    }
}

impl RunHandle {
    /// The control of the run.
    #[must_use]
    pub fn control(&self) -> &RunControl {
        &self.prepared.control
    }

    /// Whether all users have ended. An observer is notified of this by [`RunEvent::PhaseChanged`].
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.engine.is_finished()
    }

    /// Time since the start of the run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.prepared.started.shared.clock.now().as_duration()
    }

    /// The figures of the run so far.
    #[must_use]
    pub fn live(&self) -> Live {
        self.figures.live()
    }

    /// The numbers of users now.
    #[must_use]
    pub fn users(&self) -> RunUserCounts {
        RunUserCounts::of(&self.prepared.started.shared)
    }

    /// The counts since the last call, and those of the whole run, for JMeter's summary lines.
    #[must_use]
    pub fn take_interval(&self) -> (IntervalCounts, IntervalCounts) {
        self.figures.take_summary(self.prepared.started.shared.clock.now())
    }

    /// Waits for the end of the run, evaluates the run and writes its files. It does not stop the run; [`RunControl`] does.
    #[must_use]
    pub fn wait(self) -> FinishedRun {
        let Self {
            prepared,
            recorder,
            engine,
            seconds,
            supervisor,
            deadlines,
            servers,
            cpu_before,
            quota_before,
            figures,
        } = self;
        let Prepared { request, control, observers, started, dir, main, log, log_path, .. } = &prepared;
        let result = engine.join();
        // Later requests do not stop the run, because it has ended.
        let requested = control.requested();
        let cpu_stolen =
            cpu_before.zip(system::CpuTimes::now()).and_then(|(before, now)| now.stolen_since(before));
        let cpu_throttled = QuotaUse::now().throttled_since(&quota_before);
        let backed_off = supervisor.end();
        let (totals, _, all_intervals) = recorder.finish_with_summary();
        let last_interval = figures.live().delta;
        if !totals.events.is_empty() {
            observers.emit(RunEvent::FileLost { failures: totals.events.len() });
        }
        let judge = seconds.and_then(Seconds::finish);
        let Generated { report, remote, failure } = engine_result(result);
        let stopped_by = control.stopping_threshold();
        let ending = Ending { requested, by_threshold: stopped_by.is_some(), has_failed: failure.is_some() };
        let mut outcome = outcome(&report, started, &ending, &totals);
        outcome.generator.cpu_stolen = cpu_stolen;
        outcome.generator.cpu_throttled = cpu_throttled;
        let lacks_results = remote.as_ref().is_some_and(|facts| facts.is_incomplete);
        let (remote_notes, lost_load) =
            remote.map(|facts| use_remote_facts(&mut outcome, facts)).unwrap_or_default();
        let end = outcome.end;
        let empty_share = empty_share(&request.share, &outcome);
        if let Some(note) = &empty_share {
            observers.emit(RunEvent::Notice(note.message.clone()));
        }
        // An earlier stop request takes precedence over the threshold as the recorded reason.
        let is_threshold = |_: &ThresholdStop| end == RunEnd::StoppedByThreshold;
        outcome.stopped_by = stopped_by.clone().filter(is_threshold).map(|stop| stop.text);
        let mut warnings = observers.end(end, || control.is_forced());
        warnings.iter().for_each(|failure| log.write(LogLevel::Warn, failure));
        drop(servers);
        deadlines.end();
        let mut manifest = control.end().unwrap_or_else(|| prepared.manifest.clone());
        manifest.notes.extend(missed_starts(&started.shared));
        manifest.notes.extend(script_caveats(&started.shared));
        manifest.notes.extend(backed_off);
        manifest.notes.extend(remote_notes);
        let is_empty_share = empty_share.is_some();
        manifest.notes.extend(empty_share);
        manifest.outcome = Some(outcome);
        log.write(LogLevel::Info, &format!("the run ended: {end:?}"));
        let lost_lines = log.flush();
        if lost_lines > 0 {
            let path = log_path.display();
            warnings.push(format!("{lost_lines} lines could not be written to {path} in time"));
        }
        let unused =
            unread(request, &started.shared.properties).filter(|name| !prepared.unread.contains(name));
        warnings.extend(unused.map(|name| {
            format!("the property {name} of -J was never used\n  hint: compare its name with the plan's ${{__P(…)}}")
        }));
        let recorded = RecordedRun {
            dir: dir.clone(),
            manifest,
            main,
            started,
            totals: &totals,
            criteria: &request.thresholds,
            judge,
            log: log_path,
            stopped_by,
            failure,
            warnings,
            is_empty_share,
            lost_load,
            lacks_results,
            last_interval,
            all_intervals,
            users: RunUserCounts::of(&started.shared),
        };
        recorded.finish()
    }
}

/// Replaces the facts of this process, which generated no load, with those of the generators. Returns their notes, and the part of the load
/// that is missing.
fn use_remote_facts(outcome: &mut RunOutcome, facts: RemoteFacts) -> (Vec<PlanNote>, Option<String>) {
    outcome.generator = facts.generator;
    outcome.arrivals = facts.arrivals;
    outcome.users_without_load = facts.users_without_load;
    (facts.notes, facts.lost_load)
}

/// Returns what the generator generated, with a message if it failed.
fn engine_result(result: std::thread::Result<std::io::Result<Generated>>) -> Generated {
    let failed = |failure: String| Generated { failure: Some(failure), ..Generated::default() };
    match result {
        Ok(Ok(generated)) => generated,
        Ok(Err(error)) => failed(format!("the engine could not start: {error}")),
        Err(_) => failed("the engine failed; the results recorded so far are kept".to_owned()),
    }
}
