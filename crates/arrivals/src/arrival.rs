//! An arrival of a schedule.

/// One arrival of a schedule, which is the intended start of one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the arrival in the whole schedule, from 0, even if only a share of the schedule is generated.
    pub index: u64,
    /// Intended start in nanoseconds since the start of the process.
    pub at_ns: u64,
    /// Number of the stage to which the arrival belongs, from 0.
    pub stage: u32,
    /// The random number of the arrival: uniform over u64, independent of the times, and a function of seed and index. It
    /// determines the share of the load to which an arrival of a Poisson stage belongs and, by [`crate::pick`], its group.
    pub mark: u64,
}
