//! Descriptions of open workloads: arrivals, and the thread groups that serve them.

use busyhour_arrivals::ArrivalProcess;

use crate::template::Template;

/// What becomes of an arrival that finds no free user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFreeUser {
    /// It waits until a user is free. Its intended start stays, so the wait is part of its response time.
    Queue,
    /// It is given up and counted.
    Drop,
    /// Another user is made, up to so many of each group; beyond that it waits.
    Grow(u32),
    /// Another user is made, up to so many of each group; beyond that it is given up and counted.
    GrowOrDrop(u32),
}

/// Arrivals, and the thread groups whose bodies they walk.
#[derive(Clone, Debug)]
pub struct OpenWorkload {
    /// When sessions begin, counted from the moment the workload begins.
    pub process: ArrivalProcess,
    /// Indices of the groups in the program, all of the main phase, and the weight of each.
    pub groups: Vec<(u32, f64)>,
    /// What happens without a free user.
    pub no_free_user: NoFreeUser,
    /// Users of each group with [`NoFreeUser::Queue`] and [`NoFreeUser::Drop`]; `None`: the group's own number.
    pub users: Option<Template>,
    /// Seed of the schedule; `None`: that of the run.
    pub seed: Option<u64>,
    /// Sessions that still run when the schedule is over begin no further sample (JMeter's Open Model Thread Group);
    /// otherwise they go on to their end.
    pub ends_with_schedule: bool,
}

impl OpenWorkload {
    /// Seed of the schedule of the workload with this number in a run: its own for each, the same on every core.
    pub fn schedule_seed(&self, run_seed: u64, number: u32) -> u64 {
        // Users' streams are keyed with the group's number, of which there are never so many.
        self.seed.unwrap_or_else(|| crate::user::stream_key(run_seed, u64::MAX, u64::from(number), 0))
    }

    /// Whether one core is enough for it, so that few users need not be shared out to cores.
    pub fn is_slow(&self) -> bool {
        self.process.expected_count() <= SLOW_PER_S * self.process.duration_ns() as f64 / 1e9
    }
}

/// Arrivals a second up to which one core serves a workload of few users: whoever is free then takes the next arrival,
/// whichever core has it.
const SLOW_PER_S: f64 = 2_000.0;
