//! The causes of slow requests.

use serde::{Deserialize, Serialize};

/// A cause of slow requests. The identifier in JSON is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The generator was the bottleneck.
    Generator,
    /// Arrivals were bunched, or not as planned.
    Arrivals,
    /// The hypervisor gave CPU time to other machines.
    Steal,
    /// A process used up the CPU quota of its own control group.
    CpuQuota,
    /// Other processes used the CPUs.
    CpuNeighbour,
    /// Memory was short: swapping, reclaim.
    MemoryPressure,
    /// The heap of a JVM fills up with objects that are not released.
    MemoryLeak,
    /// Garbage collection stopped the application.
    GcPauses,
    /// Packets were lost.
    NetworkLoss,
    /// Database sessions waited for locks.
    DatabaseLock,
    /// A server behind the system responded slowly.
    SlowDependency,
    /// Disks were slow or overloaded.
    Disk,
    /// Connections waited: for a thread, a connection of a pool, or the queue of a listening socket.
    PoolExhausted,
    /// Threads of a JVM waited for monitors.
    LockContention,
    /// The database was busy with queries.
    DatabaseWork,
    /// Memory bandwidth or the processor's cache was short.
    MemoryBandwidth,
    /// Errors and exceptions.
    Errors,
    /// The system's own work used all CPUs.
    CpuSaturation,
    /// No observed cause.
    None,
}

impl Cause {
    /// All causes except [`Cause::None`], specific ones before those that they can lead to: a quota makes processes wait for
    /// a CPU, and a blocked database session occupies a connection of a pool.
    pub const ALL: [Cause; 18] = [
        Cause::Generator,
        Cause::Arrivals,
        Cause::Steal,
        Cause::CpuQuota,
        Cause::CpuNeighbour,
        Cause::MemoryPressure,
        Cause::MemoryLeak,
        Cause::GcPauses,
        Cause::NetworkLoss,
        Cause::DatabaseLock,
        Cause::SlowDependency,
        Cause::Disk,
        Cause::PoolExhausted,
        Cause::LockContention,
        Cause::DatabaseWork,
        Cause::MemoryBandwidth,
        Cause::Errors,
        Cause::CpuSaturation,
    ];

    /// Causes that can lead to this one, so that both are present at the same times.
    #[must_use]
    pub const fn origins(self) -> &'static [Cause] {
        match self {
            Cause::CpuSaturation => &[Cause::Steal, Cause::CpuQuota, Cause::CpuNeighbour],
            Cause::Disk => &[Cause::MemoryPressure],
            Cause::DatabaseWork => &[Cause::DatabaseLock, Cause::Disk],
            // Slow commits hold locks for longer.
            Cause::DatabaseLock => &[Cause::Disk],
            // The other server may be observed, too.
            Cause::SlowDependency => &[
                Cause::Steal,
                Cause::CpuQuota,
                Cause::CpuNeighbour,
                Cause::MemoryPressure,
                Cause::GcPauses,
                Cause::NetworkLoss,
                Cause::DatabaseLock,
                Cause::Disk,
                Cause::LockContention,
                Cause::DatabaseWork,
                Cause::CpuSaturation,
            ],
            Cause::PoolExhausted => {
                &[Cause::GcPauses, Cause::DatabaseLock, Cause::SlowDependency, Cause::DatabaseWork]
            }
            Cause::Generator
            | Cause::Arrivals
            | Cause::Steal
            | Cause::CpuQuota
            | Cause::CpuNeighbour
            | Cause::MemoryPressure
            | Cause::MemoryLeak
            | Cause::GcPauses
            | Cause::NetworkLoss
            | Cause::LockContention
            | Cause::MemoryBandwidth
            | Cause::Errors
            | Cause::None => &[],
        }
    }

    /// The stable identifier, as in JSON.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Cause::Generator => "generator",
            Cause::Arrivals => "arrivals",
            Cause::Steal => "steal",
            Cause::CpuQuota => "cpu-quota",
            Cause::CpuNeighbour => "cpu-neighbour",
            Cause::MemoryPressure => "memory-pressure",
            Cause::MemoryLeak => "memory-leak",
            Cause::GcPauses => "gc-pauses",
            Cause::NetworkLoss => "network-loss",
            Cause::DatabaseLock => "database-lock",
            Cause::SlowDependency => "slow-dependency",
            Cause::Disk => "disk",
            Cause::PoolExhausted => "pool-exhausted",
            Cause::LockContention => "lock-contention",
            Cause::DatabaseWork => "database-work",
            Cause::MemoryBandwidth => "memory-bandwidth",
            Cause::Errors => "errors",
            Cause::CpuSaturation => "cpu-saturation",
            Cause::None => "none",
        }
    }

    /// The cause in words, as the subject of a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Cause::Generator => "a generator that was the bottleneck",
            Cause::Arrivals => "bunched arrivals",
            Cause::Steal => "CPU time stolen by the hypervisor",
            Cause::CpuQuota => "the CPU quota of the system's own control group",
            Cause::CpuNeighbour => "other processes on the CPUs",
            Cause::MemoryPressure => "a shortage of memory",
            Cause::MemoryLeak => "a memory leak",
            Cause::GcPauses => "pauses for garbage collection",
            Cause::NetworkLoss => "lost packets",
            Cause::DatabaseLock => "locks in the database",
            Cause::SlowDependency => "a slow server behind the system",
            Cause::Disk => "slow disks",
            Cause::PoolExhausted => "an exhausted pool of threads or connections",
            Cause::LockContention => "contended locks in the JVM",
            Cause::DatabaseWork => "work in the database",
            Cause::MemoryBandwidth => "memory bandwidth or cache misses",
            Cause::Errors => "errors and exceptions",
            Cause::CpuSaturation => "the system's own use of the CPUs",
            Cause::None => "none of the observed causes",
        }
    }

    /// The sources that show the cause.
    #[must_use]
    pub const fn needs(self) -> &'static str {
        match self {
            Cause::Generator | Cause::Arrivals => "nothing: every run records it",
            Cause::Steal | Cause::NetworkLoss => "the source os on the system's machine",
            Cause::CpuNeighbour | Cause::CpuSaturation => {
                "the sources os and process:PID on the system's machine"
            }
            Cause::CpuQuota => "the source cgroup:PATH with the CPU controller",
            Cause::MemoryPressure => "the sources os and cgroup:PATH, on a kernel with pressure information",
            Cause::MemoryLeak => "the source gc:FILE, a garbage-collection log",
            Cause::GcPauses => "the source gc:FILE or jvm:PID",
            Cause::DatabaseLock | Cause::DatabaseWork => {
                "the source postgres://… or mysql://…, with the credentials of a database user"
            }
            Cause::SlowDependency => "the source process:PID as root, for the connections of the process",
            Cause::Disk => "the source os on the system's machine, on a kernel with pressure information",
            Cause::PoolExhausted => "the source os as root, for the queues of listening sockets",
            Cause::LockContention => "the source jvm:PID of a JDK that counts contended locks",
            Cause::MemoryBandwidth => {
                "a processor with performance counters: the sources perf:PID, resctrl or pqos"
            }
            Cause::Errors => "the source log:FILE",
            Cause::None => "",
        }
    }
}
