//! Facts about the generator at the end of a run: its health and why the run ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Every user finished its work.
    #[default]
    Completed,
    /// The plan stopped itself (Stop Test, or an error with that consequence).
    StoppedByPlan,
    /// An error stopped the run or some users: an invalid script, a missing data file, or a failed sample of a thread
    /// group that stops on errors.
    StoppedByError,
    /// The run was interrupted; users finished their current samples.
    Interrupted,
    /// The run was stopped at once.
    Aborted,
    /// A threshold failed whose action stops the run; users finished their current samples.
    StoppedByThreshold,
    /// The generator failed.
    Failed,
}

/// Health of the generator, from which the report determines whether it was the bottleneck.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratorFacts {
    /// The cores that ran users.
    pub cores: Vec<CoreFacts>,
    /// Number of times that a core had to wait for the recorder.
    pub recorder_stalls: u64,
    /// Total time in ns by which users were delayed while cores waited for the recorder, over all cores.
    pub recorder_stall_ns: u64,
    /// Number of samples that could not be recorded.
    pub lost_samples: u64,
    /// Number of samples in flight when the run was stopped; they are excluded from all figures.
    pub interrupted_samples: u64,
    /// How often matching, parsing or evaluating exceeded a limit, by the limit's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exceeded_limits: BTreeMap<String, u64>,
    /// Largest resident memory in bytes; `None` if the system does not report it.
    pub memory_bytes_max: Option<u64>,
    /// The share (0..=1) of the CPU time that this machine requested during the run and the hypervisor gave to other
    /// virtual machines. `None` if the system does not report it, or if hardly any time was requested.
    pub cpu_stolen: Option<f64>,
    /// The share (0..=1) of the enforcement periods of a CPU quota in which the generator's control group had used up its quota and
    /// had to wait for the next period. `None` without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_throttled: Option<f64>,
    /// The longest periods in which the process or a core did not run, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Cores that did not respond at the end of the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abandoned: Vec<AbandonedCore>,
}

/// A period in which the process or one of its cores did not run. Response times in this period measure the generator, not the
/// system under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Number of the core, from 0; `None` for the whole process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// Start, in ns since the start of the run.
    pub at_ns: u64,
    /// Minimum duration, in ns.
    pub length_ns: u64,
}

/// A core that did not respond at the end of the run. Its samples since `last_seen_ns` are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbandonedCore {
    /// Number of the core, from 0.
    pub core: u32,
    /// Time of its last batch of samples, in ns since the start of the run.
    pub last_seen_ns: u64,
}

/// Load and delays of one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreFacts {
    /// CPU time of its thread divided by the duration of the run (0..=1); `None` if the system does not report it.
    pub busy: Option<f64>,
    /// The largest such share in any second; `None` if the system does not report it, or if no second was complete.
    pub busy_second_max: Option<f64>,
    /// Longest delay of the core's timer tick in ns; `None` if it was not measured.
    pub lag_ns_max: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreported_system_values_are_not_zero() {
        let facts: GeneratorFacts = serde_json::from_str(r#"{"cores":[{}],"lost_samples":2}"#).unwrap();
        assert_eq!(facts.cores, [CoreFacts { busy: None, busy_second_max: None, lag_ns_max: None }]);
        assert_eq!((facts.memory_bytes_max, facts.lost_samples), (None, 2));
        let reported: CoreFacts = serde_json::from_str(r#"{"busy":0.5,"lag_ns_max":7}"#).unwrap();
        assert_eq!(reported, CoreFacts { busy: Some(0.5), busy_second_max: None, lag_ns_max: Some(7) });
        let written = serde_json::to_string(&reported).unwrap();
        assert_eq!(written, r#"{"busy":0.5,"busy_second_max":null,"lag_ns_max":7}"#);
    }
}
