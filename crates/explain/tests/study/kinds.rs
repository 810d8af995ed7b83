//! The kinds of simulated runs.

use busyhour_analysis::explanation::Cause;

/// When a cause is present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultShape {
    /// Pauses of 60 to 180 ms, every 2 s on average.
    Pauses,
    /// Windows of 2 to 4 s, every 25 s on average.
    Windows,
    /// The same windows, but only every third request is slow.
    Third,
    /// One part of a fifth of the run.
    Block,
    /// The whole run.
    Whole,
}

impl FaultShape {
    pub fn name(self) -> &'static str {
        match self {
            FaultShape::Pauses => "pauses of 0.1 s",
            FaultShape::Windows => "windows of 3 s",
            FaultShape::Third => "a third of the requests in windows of 3 s",
            FaultShape::Block => "a fifth of the run",
            FaultShape::Whole => "the whole run",
        }
    }

    /// Whether a cause can have this shape.
    pub fn is_possible(self, cause: Cause) -> bool {
        match self {
            FaultShape::Pauses => cause == Cause::GcPauses,
            FaultShape::Windows | FaultShape::Third | FaultShape::Block => cause != Cause::GcPauses,
            // Only waiting is known to be a cause if it does not vary.
            FaultShape::Whole => {
                matches!(cause, Cause::DatabaseLock | Cause::CpuQuota | Cause::PoolExhausted)
            }
        }
    }
}

/// The response times without a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    /// Independent lognormal times (σ 0.6).
    Independent,
    /// Pareto times with index 1.5.
    HeavyTail,
    /// A level that wanders with this correlation from second to second, and a standard deviation of 0.3 of logarithms.
    Wandering(f64),
    /// A queue with one server, 80 % busy.
    Queue,
}

/// A kind of run.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub length_s: u64,
    pub rate_per_s: f64,
    pub times: Times,
    /// Amplitude of a sine of the rate over the run.
    pub diurnal: f64,
    /// Time between readings in s.
    pub reading_s: f64,
    /// The cause, which is observed, and when it is present.
    pub fault: Option<(Cause, FaultShape)>,
    /// Requests are slow at times that no source shows.
    pub hidden: Option<FaultShape>,
}

const PLAIN: Kind = Kind {
    name: "",
    length_s: 180,
    rate_per_s: 80.0,
    times: Times::Independent,
    diurnal: 0.0,
    reading_s: 1.0,
    fault: None,
    hidden: None,
};

impl Kind {
    /// The kind with a fault.
    pub fn with_fault(self, cause: Cause, shape: FaultShape) -> Kind {
        Kind { fault: Some((cause, shape)), ..self }
    }
}

/// Runs in which faults occur.
pub const FAULTY: &[Kind] = &[
    Kind { name: "3 min", ..PLAIN },
    Kind { name: "1 min", length_s: 60, ..PLAIN },
    Kind { name: "1 min, readings every 100 ms", length_s: 60, reading_s: 0.1, ..PLAIN },
    Kind { name: "3 min, heavy tail", times: Times::HeavyTail, ..PLAIN },
    Kind { name: "3 min, level correlated over 2 s", times: Times::Wandering(0.6), ..PLAIN },
    Kind { name: "10 min, rate as over a day", length_s: 600, diurnal: 0.6, ..PLAIN },
];

pub const CLEAN: &[Kind] = &[
    Kind { name: "independent times, 3 min", ..PLAIN },
    Kind { name: "30 s", length_s: 30, ..PLAIN },
    Kind { name: "30 s, readings every 100 ms", length_s: 30, reading_s: 0.1, ..PLAIN },
    Kind { name: "10 min", length_s: 600, ..PLAIN },
    Kind { name: "heavy tail (index 1.5)", times: Times::HeavyTail, ..PLAIN },
    Kind { name: "level correlated over 2 s", times: Times::Wandering(0.6), ..PLAIN },
    Kind { name: "level correlated over 10 s", times: Times::Wandering(0.9), ..PLAIN },
    Kind { name: "queue, 80 % busy", times: Times::Queue, ..PLAIN },
    Kind { name: "rate as over a day", diurnal: 0.6, ..PLAIN },
    Kind { name: "rate as over a day, queue", diurnal: 0.25, times: Times::Queue, ..PLAIN },
    Kind { name: "5 requests per second", rate_per_s: 5.0, ..PLAIN },
    Kind { name: "unobserved pauses", hidden: Some(FaultShape::Pauses), ..PLAIN },
    Kind { name: "unobserved windows of 3 s", hidden: Some(FaultShape::Windows), ..PLAIN },
    Kind { name: "unobserved fifth of the run", hidden: Some(FaultShape::Block), ..PLAIN },
];

pub const SHAPES: &[FaultShape] =
    &[FaultShape::Pauses, FaultShape::Windows, FaultShape::Third, FaultShape::Block, FaultShape::Whole];

pub const FAULTS: &[Cause] = &[
    Cause::GcPauses,
    Cause::Steal,
    Cause::CpuQuota,
    Cause::CpuNeighbour,
    Cause::CpuSaturation,
    Cause::MemoryPressure,
    Cause::NetworkLoss,
    Cause::DatabaseLock,
    Cause::SlowDependency,
    Cause::Disk,
    Cause::PoolExhausted,
    Cause::LockContention,
    Cause::DatabaseWork,
    Cause::MemoryBandwidth,
    Cause::Errors,
];
