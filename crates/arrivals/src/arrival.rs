//! An arrival of a schedule.

/// One arrival: the intended start of one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the arrival in the whole schedule, from 0, whatever share it belongs to.
    pub index: u64,
    /// Intended start in nanoseconds since the start of the process.
    pub at_ns: u64,
    /// Number of the stage that it belongs to, from 0.
    pub stage: u32,
    /// A number that is uniform over u64 and independent of the times; a function of seed and index. It determines to which
    /// share of the load an arrival of a Poisson stage belongs and, by [`crate::pick`], its group.
    pub mark: u64,
}
