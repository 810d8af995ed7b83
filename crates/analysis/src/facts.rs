//! What is known about a run beside its numbers.

use busyhour_record::{
    ArrivalCounts, ChangedFrom, ControlEvent, GeneratorFacts, InputFacts, LoadChange, LogForm, Manifest,
    OpenFacts, PlanNote, RecorderEvent, Replay, RequestDeadline, RunEnd,
};
use serde::{Deserialize, Serialize};

/// What is known about a run beside its numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// The plan, as it was named; or the result file.
    pub source: String,
    /// The test plan's name.
    pub plan_name: String,
    /// SHA-256 of the plan.
    pub plan_sha256: String,
    /// Seed of every random choice; `None` when it is unknown.
    pub seed: Option<u64>,
    /// The command.
    pub command_line: Vec<String>,
    /// The longest time that one HTTP request could take; `None` when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_deadline: Option<RequestDeadline>,
    /// Version of the program that made the run.
    pub busyhour: String,
    /// The generator's host.
    pub hostname: String,
    /// Processors of the generator; 0 when unknown.
    pub cpus: u32,
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Length of the run in seconds; `None` when it is unknown: then that of its samples counts.
    pub duration_s: Option<f64>,
    /// Why it ended; `None` when it was cut off or is unknown.
    pub end: Option<RunEnd>,
    /// The threshold that stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// The error that stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Users that were started; `None` when unknown.
    pub users_started: Option<u64>,
    /// Users that finished; `None` when unknown.
    pub users_finished: Option<u64>,
    /// Users among those started that made no part of the load: of setUp and tearDown thread groups, and of groups that sent
    /// nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users_apart: Option<u64>,
    /// What became of the arrivals of open workloads; `None` when the run had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalCounts>,
    /// The open workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenFacts>,
    /// What somebody did to it while it went on, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ControlEvent>,
    /// What is known about the generator.
    pub generator: GeneratorFacts,
    /// What went wrong while writing.
    pub recorder_events: Vec<RecorderEvent>,
    /// Doubts about the plan.
    pub notes: Vec<PlanNote>,
    /// Whether the record's tail is missing.
    pub record_cut: bool,
    /// How far the record of a run reaches that did not write how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_end: Option<RecordEnd>,
    /// What was read, where it was given as files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputFound>,
    /// Whether intended starts were recorded: without them response times are service times.
    pub one_clock: bool,
    /// Whether the run has a manifest that should say how it ended.
    pub has_manifest: bool,
}

impl RunFacts {
    /// What a manifest tells.
    #[must_use]
    pub fn from_manifest(manifest: &Manifest) -> RunFacts {
        let outcome = manifest.outcome.as_ref();
        RunFacts {
            source: manifest.plan.path.clone(),
            plan_name: manifest.plan.name.clone(),
            plan_sha256: manifest.plan.sha256.clone(),
            seed: Some(manifest.seed),
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
            users_apart: outcome.map(|outcome| outcome.users_apart).filter(|users| *users > 0),
            arrivals: outcome.and_then(|outcome| outcome.arrivals),
            open: outcome.map(|outcome| outcome.open.clone()).unwrap_or_default(),
            events: manifest.events.clone(),
            generator: outcome.map(|outcome| outcome.generator.clone()).unwrap_or_default(),
            recorder_events: outcome.map(|outcome| outcome.recorder_events.clone()).unwrap_or_default(),
            notes: manifest.notes.clone(),
            record_cut: false,
            record_end: None,
            inputs: Vec::new(),
            one_clock: false,
            has_manifest: true,
        }
    }

    /// Where the order to stop came from: the program's screen or its page; `None` when it came another way or none was given.
    #[must_use]
    pub fn stopped_from(&self) -> Option<ChangedFrom> {
        let stop = self.events.iter().find(|event| event.change == LoadChange::Stop);
        stop.map(|event| event.from)
    }

    /// Users that made the load: without those of setUp and tearDown thread groups and of groups that sent nothing, and without the sessions of open workloads,
    /// each of which counts as a user that started. `None` when unknown.
    #[must_use]
    pub fn load_users(&self) -> Option<u64> {
        let sessions = self.arrivals.map_or(0, |counts| counts.begun);
        let apart = self.users_apart.unwrap_or(0);
        self.users_started.map(|users| users.saturating_sub(sessions).saturating_sub(apart))
    }

    /// What results tell that may come from several files.
    #[must_use]
    pub fn from_results(replay: &Replay) -> RunFacts {
        RunFacts {
            hostname: replay.names.hostname.clone(),
            ..RunFacts::from_inputs(&replay.inputs, replay.wall_anchor_ms)
        }
    }

    /// What the inputs of a test tell that began `wall_anchor_ms` ms after 1970.
    #[must_use]
    pub fn from_inputs(inputs: &[InputFacts], wall_anchor_ms: i64) -> RunFacts {
        let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        let source = match &names[..] {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [most @ .., last] => format!("{} and {last}", most.join(", ")),
        };
        RunFacts {
            source,
            wall_anchor_ms,
            record_cut: inputs.iter().any(|input| input.cut_at.is_some()),
            inputs: inputs.iter().map(InputFound::of).collect(),
            one_clock: inputs.iter().any(|input| input.form != LogForm::Run),
            ..RunFacts::default()
        }
    }
}

/// How far the record of a run reaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordEnd {
    /// The last end of a sample in it, in seconds from the start of the run.
    pub at_s: f64,
    /// A results file beside the record with samples that ended later, and how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<LaterRows>,
}

/// Samples of a results file that the record lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterRows {
    /// The file.
    pub file: String,
    /// How many.
    pub rows: u64,
}

/// One of the files that a summary was made of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InputFound {
    /// As the person called it.
    pub name: String,
    /// What it is: CSV, XML, a run directory; packed or not.
    pub form: String,
    /// Samples in it.
    pub samples: u64,
    /// Rows that could not be understood.
    pub bad_rows: u64,
    /// The first of them, with their places.
    pub first_bad: Vec<String>,
    /// Whether it ends within a row.
    pub cut_off: bool,
    /// From the first to the last end in it, in seconds from the start of the run; `None` without samples.
    pub span_s: Option<(f64, f64)>,
}

impl InputFound {
    fn of(input: &InputFacts) -> InputFound {
        let packed = input.packing.map(|packing| format!(", {packing}")).unwrap_or_default();
        InputFound {
            name: input.name.clone(),
            form: format!("{}{packed}", input.form),
            samples: input.samples,
            bad_rows: input.bad_rows,
            first_bad: input.first_bad.iter().map(ToString::to_string).collect(),
            cut_off: input.cut_at.is_some(),
            span_s: input.ends.map(|(first, last)| (first.as_secs_f64(), last.as_secs_f64())),
        }
    }
}
