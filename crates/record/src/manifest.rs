//! `run.json`: the description and outcome of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use busyhour_sample::{ArrivalCounts, ControlEvent, GeneratorFacts, RecorderEvent, RunEnd};
use serde::{Deserialize, Serialize};

use crate::part::RunPart;

/// Version of the manifest that this program writes, and the only one that it reads.
pub const MANIFEST_VERSION: u32 = 1;

/// The manifest of a run.
///
/// It is written without an outcome when the run starts, and again when the run ends. A manifest without an outcome
/// belongs to a run that is in progress or was killed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the manifest; see [`MANIFEST_VERSION`].
    pub version: u32,
    /// Version of the program.
    pub busyhour: String,
    /// The plan.
    pub plan: PlanFile,
    /// Seed of every random choice.
    pub seed: u64,
    /// The share of the load that this run generated, such as `2/3` for the second of three equal parts. `None` if it generated
    /// the whole load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<String>,
    /// The command line, including the program's name.
    pub command_line: Vec<String>,
    /// JMeter properties that were set for this run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// The generator's machine.
    pub machine: Machine,
    /// Start of the run in ms since 1970, the origin of every [`busyhour_sample::Nanos`].
    pub wall_anchor_ms: i64,
    /// Properties of the plan that make its results doubtful.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<PlanNote>,
    /// The plan's timers that set a rate, by their names in JMeter. Timers that `--ignore-rate-timers` ignores are not
    /// included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_timers: Vec<String>,
    /// The longest possible duration of a request; `None` in manifests of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_deadline: Option<RequestDeadline>,
    /// Absolute path of the results file, if it is outside the run directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results_file: Option<PathBuf>,
    /// The thresholds of the run, in their complete notation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
    /// The files of the run directory by kind, written by the recorder or by observers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<RunPart>,
    /// Changes during the run, in order of time. They are written at the end of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ControlEvent>,
    /// How the run ended; `None` while it is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
}

impl Manifest {
    /// The part of this kind; `None` if the run has none, or if its file is not in the run directory.
    #[must_use]
    pub fn part(&self, kind: &str) -> Option<&RunPart> {
        self.parts.iter().find(|part| part.kind == kind && part.is_inside())
    }
}

/// The longest possible duration of an HTTP request of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestDeadline {
    /// Unlimited, apart from the plan's timeouts.
    None,
    /// The maximum duration in ns.
    Ns(u64),
}

impl From<Option<Duration>> for RequestDeadline {
    fn from(deadline: Option<Duration>) -> Self {
        deadline.map_or(Self::None, |most| Self::Ns(u64::try_from(most.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for RequestDeadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Ns(ns) => write!(f, "{:?}", Duration::from_nanos(*ns)),
        }
    }
}

/// The plan of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFile {
    /// The path given on the command line.
    pub path: String,
    /// The test plan's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// SHA-256 of the bytes of its file in hex; see [`plan_hash`].
    pub sha256: String,
    /// The requested URL, if the plan was generated for a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<UrlPlanFacts>,
}

/// Facts about a plan that was generated for a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlPlanFacts {
    /// Scheme, host and port of the URL.
    pub server: String,
    /// The [`plan_hash`] of the plan with its server replaced: equal for plans that differ only in the server.
    pub sha256_without_server: String,
}

/// SHA-256 of a plan's bytes in lower-case hex.
#[must_use]
pub fn plan_hash(plan: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(plan).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The generator's machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Host name.
    pub hostname: String,
    /// Operating system, as Rust names it.
    pub os: String,
    /// Processor architecture, as Rust names it.
    pub arch: String,
    /// Number of processors that the program may use.
    pub cpus: u32,
}

impl Machine {
    /// A description of this machine, with the host name `hostname`.
    #[must_use]
    pub fn this(hostname: impl Into<String>) -> Machine {
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Machine {
            hostname: hostname.into(),
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            cpus,
        }
    }
}

/// A doubtful property of the plan, found when it was compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNote {
    /// Stable name of the kind of note, in kebab case.
    pub code: String,
    /// The description.
    pub message: String,
    /// Advice for the user; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// Why the run ended.
    pub end: RunEnd,
    /// The threshold that stopped the run, in the notation of [`Manifest::thresholds`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// The error that stopped the run; `None` if no error stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Duration from the start of the run to the end of the last user, in ns.
    pub duration_ns: u64,
    /// Number of users that were started.
    pub users_started: u64,
    /// Number of users that finished.
    pub users_finished: u64,
    /// Number of started users that were not part of the load: those of setUp and tearDown thread groups, and of groups without
    /// requests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub users_without_load: u64,
    /// Health of the generator.
    pub generator: GeneratorFacts,
    /// The open workloads of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenFacts>,
    /// Counts of their arrivals; `None` when the run had no open workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalCounts>,
    /// Errors of the recorder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorder_events: Vec<RecorderEvent>,
}

/// An open workload: its arrival process, thread groups and schedule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenFacts {
    /// The arrival process, in its notation, such as `poisson(50/s)`.
    pub process: String,
    /// The thread groups that served the arrivals, as indices into [`busyhour_sample::RunNames::groups`].
    pub groups: Vec<u32>,
    /// Start of the schedule, in ns since the start of the run.
    pub first_ns: u64,
    /// Seed of the schedule, from which the schedule can be reproduced.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unrecorded_deadline_differs_from_none() {
        let manifest = |deadline: &str| -> Manifest {
            let text = format!(
                r#"{{"version":1,"busyhour":"0.1.0","plan":{{"path":"p","sha256":""}},"seed":1,"command_line":[],
                    "machine":{{"hostname":"h","os":"o","arch":"a","cpus":1}},"wall_anchor_ms":0{deadline}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(manifest("").request_deadline, None);
        let read = |json: &str| manifest(&format!(",\"request_deadline\":{json}")).request_deadline.unwrap();
        assert_eq!(read("\"none\"").to_string(), "none");
        assert_eq!(read("{\"ns\":1500000000}").to_string(), "1.5s");
        for deadline in [None, Some(Duration::from_secs(60))].map(RequestDeadline::from) {
            assert_eq!(read(&serde_json::to_string(&deadline).unwrap()), deadline);
        }
    }
}
