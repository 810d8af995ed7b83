//! Runs started as a program would start them.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use busyhour_analysis::thresholds::{Criterion, Meaning, ThresholdResult};
use busyhour_launch::{
    Command, CommandHandler as _, CommandRefused, CommandSource, Launch, LaunchErrorKind, ObserverError,
    PropertySources, RunEnded, RunEvent, RunInfo, RunObserver, RunPhase, RunRequest,
};
use busyhour_record::{Manifest, RunDir, RunPart};
use busyhour_sample::{RunEnd, Snapshot};
use busyhour_standin::StandIn;

/// A call that an observer received.
#[derive(Debug, PartialEq)]
enum Called {
    Started(PathBuf),
    Second { second: u64, requests: u64, thresholds: usize },
    Event(String),
    Ended(RunEnd),
}

struct Recording(Sender<Called>);

impl Recording {
    fn note(&self, called: Called) {
        let _ = self.0.send(called);
    }
}

impl RunObserver for Recording {
    fn started(&mut self, run: &RunInfo) {
        self.note(Called::Started(run.dir.clone()));
    }

    fn second(&mut self, snapshot: &Snapshot, thresholds: &[ThresholdResult]) {
        let requests = snapshot.total().samples;
        self.note(Called::Second { second: snapshot.second, requests, thresholds: thresholds.len() });
    }

    fn event(&mut self, event: &RunEvent) {
        self.note(Called::Event(match event {
            RunEvent::Finding(finding) => format!("finding {}", finding.code),
            RunEvent::PhaseChanged(phase) => phase.name().into(),
            RunEvent::Warning(text) | RunEvent::Notice(text) => text.clone(),
            other => format!("{other:?}"),
        }));
    }

    fn ended(&mut self, run: &RunEnded) -> Result<(), ObserverError> {
        self.note(Called::Ended(run.end));
        Ok(())
    }
}

fn observed(request: RunRequest) -> (Launch, Receiver<Called>) {
    let (calls, received) = channel();
    let mut launch = Launch::new(request);
    launch.observe("the test", Box::new(Recording(calls))).unwrap();
    (launch, received)
}

/// One request after another for some seconds.
fn request(server: &StandIn, dir: &Path, seconds: u32) -> RunRequest {
    let property = |name: &str, value: u32| (name.to_owned(), value.to_string());
    RunRequest {
        plan: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/one-request.jmx"),
        properties: PropertySources {
            jmeter: vec![property("PORT", server.port().into()), property("DURATION", seconds)],
            ..PropertySources::default()
        },
        dir: Some(dir.join("run")),
        cores: Some(1),
        ..RunRequest::default()
    }
}

/// The observer of the recipe.
struct RequestsPerSecond {
    file: BufWriter<File>,
    first_error: Option<io::Error>,
}

impl RunObserver for RequestsPerSecond {
    fn second(&mut self, snapshot: &Snapshot, _thresholds: &[ThresholdResult]) {
        let written = writeln!(self.file, "{},{}", snapshot.second, snapshot.total().samples);
        self.first_error = self.first_error.take().or(written.err());
    }

    fn ended(&mut self, _run: &RunEnded) -> Result<(), ObserverError> {
        self.file.flush()?;
        match self.first_error.take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

#[test]
fn a_run_is_observed_from_beginning_to_end() {
    let (server, room) = (StandIn::start_application().unwrap(), tempfile::tempdir().unwrap());
    let threshold = Criterion::parse("errors < 1%", Meaning::Require).unwrap();
    let request = RunRequest { thresholds: vec![threshold], ..request(&server, room.path(), 2) };
    let (mut launch, calls) = observed(request);
    let list = room.path().join("seconds.csv");
    let file = BufWriter::new(File::create(&list).unwrap());
    launch.observe("the list", Box::new(RequestsPerSecond { file, first_error: None })).unwrap();
    let run = launch.prepare().unwrap().start().unwrap().wait();

    assert_eq!(
        (run.end(), run.has_failed_thresholds(), run.is_incomplete),
        (RunEnd::Completed, false, false)
    );
    assert_eq!(run.warnings, Vec::<String>::new());
    assert!(run.files.iter().chain([&run.log]).all(|file| file.is_file()), "{:?}", run.files);
    assert_eq!(run.dir.read_manifest().unwrap(), run.manifest);
    let calls: Vec<Called> = calls.into_iter().collect();
    assert_eq!(calls[0], Called::Started(room.path().join("run")));
    assert_eq!(calls[1], Called::Event("running".into()));
    assert_eq!(calls.last(), Some(&Called::Ended(RunEnd::Completed)));
    let seconds: Vec<(u64, u64)> = calls
        .iter()
        .filter_map(|called| match called {
            Called::Second { second, requests, thresholds: 1 } => Some((*second, *requests)),
            _ => None,
        })
        .collect();
    assert!(seconds.is_sorted_by_key(|(second, _)| *second) && seconds.len() >= 2, "{seconds:?}");
    let total: u64 = seconds.iter().map(|(_, requests)| requests).sum();
    assert_eq!(total, run.summary.total.samples);
    let lines: Vec<String> =
        seconds.iter().map(|(second, requests)| format!("{second},{requests}")).collect();
    assert_eq!(std::fs::read_to_string(list).unwrap().lines().collect::<Vec<_>>(), lines);
}

#[test]
fn orders_pause_and_stop_a_run() {
    let (server, room) = (StandIn::start_application().unwrap(), tempfile::tempdir().unwrap());
    let (launch, calls) = observed(request(&server, room.path(), 600));
    let control = launch.control().clone();
    let execute = |command| control.execute(command, CommandSource::Page);
    assert_eq!(execute(Command::Pause), Err(CommandRefused::NotStarted));
    let handle = launch.prepare().unwrap().start().unwrap();
    // The run sends requests when its first second arrives.
    let is_second = |called: &Called| matches!(called, Called::Second { .. });
    assert!(calls.iter().any(|called| is_second(&called)));
    assert!(matches!(execute(Command::Rate { factor: 2.0 }), Err(CommandRefused::FixedRate(_))));
    execute(Command::Pause).unwrap();
    assert_eq!(control.phase(), RunPhase::Paused);
    execute(Command::Resume).unwrap();
    execute(Command::Stop).unwrap();
    assert_eq!(execute(Command::Pause), Err(CommandRefused::Ending));
    let run = handle.wait();
    assert_eq!(run.end(), RunEnd::Interrupted);
    let changes: Vec<String> = run.manifest.events.iter().map(|event| event.description()).collect();
    assert_eq!(changes, ["the load was paused", "the load was resumed", "the run was stopped"]);
    assert_eq!(control.phase(), RunPhase::Ended);
    let phases: Vec<String> = calls
        .into_iter()
        .filter_map(|called| match called {
            Called::Event(text) if !text.contains(' ') => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(phases, ["paused", "running", "stopping", "ended"]);
}

#[test]
fn a_threshold_stops_a_run() {
    let (server, room) = (StandIn::start_application().unwrap(), tempfile::tempdir().unwrap());
    let threshold = Criterion::parse("hits>0 for 1s, stop as failed", Meaning::FailIf).unwrap();
    let request = RunRequest { thresholds: vec![threshold], ..request(&server, room.path(), 600) };
    let run = Launch::new(request).prepare().unwrap().start().unwrap().wait();
    assert_eq!(run.end(), RunEnd::StoppedByThreshold);
    assert!(run.stopped_by.as_ref().is_some_and(|stop| stop.failed) && run.has_failed_thresholds());
}

#[test]
fn a_stop_before_the_start_ends_the_run_at_once() {
    let (server, room) = (StandIn::start_application().unwrap(), tempfile::tempdir().unwrap());
    let launch = Launch::new(request(&server, room.path(), 600));
    launch.control().execute(Command::Interrupt, CommandSource::Program).unwrap();
    assert!(launch.control().waiting_since_request().is_some());
    let run = launch.prepare().unwrap().start().unwrap().wait();
    assert_eq!((run.end(), run.manifest.events.len()), (RunEnd::Interrupted, 0));
}

#[test]
fn a_refused_plan_is_an_error_after_its_findings() {
    let room = tempfile::tempdir().unwrap();
    let plan = room.path().join("plan.jmx");
    std::fs::write(&plan, "<jmeterTestPlan><hashTree>").unwrap();
    let dir = room.path().join("run");
    let (launch, calls) = observed(RunRequest { plan, dir: Some(dir.clone()), ..RunRequest::default() });
    let error = launch.prepare().unwrap_err();
    assert_eq!(error.kind(), LaunchErrorKind::Plan);
    assert!(error.to_string().contains("refused because of"), "{error}");
    let calls: Vec<Called> = calls.into_iter().collect();
    assert!(
        matches!(calls.as_slice(), [Called::Event(text), ..] if text.starts_with("finding ")),
        "{calls:?}"
    );
    assert!(!dir.exists());
    let missing = Launch::new(RunRequest { plan: "no such plan.jmx".into(), ..RunRequest::default() });
    assert_eq!(missing.prepare().unwrap_err().kind(), LaunchErrorKind::Plan);
}

/// An observer with files of its own.
struct Storing(Vec<RunPart>);

impl RunObserver for Storing {
    fn started(&mut self, run: &RunInfo) {
        std::fs::write(run.dir.join("resources.csv"), "second,cpu\n").unwrap();
    }

    fn parts(&self) -> Vec<RunPart> {
        self.0.clone()
    }
}

#[test]
fn files_of_observers_are_listed_in_the_manifest() {
    let (server, room) = (StandIn::start_application().unwrap(), tempfile::tempdir().unwrap());
    let (mut launch, calls) = observed(request(&server, room.path(), 1));
    let parts = [
        ("resources", "resources.csv"),
        ("samples", "other.bhs"),
        ("outside", "../outside"),
        ("unwritten", "unwritten.csv"),
    ];
    let parts = parts.map(|(kind, file)| RunPart::new(kind, file, 3)).to_vec();
    launch.observe("the probe", Box::new(Storing(parts))).unwrap();
    let handle = launch.prepare().unwrap().start().unwrap();
    // The manifest of a run that is killed now lists them, too.
    let dir = RunDir::open(room.path().join("run"));
    let listed = |manifest: &Manifest| {
        manifest.parts.iter().map(|part| (part.kind.clone(), part.file.clone())).collect::<Vec<_>>()
    };
    let expected = [
        ("samples", "samples.bhs"),
        ("histograms", "histograms.hlog"),
        ("resources", "resources.csv"),
        ("unwritten", "unwritten.csv"),
    ]
    .map(|(kind, file)| (kind.to_owned(), file.to_owned()));
    assert_eq!(listed(&dir.read_manifest().unwrap()), expected);
    handle.control().execute(Command::Stop, CommandSource::Program).unwrap();
    let finished = handle.wait();
    assert_eq!(finished.end(), RunEnd::Interrupted);
    let manifest = dir.read_manifest().unwrap();
    assert_eq!(listed(&manifest), expected[..3], "without a file that the observer did not write");
    assert!(manifest.outcome.is_some());
    let part = manifest.part("resources").unwrap();
    assert_eq!(
        (part.version, std::fs::read_to_string(dir.part_path(part)).unwrap().as_str()),
        (3, "second,cpu\n")
    );
    assert_eq!(manifest.part("outside"), None);
    let refused: Vec<String> = calls
        .iter()
        .filter_map(|call| match call {
            Called::Event(text) if text.starts_with("the manifest ") => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(
        refused,
        [
            "the manifest does not list the part samples (other.bhs): another part has the same kind",
            "the manifest does not list the part outside (../outside): it is not in the run directory"
        ]
    );
}
