//! An arrival of a schedule.

/// One arrival: the intended start of one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number in the whole schedule, from 0, independent of the share that it belongs to.
    pub index: u64,
    /// Intended start in nanoseconds since the start of the process.
    pub at_ns: u64,
    /// Number of its stage, from 0.
    pub stage: u32,
    /// Uniform over u64, independent of the times; a function of seed and index. Determines the share of an arrival of a Poisson
    /// stage and, by [`crate::pick`], its group.
    pub mark: u64,
}
