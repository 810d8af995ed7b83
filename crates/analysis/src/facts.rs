//! What is known about a run beside its numbers.

use busyhour_record::{
    ArrivalCounts, GeneratorFacts, Manifest, OpenFacts, PlanNote, RecorderEvent, Replay, RunEnd,
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
    /// Users that were started; `None` when unknown.
    pub users_started: Option<u64>,
    /// Users that finished; `None` when unknown.
    pub users_finished: Option<u64>,
    /// What became of the arrivals of open workloads; `None` when the run had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalCounts>,
    /// The open workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenFacts>,
    /// What is known about the generator.
    pub generator: GeneratorFacts,
    /// What went wrong while writing.
    pub recorder_events: Vec<RecorderEvent>,
    /// Doubts about the plan.
    pub notes: Vec<PlanNote>,
    /// Whether the record's tail is missing.
    pub record_cut: bool,
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
            busyhour: manifest.busyhour.clone(),
            hostname: manifest.machine.hostname.clone(),
            cpus: manifest.machine.cpus,
            wall_anchor_ms: manifest.wall_anchor_ms,
            duration_s: outcome.map(|outcome| outcome.duration_ns as f64 / 1e9),
            end: outcome.map(|outcome| outcome.end),
            stopped_by: outcome.and_then(|outcome| outcome.stopped_by.clone()),
            users_started: outcome.map(|outcome| outcome.users_started),
            users_finished: outcome.map(|outcome| outcome.users_finished),
            arrivals: outcome.and_then(|outcome| outcome.arrivals),
            open: outcome.map(|outcome| outcome.open.clone()).unwrap_or_default(),
            generator: outcome.map(|outcome| outcome.generator.clone()).unwrap_or_default(),
            recorder_events: outcome.map(|outcome| outcome.recorder_events.clone()).unwrap_or_default(),
            notes: manifest.notes.clone(),
            record_cut: false,
            one_clock: false,
            has_manifest: true,
        }
    }

    /// What a result file of JMeter's tells; `source` is its name.
    #[must_use]
    pub fn from_jtl(source: impl Into<String>, replay: &Replay) -> RunFacts {
        RunFacts {
            source: source.into(),
            hostname: replay.names.hostname.clone(),
            wall_anchor_ms: replay.wall_anchor_ms,
            record_cut: replay.end.cut_at.is_some(),
            one_clock: true,
            ..RunFacts::default()
        }
    }
}
