//! The reports of the cores at the end of a run.

use busyhour_limits::Limit;
use busyhour_program::run::Stop;
use busyhour_sample::{AbandonedCore, Nanos, Stall};

use crate::open::ArrivalCounts;
use crate::stalls::StallLog;

/// The report of a core at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreReport {
    /// CPU time of its thread in nanoseconds, excluding the time spent polling the clock; `None` if the system does not
    /// provide it.
    pub cpu_ns: Option<u64>,
    /// Lifetime of its thread, in nanoseconds.
    pub wall_ns: u64,
    /// Highest share of a second in which the thread had the CPU, between 0 and 1; `None` if the system does not
    /// provide it or the run was shorter than a second.
    pub busiest_second: Option<f64>,
    /// How often the recorder's queue was full.
    pub stalls: u64,
    /// How long users were held back because the recorder was behind, in nanoseconds.
    pub stalled_ns: u64,
    /// Number of samples abandoned because the run was stopped immediately.
    pub interrupted: u64,
    /// Number of users that ended, or never began, because of an error in Busyhour (a panic). Each one is logged. If it is not
    /// 0, the samples of these users are missing.
    pub died: u64,
    /// Maximum lateness of the core's own tick, in nanoseconds.
    pub lag_ns_max: u64,
    /// The longest delays of the tick.
    pub blocked: StallLog,
    /// Number of arrivals of open workloads, by outcome.
    pub arrivals: ArrivalCounts,
    /// Number of samples lost because the recorder's thread had ended.
    pub lost: u64,
    /// Limits that the core's users exceeded, and how often.
    pub exceeded: Vec<(Limit, u64)>,
}

/// Result of a run, apart from its samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// The report of each core.
    pub cores: Vec<CoreReport>,
    /// When the last user ended.
    pub end: Nanos,
    /// When the schedule of each open workload began; `None` if it never began.
    pub open: Vec<Option<Nanos>>,
    /// The stop request that ended the run early.
    pub stopped: Option<Stop>,
    /// The longest times in which the process or a core did not run, sorted by time.
    pub stalls: Vec<Stall>,
    /// Cores that did not respond to a forced end. Their reports contain only the time.
    pub abandoned: Vec<AbandonedCore>,
}
