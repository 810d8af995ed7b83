//! What the cores report at the end of a run.

use busyhour_limits::Limit;
use busyhour_program::run::Stop;
use busyhour_sample::{AbandonedCore, Nanos, Stall};

use crate::open::ArrivalCounts;
use crate::stalls::StallLog;

/// What a core reports at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreReport {
    /// CPU time of its thread without clock polling, in nanoseconds; `None` if the system does not
    /// provide it.
    pub cpu_ns: Option<u64>,
    /// Time its thread lived, in nanoseconds.
    pub wall_ns: u64,
    /// Highest share of a second in which the thread had the CPU, between 0 and 1; `None` if the system does not
    /// provide it or the run was shorter than a second.
    pub busiest_second: Option<f64>,
    /// How often the recorder's queue was full.
    pub stalls: u64,
    /// How long users were held back because the recorder was behind, in nanoseconds.
    pub stalled_ns: u64,
    /// Samples abandoned because the run was stopped at once.
    pub interrupted: u64,
    /// Users that ended, or never began, because of an error in Busyhour (a panic); each is in the log. 0 in every
    /// healthy run: what they would have done is missing.
    pub died: u64,
    /// Longest time by which the core's own tick came late, in nanoseconds.
    pub lag_ns_max: u64,
    /// The longest times by which it came late.
    pub blocked: StallLog,
    /// What became of the arrivals of open workloads.
    pub arrivals: ArrivalCounts,
    /// Samples lost because the recorder's thread was gone.
    pub lost: u64,
    /// Limits that the work of its users exceeded, and how often.
    pub exceeded: Vec<(Limit, u64)>,
}

/// Result of a run, apart from its samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// One per core.
    pub cores: Vec<CoreReport>,
    /// When the last user ended.
    pub end: Nanos,
    /// When the schedule of each open workload began; `None`: never.
    pub open: Vec<Option<Nanos>>,
    /// The stop request before the run's own end.
    pub stopped: Option<Stop>,
    /// The longest times in which the process or a core did not run, in order of time.
    pub stalls: Vec<Stall>,
    /// Cores that did not respond to a forced end. Their reports are empty but for the time.
    pub abandoned: Vec<AbandonedCore>,
}
