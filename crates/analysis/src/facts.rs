//! Facts about a run other than its measurements.

use busyhour_record::{Manifest, OpenFacts, PlanNote, RequestDeadline, UrlPlanFacts};
use busyhour_sample::{
    ArrivalCounts, ChangedFrom, ControlEvent, GeneratorFacts, LoadChange, RecorderEvent, RunEnd,
};
use serde::{Deserialize, Serialize};

use crate::result_file::OtherTool;

/// Facts about a run other than its measurements: where it came from, how it ended, and on which generator it ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// The path of the plan as given on the command line; or that of the result file.
    pub source: String,
    /// The test plan's name.
    pub plan_name: String,
    /// SHA-256 of the plan.
    pub plan_sha256: String,
    /// The URL and the requested load, if the plan was made from a URL on the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_plan: Option<UrlPlanFacts>,
    /// The seed of all random choices; `None` when unknown.
    pub seed: Option<u64>,
    /// The share of the load that the run generated, such as `2/3` for the second of three equal parts; `None` for the whole
    /// load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<String>,
    /// The command line of the run.
    pub command_line: Vec<String>,
    /// The maximum time that one HTTP request was allowed to take; `None` when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_deadline: Option<RequestDeadline>,
    /// Version of Busyhour that made the run.
    pub busyhour: String,
    /// The generator's host.
    pub hostname: String,
    /// Processors of the generator; 0 when unknown.
    pub cpus: u32,
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Length of the run in seconds; `None` when unknown, in which case the span of its samples is used.
    pub duration_s: Option<f64>,
    /// How the run ended; `None` when it was cut off or the end is unknown.
    pub end: Option<RunEnd>,
    /// The threshold that stopped the run; `None` if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// The error that stopped the run; `None` if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Users that were started; `None` when unknown.
    pub users_started: Option<u64>,
    /// Users that finished; `None` when unknown.
    pub users_finished: Option<u64>,
    /// Started users that were not part of the load: those of setUp and tearDown thread groups, and of groups that sent no
    /// request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users_without_load: Option<u64>,
    /// Counts of the arrivals of open workloads by outcome; `None` for a run without open workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalCounts>,
    /// The open workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenFacts>,
    /// Changes that users made to the load during the run, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ControlEvent>,
    /// Facts about the generator.
    pub generator: GeneratorFacts,
    /// Errors of the recorder.
    pub recorder_events: Vec<RecorderEvent>,
    /// Caveats about the plan, found when it was compiled.
    pub notes: Vec<PlanNote>,
    /// The plan's timers that set a rate, by their JMeter names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate_timers: Vec<String>,
    /// Whether the record's tail is missing.
    pub record_tail_missing: bool,
    /// Where the record ends, for a run that was cut off before it recorded its outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_end: Option<RecordEnd>,
    /// The files that were read, if the results were given as files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputSummary>,
    /// The tool that wrote the files; `None` for JTL files and run directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_tool: Option<OtherTool>,
    /// Whether intended starts are missing from the record, so that response times equal service times.
    pub only_actual_starts: bool,
    /// Whether the run has a manifest, which should contain the outcome.
    pub has_manifest: bool,
}

impl RunFacts {
    /// Reads the facts from the manifest of a run.
    #[must_use]
    pub fn from_manifest(manifest: &Manifest) -> RunFacts {
        let outcome = manifest.outcome.as_ref();
        RunFacts {
            source: manifest.plan.path.clone(),
            plan_name: manifest.plan.name.clone(),
            plan_sha256: manifest.plan.sha256.clone(),
            url_plan: manifest.plan.url.clone(),
            seed: Some(manifest.seed),
            share: manifest.share.clone(),
            command_line: manifest.command_line.clone(),
            request_deadline: manifest.request_deadline,
            busyhour: manifest.busyhour.clone(),
            hostname: manifest.machine.hostname.clone(),
            cpus: manifest.machine.cpus,
            wall_anchor_ms: manifest.wall_anchor_ms,
            duration_s: outcome.map(|outcome| outcome.duration_ns as f64 / 1e9),
            end: outcome.map(|outcome| outcome.end),
            stopped_by: outcome.and_then(|outcome| outcome.stopped_by.clone()),
            error: outcome.and_then(|outcome| outcome.error.clone()),
            users_started: outcome.map(|outcome| outcome.users_started),
            users_finished: outcome.map(|outcome| outcome.users_finished),
            users_without_load: outcome.map(|outcome| outcome.users_without_load).filter(|users| *users > 0),
            arrivals: outcome.and_then(|outcome| outcome.arrivals),
            open: outcome.map(|outcome| outcome.open.clone()).unwrap_or_default(),
            events: manifest.events.clone(),
            generator: outcome.map(|outcome| outcome.generator.clone()).unwrap_or_default(),
            recorder_events: outcome.map(|outcome| outcome.recorder_events.clone()).unwrap_or_default(),
            notes: manifest.notes.clone(),
            rate_timers: manifest.rate_timers.clone(),
            record_tail_missing: false,
            record_end: None,
            inputs: Vec::new(),
            other_tool: None,
            only_actual_starts: false,
            has_manifest: true,
        }
    }

    /// Whether the run was stopped from the terminal view or from the live page; `None` otherwise.
    #[must_use]
    pub fn stopped_from(&self) -> Option<ChangedFrom> {
        let stop = self.events.iter().find(|event| event.change == LoadChange::Stop);
        stop.map(|event| event.from)
    }

    /// Number of users that were part of the load. Excludes the users of setUp and tearDown thread groups and of groups that sent
    /// no request, and the sessions of open workloads, each of which counts as a started user. `None` when unknown.
    #[must_use]
    pub fn load_users(&self) -> Option<u64> {
        let sessions = self.arrivals.map_or(0, |counts| counts.begun);
        let apart = self.users_without_load.unwrap_or(0);
        self.users_started.map(|users| users.saturating_sub(sessions).saturating_sub(apart))
    }
}

/// The end of the record of a run that was cut off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordEnd {
    /// The last end of a sample in the record, in seconds from the start of the run.
    pub at_s: f64,
    /// A results file of the same run that contains samples which ended after the end of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<LaterRows>,
}

/// Samples of a results file that the record lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterRows {
    /// The file.
    pub file: String,
    /// Number of samples.
    pub rows: u64,
}

/// One of the files from which a summary was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InputSummary {
    /// Name of the file as given by the user.
    pub name: String,
    /// Format of the file, such as CSV, XML or a run directory, and its compression, if any.
    pub form: String,
    /// Number of samples.
    pub samples: u64,
    /// Number of rows that could not be parsed.
    pub bad_rows: u64,
    /// The first of these rows, with their positions.
    pub first_bad: Vec<String>,
    /// Whether the file ends within a row.
    pub cut_off: bool,
    /// First and last end of a sample, in seconds from the start of the run; `None` without samples.
    pub span_s: Option<(f64, f64)>,
}
