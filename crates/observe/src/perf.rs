//! Performance counters of the kernel and the processor, per process and per cgroup.
//!
//! [`PerfProbe`] records cycles, instructions, cache references and misses, and from them cycles per instruction (CPI) and misses
//! per 1,000 instructions (MPKI). Where the processor's counters are not available, as in most virtual machines, the kernel's own
//! events remain.

mod counters;
mod events;
mod probe;
mod reasons;

pub use probe::{PerfProbe, PerfTarget};
