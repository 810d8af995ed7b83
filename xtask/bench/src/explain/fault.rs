//! The faults of the laboratory.

/// The systems that are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// A Java server that calls another server.
    Java,
    /// The Java server in a network namespace.
    Remote,
    /// nginx in front of a server.
    Proxy,
    /// A server that stores orders in PostgreSQL.
    Orders,
}

/// A fault that is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    GcPauses,
    Lock,
    SmallPool,
    RowLocks,
    CpuHog,
    CpuQuota,
    OwnCpu,
    SlowDisk,
    PacketLoss,
    SlowDependency,
    LogStorm,
    StoppedGenerator,
}

impl Fault {
    pub const ALL: [Fault; 12] = [
        Fault::GcPauses,
        Fault::Lock,
        Fault::SmallPool,
        Fault::RowLocks,
        Fault::CpuHog,
        Fault::CpuQuota,
        Fault::OwnCpu,
        Fault::SlowDisk,
        Fault::PacketLoss,
        Fault::SlowDependency,
        Fault::LogStorm,
        Fault::StoppedGenerator,
    ];

    /// The name in options and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::GcPauses => "gc-pressure",
            Fault::Lock => "lock",
            Fault::SmallPool => "small-pool",
            Fault::RowLocks => "row-locks",
            Fault::CpuHog => "cpu-hog",
            Fault::CpuQuota => "cpu-quota",
            Fault::OwnCpu => "own-cpu",
            Fault::SlowDisk => "slow-disk",
            Fault::PacketLoss => "packet-loss",
            Fault::SlowDependency => "slow-dependency",
            Fault::LogStorm => "log-storm",
            Fault::StoppedGenerator => "stopped-generator",
        }
    }

    /// The identifiers of causes that are right.
    pub const fn causes(self) -> &'static [&'static str] {
        match self {
            Fault::GcPauses => &["gc-pauses"],
            Fault::Lock => &["lock-contention"],
            Fault::SmallPool => &["pool-exhausted"],
            Fault::RowLocks => &["database-lock"],
            Fault::CpuHog => &["cpu-neighbour"],
            Fault::CpuQuota => &["cpu-quota"],
            Fault::OwnCpu => &["cpu-saturation"],
            Fault::SlowDisk => &["disk"],
            Fault::PacketLoss => &["network-loss"],
            Fault::SlowDependency => &["slow-dependency"],
            Fault::LogStorm => &["errors"],
            Fault::StoppedGenerator => &["generator", "arrivals"],
        }
    }

    pub const fn system(self) -> System {
        match self {
            Fault::GcPauses
            | Fault::Lock
            | Fault::SmallPool
            | Fault::CpuHog
            | Fault::CpuQuota
            | Fault::OwnCpu
            | Fault::LogStorm => System::Java,
            Fault::PacketLoss => System::Remote,
            Fault::RowLocks | Fault::SlowDisk => System::Orders,
            Fault::SlowDependency | Fault::StoppedGenerator => System::Proxy,
        }
    }

    /// Whether the fault is present during the whole run.
    pub const fn is_constant(self) -> bool {
        matches!(self, Fault::SmallPool)
    }

    /// The strength of the fault: a number of processes, rows, ms, and so on.
    pub const fn level(self, intensity: usize) -> u64 {
        let levels: [u64; 3] = match self {
            // Collections per 600 ms.
            Fault::GcPauses => [1, 2, 4],
            // Time in ms for which the lock is held.
            Fault::Lock => [30, 80, 200],
            // Delay of the other server in ms, behind one connection.
            Fault::SmallPool => [16, 18, 19],
            // Rows that are locked.
            Fault::RowLocks => [1, 2, 4],
            // Processes on the server's CPU.
            Fault::CpuHog => [4, 8, 16],
            // Per mille of a CPU.
            Fault::CpuQuota => [80, 60, 40],
            // Threads that use the CPU.
            Fault::OwnCpu => [2, 4, 8],
            // Writes per second of the database.
            Fault::SlowDisk => [80, 50, 25],
            // Length of a loss in ms.
            Fault::PacketLoss => [100, 200, 400],
            // Delay in ms.
            Fault::SlowDependency => [20, 60, 200],
            // Delay of a failed request in ms.
            Fault::LogStorm => [20, 60, 150],
            // Time in ms for which the generator is stopped.
            Fault::StoppedGenerator => [300, 600, 1_200],
        };
        levels[intensity]
    }
}
