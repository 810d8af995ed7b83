//! The thread of an agent's run: it prepares the run, starts it on order, and waits for its end.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use busyhour_diagnostic::io_hints::chain;
use busyhour_launch::allows;
use busyhour_launch::{
    FinishedRun, Launch, Prepared, RunControl, RunEvent, RunObserver, RunRequest, RunUserCounts,
};
use busyhour_program::clock::Clock;
use busyhour_program::phase::Phase;
use busyhour_record::RunDir;
use busyhour_sample::{Nanos, Snapshot};
use tokio::sync::mpsc::UnboundedSender;

use super::gate::Gate;
use super::plan_files;
use super::reports::ReportQueue;
use super::settings::AgentSettings;
use crate::messages::{EndReport, FileFact, PrepareOrder, Report};
use crate::parts::{create_private_dir, file_fact};

/// Maximum number of messages of a run that are passed on.
const SAID_MAX: u32 = 200;

/// An event of the thread.
pub(super) enum ThreadEvent {
    /// The run is prepared.
    Prepared(PreparedRun),
    /// The run cannot be prepared or started.
    Failed(String),
    /// The run has ended.
    Ended(Box<EndReport>),
}

/// A prepared run, as the agent controls it.
pub(super) struct PreparedRun {
    pub(super) clock: Clock,
    pub(super) control: RunControl,
    pub(super) gate: Gate,
    pub(super) users: Box<dyn Fn() -> RunUserCounts + Send + Sync>,
    /// Lets the run join a load that has started.
    pub(super) join: Box<dyn Fn(Nanos) + Send + Sync>,
}

/// The thread's surroundings.
pub(super) struct RunThread {
    pub(super) client: async_nats::Client,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) run: String,
    pub(super) settings: std::sync::Arc<AgentSettings>,
    /// The directory of the run.
    pub(super) dir: PathBuf,
    pub(super) reports: ReportQueue,
    pub(super) events: UnboundedSender<ThreadEvent>,
    /// Receives the order to begin; it is closed if the run is abandoned.
    pub(super) begin: Receiver<()>,
}

impl RunThread {
    /// Prepares, starts and ends the run.
    pub(super) fn execute(self, order: PrepareOrder) {
        let event = match self.run(order) {
            Ok(Some(report)) => ThreadEvent::Ended(Box::new(report)),
            Ok(None) => return,
            Err(reason) => ThreadEvent::Failed(reason),
        };
        let _ = self.events.send(event);
    }

    /// Returns the end of the run; `None` if it was abandoned before it began.
    fn run(&self, order: PrepareOrder) -> Result<Option<EndReport>, String> {
        let PrepareOrder { request, files, origin_ns, wall_start_ms, phase_ms, grace_ms, joins, .. } = order;
        let observation = order.observe;
        let clock = Clock::with_origin(origin_ns, wall_start_ms)
            .ok_or("the run started before this machine was started")?;
        let plan_dir = self.dir.join("plan");
        create_private_dir(&plan_dir)
            .map_err(|error| format!("cannot use {}: {error}", self.dir.display()))?;
        let cache = self.settings.dir.join("files");
        self.runtime.block_on(plan_files::provide(&self.client, &self.run, &files, &cache, &plan_dir))?;
        let _working = WorkingDirectory::enter(&plan_dir)
            .map_err(|error| format!("cannot use {}: {error}", plan_dir.display()))?;
        let request = self.request(request, &plan_dir);
        let waits = request.share.is_first();
        let control = RunControl::new(Duration::from_millis(grace_ms));
        let mut launch = Launch::with_control(request, control.clone());
        launch.use_clock(clock.clone());
        let observer =
            Passing { reports: self.reports.clone(), phase: Duration::from_millis(phase_ms), said: 0 };
        launch.observe("the controller", Box::new(observer)).map_err(|error| chain(&error))?;
        let prepared = launch.prepare().map_err(|error| chain(&error))?;
        self.check_hosts(&prepared)?;
        let waits_for_tear_down = waits && prepared.has_groups(Phase::TearDown);
        let gate =
            Gate::new(prepared.jmeter_properties().clone(), waits_for_tear_down, joins, self.reports.clone());
        prepared.hold_phases(std::sync::Arc::new(gate.clone()));
        let (users, join) = (prepared.user_counts(), prepared.joining());
        if let Some(observe) = &self.settings.observe {
            observe.start(&prepared, observation)?;
        }
        let _ = self.events.send(ThreadEvent::Prepared(PreparedRun { clock, control, gate, users, join }));
        if self.begin.recv().is_err() {
            return Ok(None);
        }
        let finished = prepared.start().map_err(|error| chain(&error))?.wait();
        Ok(Some(end_report(finished)))
    }

    /// The request of this agent.
    fn request(&self, request: RunRequest, plan_dir: &Path) -> RunRequest {
        let name = request.plan.file_name().map_or_else(|| "plan.jmx".into(), PathBuf::from);
        RunRequest {
            plan: plan_dir.join(name),
            dir: Some(self.dir.join("record")),
            cores: self.settings.cores,
            ..request
        }
    }

    /// Refuses a plan whose known hosts are not all allowed.
    fn check_hosts(&self, prepared: &Prepared) -> Result<(), String> {
        let allowed = &self.settings.allowed_hosts;
        let refused = prepared.info().targets.iter().find(|target| !allows(allowed, &target.host));
        match refused {
            Some(target) => Err(format!(
                "the plan sends requests to {}, which this agent does not allow (--allow-host)",
                target.host
            )),
            None => Ok(()),
        }
    }
}

/// The report of a run that has ended.
fn end_report(run: FinishedRun) -> EndReport {
    let mut report = EndReport {
        failure: run.failure,
        is_incomplete: run.is_incomplete,
        dir: run.dir.path().display().to_string(),
        notes: run.manifest.notes.clone(),
        files: record_files(&run.dir, run.manifest.parts.iter().map(|part| part.file.as_str())),
        ..EndReport::default()
    };
    if let Some(outcome) = run.manifest.outcome {
        report.outcome = outcome;
    }
    report
}

/// The files of a run directory that the controller fetches.
fn record_files<'p>(dir: &RunDir, parts: impl Iterator<Item = &'p str>) -> Vec<FileFact> {
    let fixed = ["run.json", "run.log", "summary.json", "report.html", "plan.jmx"];
    let mut names: Vec<&str> = fixed.into_iter().chain(parts).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| file_fact(dir.path(), name).ok()).collect()
}

/// The working directory of the process during a run. Plans and functions look for files there first, as in JMeter.
struct WorkingDirectory {
    before: PathBuf,
}

impl WorkingDirectory {
    fn enter(dir: &Path) -> std::io::Result<WorkingDirectory> {
        let before = std::env::current_dir()?;
        std::env::set_current_dir(dir)?;
        Ok(WorkingDirectory { before })
    }
}

impl Drop for WorkingDirectory {
    fn drop(&mut self) {
        let _ = std::env::set_current_dir(&self.before);
    }
}

/// Passes the seconds and messages of the run to the controller.
struct Passing {
    reports: ReportQueue,
    phase: Duration,
    said: u32,
}

impl RunObserver for Passing {
    fn second(
        &mut self,
        snapshot: &Snapshot,
        _thresholds: &[busyhour_analysis::thresholds::ThresholdResult],
    ) {
        self.reports.send_second(Report::Second { snapshot: Box::new(snapshot.clone()) }, self.phase);
    }

    fn event(&mut self, event: &RunEvent) {
        let text = match event {
            RunEvent::Warning(text) | RunEvent::Notice(text) => text.clone(),
            RunEvent::BackedOff(true) => "every request fails; users wait after each failure".to_owned(),
            RunEvent::FileLost { .. } => "results cannot be written".to_owned(),
            _ => return,
        };
        if self.said < SAID_MAX {
            self.said += 1;
            self.reports.send(Report::Said { text });
        }
    }
}
