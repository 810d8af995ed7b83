//! The input of the detector.

use crate::harm::HarmKind;

/// A number that the caller gives to a process, a control group or another possible neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SuspectId(pub u64);

/// The CPU time of a possible neighbour since the reading before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// The process, control group or other neighbour that used the CPU time.
    pub id: SuspectId,
    /// CPU time in seconds per second.
    pub cores: f64,
}

/// The system under test since the reading before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Victim {
    /// CPU time of the system, in seconds per second; `None` if it is unknown, in which case no harm is judged.
    pub cores: Option<f64>,
    /// Whether the system reached a limit of its own: it used all the CPUs that it may use, or its quota throttled it.
    pub is_at_own_limit: bool,
    /// The harm of each kind, in the order of [`HarmKind::ALL`]; `None` if it is unknown.
    pub harm: [Option<f64>; HarmKind::COUNT],
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsageReading<'u> {
    /// Its time in seconds since the start of the observation.
    pub at_s: f64,
    /// The system under test.
    pub victim: Victim,
    /// The processes and control groups that are no part of the system. Those that are missing used no CPU time. If several have the
    /// same use, the first one is named.
    pub uses: &'u [Use],
}
