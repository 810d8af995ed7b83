//! The kinds of harm to a system under test.

use serde::{Deserialize, Serialize};

/// The kinds of harm that a neighbour can do to the system under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HarmKind {
    /// Time in which threads of the system were ready to run and waited for a CPU, in seconds per second.
    CpuWait,
    /// Share of the time in which some thread of the system's control group waited for a CPU (PSI).
    CpuPressure,
    /// Cycles per instruction of the system.
    CyclesPerInstruction,
    /// Share of the time in which some thread of the system's control group waited for memory (PSI).
    MemoryPressure,
    /// Share of the time in which some thread of the system's control group waited for a disk (PSI).
    DiskPressure,
}

impl HarmKind {
    /// All kinds.
    pub const ALL: [HarmKind; HarmKind::COUNT] = [
        HarmKind::CpuWait,
        HarmKind::CpuPressure,
        HarmKind::CyclesPerInstruction,
        HarmKind::MemoryPressure,
        HarmKind::DiskPressure,
    ];

    /// The number of kinds.
    pub const COUNT: usize = 5;

    /// The smallest increase that matters: an absolute one, in the unit of the harm, and one as a share of the CPU time of the system
    /// (for waiting) or of the usual level (for cycles per instruction).
    pub(crate) const fn relevant(self) -> (f64, f64) {
        match self {
            HarmKind::CpuWait => (0.002, 0.02),
            HarmKind::CpuPressure => (0.005, 0.02),
            HarmKind::CyclesPerInstruction => (0.0, 0.05),
            HarmKind::MemoryPressure | HarmKind::DiskPressure => (0.02, 0.0),
        }
    }

    /// Minimum CPU time, in cores, with which a suspect can do this harm.
    pub(crate) const fn use_min(self) -> f64 {
        match self {
            HarmKind::CpuWait | HarmKind::CpuPressure | HarmKind::CyclesPerInstruction => 0.02,
            // A process that waits for a disk or for memory itself uses little CPU time.
            HarmKind::MemoryPressure | HarmKind::DiskPressure => 0.003,
        }
    }

    /// The share of the accepted coincidences for this kind, if `kinds` kinds of harm are known. Waiting for a CPU has
    /// the largest one, because it is the most frequent harm.
    pub(crate) fn share_of_chance(self, kinds: usize) -> f64 {
        const OF_WAITING: f64 = 0.6;
        match (self, kinds) {
            (_, 0 | 1) => 1.0,
            (HarmKind::CpuWait, _) => OF_WAITING,
            (_, kinds) => (1.0 - OF_WAITING) / (kinds - 1) as f64,
        }
    }
}
