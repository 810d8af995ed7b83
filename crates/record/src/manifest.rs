//! `run.json`: what a run was, how it went and how it ended.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::arrival::ArrivalCounts;
use crate::control_event::ControlEvent;
use crate::error::RecorderEvent;

/// Version of the manifest that is written, and the only one that is read.
pub const MANIFEST_VERSION: u32 = 1;

/// The manifest of a run.
///
/// It is written when the run begins, without an outcome, and again when it ends: a manifest without an outcome is of
/// a run that goes on, or of one that was cut off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`].
    pub version: u32,
    /// Version of the program.
    pub busyhour: String,
    /// The plan.
    pub plan: PlanFile,
    /// Seed of every random choice.
    pub seed: u64,
    /// The command, its name included.
    pub command_line: Vec<String>,
    /// JMeter properties that were set for this run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// The generator's machine.
    pub machine: Machine,
    /// Start of the run in ms since 1970: what every [`crate::Nanos`] counts from.
    pub wall_anchor_ms: i64,
    /// What is known about the plan that puts its results in doubt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<PlanNote>,
    /// The longest time that a request could take; `None` in manifests of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_deadline: Option<RequestDeadline>,
    /// The thresholds that the run was judged by, in a form that says all of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
    /// What somebody did to it while it went on, in order of time; written when it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ControlEvent>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// The longest time that one HTTP request of a run could take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestDeadline {
    /// As long as the server and the plan's timeouts allow.
    None,
    /// So many ns.
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
    /// As it was named.
    pub path: String,
    /// The test plan's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// SHA-256 of its bytes in hex; see [`plan_hash`].
    pub sha256: String,
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
    /// Processors that the program may use.
    pub cpus: u32,
}

impl Machine {
    /// This machine, called `hostname`.
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

/// A doubt about the plan that its compilation found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNote {
    /// Stable name of the kind of doubt, in kebab case.
    pub code: String,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Every user finished its work.
    #[default]
    Completed,
    /// The plan stopped itself (Stop Test, or an error with that consequence).
    StoppedByPlan,
    /// An error stopped it or users of it: a script that cannot be run, a failed sample with that consequence, a data file
    /// that is missing.
    StoppedByError,
    /// Someone asked it to stop, and the users finished their samples.
    Interrupted,
    /// Someone asked it to stop at once.
    Aborted,
    /// A threshold was broken that says so; users finished their samples.
    StoppedByThreshold,
    /// The generator failed.
    Failed,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why.
    pub end: RunEnd,
    /// The threshold that stopped it, as [`Manifest::thresholds`] has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// The error that stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Length from start to the end of the last user, in ns.
    pub duration_ns: u64,
    /// Users that were started.
    pub users_started: u64,
    /// Users that finished.
    pub users_finished: u64,
    /// Users among those started that made no part of the load: of setUp and tearDown thread groups, and of groups that sent
    /// nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub users_apart: u64,
    /// What is known about the generator itself.
    pub generator: GeneratorFacts,
    /// The open workloads of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenFacts>,
    /// What became of their arrivals; `None` when the run had no open workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalCounts>,
    /// What went wrong while writing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorder_events: Vec<RecorderEvent>,
}

/// An open workload: what its arrivals were asked to be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenFacts {
    /// The arrival process, as its own notation writes it.
    pub process: String,
    /// Numbers of the thread groups that took the arrivals, as in [`crate::RunNames::groups`].
    pub groups: Vec<u32>,
    /// When the schedule began, in ns since the start of the run.
    pub first_ns: u64,
    /// Seed of the schedule: with it and the process the schedule can be made again.
    pub seed: u64,
}

/// What is known about the generator itself, for the verdict on whether it was the bottleneck.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratorFacts {
    /// The cores that ran users.
    pub cores: Vec<CoreFacts>,
    /// How often a core found the recorder behind.
    pub recorder_stalls: u64,
    /// How long users were held back because of that, over all cores, in ns.
    pub recorder_stall_ns: u64,
    /// Samples that were made but could not be recorded.
    pub lost_samples: u64,
    /// Samples that were under way when the run was stopped, and are in no number.
    pub interrupted_samples: u64,
    /// How often matching, parsing or evaluating was given up because of a limit, by the limit's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exceeded_limits: BTreeMap<String, u64>,
    /// Largest resident memory in bytes; `None` where the system does not tell.
    pub memory_bytes_max: Option<u64>,
    /// Of the CPU time that this machine wanted during the run, the part (0..=1) in which the host of a virtual machine ran
    /// others instead; `None` where the system does not tell, or hardly any time was wanted.
    pub cpu_stolen: Option<f64>,
    /// The longest times in which the process or a core did not run, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Cores that were left behind because they did not respond when the run was to end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abandoned: Vec<AbandonedCore>,
}

/// A time in which the process, or one core of it, did not run: response times measured then are the generator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Number of the core, from 0; `None`: the whole process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// When it began, in ns since the run's start.
    pub at_ns: u64,
    /// How long it lasted at least, in ns.
    pub length_ns: u64,
}

/// A core that did not respond when the run was to end. What it measured after it was last seen is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbandonedCore {
    /// Number of the core, from 0.
    pub core: u32,
    /// When it last handed its samples over, in ns since the run's start.
    pub last_seen_ns: u64,
}

/// What is known about one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreFacts {
    /// CPU time of its thread over the run's length (0..=1); `None` where the system does not tell.
    pub busy: Option<f64>,
    /// The same over its busiest second; `None` where the system does not tell, or no second was whole.
    pub busy_second_max: Option<f64>,
    /// Longest time by which the core's own tick, which takes its turn among the users, came late, in ns; `None` when nobody
    /// has measured it.
    pub lag_ns_max: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_was_not_recorded_is_not_none() {
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

    #[test]
    fn what_a_system_does_not_tell_is_not_zero() {
        let facts: GeneratorFacts = serde_json::from_str(r#"{"cores":[{}],"lost_samples":2}"#).unwrap();
        assert_eq!(facts.cores, [CoreFacts { busy: None, busy_second_max: None, lag_ns_max: None }]);
        assert_eq!((facts.memory_bytes_max, facts.lost_samples), (None, 2));
        let told: CoreFacts = serde_json::from_str(r#"{"busy":0.5,"lag_ns_max":7}"#).unwrap();
        assert_eq!(told, CoreFacts { busy: Some(0.5), busy_second_max: None, lag_ns_max: Some(7) });
        let written = serde_json::to_string(&told).unwrap();
        assert_eq!(written, r#"{"busy":0.5,"busy_second_max":null,"lag_ns_max":7}"#);
    }
}
