//! Descriptions of open workloads: arrivals, and the thread groups that serve them.

use busyhour_arrivals::{ArrivalProcess, LoadShare};

use crate::template::Template;

/// What happens to an arrival when no user is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoFreeUser {
    /// The arrival waits until a user is idle. Its intended start does not change, so the wait is part of its response time.
    Queue,
    /// The arrival is dropped and counted.
    Drop,
    /// A new user is created, up to a limit per group; beyond it, the arrival waits.
    Grow(u32),
    /// A new user is created, up to a limit per group; beyond it, the arrival is dropped and counted.
    GrowOrDrop(u32),
}

/// Arrivals, and the thread groups that serve them.
#[derive(Clone, Debug)]
pub struct OpenWorkload {
    /// When sessions start, relative to the start of the workload.
    pub process: ArrivalProcess,
    /// Index in the program and weight of each group. All groups are of the main phase.
    pub groups: Vec<(u32, f64)>,
    /// What happens when no user is idle.
    pub no_free_user: NoFreeUser,
    /// The fixed number of users of each group, for [`NoFreeUser::Queue`] and [`NoFreeUser::Drop`]. `None`: the number of users
    /// that the plan specifies for the group.
    pub users: Option<Template>,
    /// Seed of the schedule; `None`: that of the run.
    pub seed: Option<u64>,
    /// Whether sessions that are still running at the end of the schedule start no further sample, as in JMeter's Open Model
    /// Thread Group. Otherwise, they run to their end.
    pub ends_with_schedule: bool,
}

impl OpenWorkload {
    /// Seed of the schedule of the workload with this index: different for each workload, the same on every core.
    pub fn schedule_seed(&self, run_seed: u64, number: u32) -> u64 {
        // Users' streams are keyed with the group's number, which never reaches `u64::MAX`.
        self.seed.unwrap_or_else(|| crate::user::stream_key(run_seed, u64::MAX, u64::from(number), 0))
    }

    /// Whether one core can serve a share of the workload, so that a small number of users need not be distributed over
    /// cores.
    pub fn is_slow(&self, share: &LoadShare) -> bool {
        self.process.expected_count() * share.size() <= SLOW_PER_S * self.process.duration_ns() as f64 / 1e9
    }
}

/// Arrivals per second up to which one core serves a workload with few users. On one core, the next idle user serves the
/// next arrival; on several cores, an arrival could only use the users of its own core.
const SLOW_PER_S: f64 = 2_000.0;
