//! A run in progress.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_analysis::thresholds::{Judge, ThresholdStop};
use busyhour_compile::Started;
use busyhour_engine::runner::{self, RunReport};
use busyhour_export::{NowMs, ScrapeServer, TimeOrigin, UsersSoFar};
use busyhour_program::run::{JmeterProperties, LogLevel, RunShared};
use busyhour_record::{JtlColumn, Recorder, RecorderConfig};
use busyhour_sample::{BatchWriter, IntervalCounts, Live, RunEnd, SnapshotSender};

use crate::control::{ControlledRun, RunControl};
use crate::error::LaunchError;
use crate::event::RunEvent;
use crate::exports::{ExportedRun, start_exports};
use crate::files::make_private;
use crate::finished::{FinishedRun, RecordedRun};
use crate::notes::{empty_share, missed_starts, script_caveats};
use crate::observers::Observers;
use crate::order::RunPhase;
use crate::outcome::{Ending, outcome};
use crate::prepare::{Prepared, unread};
use crate::seconds::Seconds;
use crate::supervision::{Deadlines, Supervisor};
use crate::system;
use crate::users::RunUserCounts;

/// The property with the maximum number of bytes of all response bodies in the process.
const BODY_MEMORY_PROPERTY: &str = "busyhour.body_memory";

type Engine = JoinHandle<std::io::Result<RunReport>>;

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
        let observers = self.observers.clone();
        let handle = start(self);
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

fn start(mut prepared: Prepared) -> Result<RunHandle, LaunchError> {
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
    let (recorder, mut writers) = start_recorder(&prepared, sender)?;
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
        Supervisor::watch(&prepared, recorder.live_reader()).map_err(thread("the supervision"))?;
    let cpu_before = system::CpuTimes::now();
    let engine = start_engine(started, writers, control, observers).map_err(thread("the engine"))?;
    Ok(RunHandle { recorder, engine, seconds, supervisor, deadlines, servers, cpu_before, prepared })
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
        writers: info.cores,
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

/// Starts the engine on a thread. The thread reports its end.
fn start_engine(
    started: &Started,
    writers: Vec<BatchWriter>,
    control: &RunControl,
    observers: &Observers,
) -> std::io::Result<Engine> {
    let (program, shared, labels) =
        (Arc::clone(&started.program), Arc::clone(&started.shared), started.labels.clone());
    let (control, observers) = (control.clone(), observers.clone());
    std::thread::Builder::new().name("engine".into()).spawn(move || {
        // The end is reported even if the engine panics.
        let _end = EndOfEngine { control, observers };
        runner::run(&program, &shared, &labels, writers)
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
        self.recorder.live()
    }

    /// The numbers of users now.
    #[must_use]
    pub fn users(&self) -> RunUserCounts {
        RunUserCounts::of(&self.prepared.started.shared)
    }

    /// The counts since the last call, and those of the whole run, for JMeter's summary lines.
    #[must_use]
    pub fn take_interval(&self) -> (IntervalCounts, IntervalCounts) {
        self.recorder.take_summary(self.prepared.started.shared.clock.now())
    }

    /// Waits for the end of the run, evaluates the run and writes its files. It does not stop the run; [`RunControl`] does.
    #[must_use]
    pub fn wait(self) -> FinishedRun {
        let Self { prepared, recorder, engine, seconds, supervisor, deadlines, servers, cpu_before } = self;
        let Prepared { request, control, observers, started, dir, main, log, log_path, .. } = &prepared;
        let result = engine.join();
        // Later requests do not stop the run, because it has ended.
        let requested = control.requested();
        let cpu_stolen =
            cpu_before.zip(system::CpuTimes::now()).and_then(|(before, now)| now.stolen_since(before));
        let backed_off = supervisor.end();
        let (totals, last_interval, all_intervals) = recorder.finish_with_summary();
        if !totals.events.is_empty() {
            observers.emit(RunEvent::FileLost { failures: totals.events.len() });
        }
        let judge = seconds.and_then(Seconds::finish);
        let (report, failure) = engine_result(result, log_path);
        let stopped_by = control.stopping_threshold();
        let ending = Ending { requested, by_threshold: stopped_by.is_some(), has_failed: failure.is_some() };
        let mut outcome = outcome(&report, started, &ending, &totals);
        outcome.generator.cpu_stolen = cpu_stolen;
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
            last_interval,
            all_intervals,
            users: RunUserCounts::of(&started.shared),
        };
        recorded.finish()
    }
}

/// Returns the report of the engine, and a message if the engine or users failed.
fn engine_result(
    result: std::thread::Result<std::io::Result<RunReport>>,
    log_path: &std::path::Path,
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
