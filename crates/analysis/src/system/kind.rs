//! The figures of each kind of subject, declared once for all outputs.

use serde::{Deserialize, Serialize};

/// The kind of subject that figures describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A machine with its operating system.
    Machine,
    /// A process with its descendants.
    Process,
    /// A Java virtual machine.
    Jvm,
    /// A cgroup: a container or a service.
    Cgroup,
    /// The network of a container.
    Network,
    /// A database server.
    Database,
    /// The observation itself.
    Observation,
}

impl SubjectKind {
    /// All kinds, in the order of display.
    pub const ALL: [SubjectKind; 7] = [
        SubjectKind::Machine,
        SubjectKind::Process,
        SubjectKind::Jvm,
        SubjectKind::Cgroup,
        SubjectKind::Network,
        SubjectKind::Database,
        SubjectKind::Observation,
    ];

    /// The noun that is shown to users.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            SubjectKind::Machine => "machine",
            SubjectKind::Process => "process",
            SubjectKind::Jvm => "JVM",
            SubjectKind::Cgroup => "cgroup",
            SubjectKind::Network => "network",
            SubjectKind::Database => "database",
            SubjectKind::Observation => "observation",
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// A share, as a fraction of 1.
    Share,
    /// Processor cores that were busy.
    Cores,
    /// A number of items, or a mean of such numbers.
    Count,
    /// A number of items per second.
    PerSecond,
}

macro_rules! figures {
    ($( $(#[doc = $doc:literal])+ $variant:ident: $name:literal, $words:literal, $unit:ident, $subject:ident; )+) => {
        /// A figure of the system under test. Its name in JSON and CSV ends with the unit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum FigureKind {
            $( $(#[doc = $doc])+ #[serde(rename = $name)] $variant, )+
        }

        impl FigureKind {
            /// All figures, in the order of display.
            pub const ALL: &'static [FigureKind] = &[$( FigureKind::$variant ),+];

            /// The name in JSON and CSV.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( FigureKind::$variant => $name, )+ }
            }

            /// The name that is shown to users.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $( FigureKind::$variant => $words, )+ }
            }

            /// The unit.
            #[must_use]
            pub const fn unit(self) -> FigureUnit {
                match self { $( FigureKind::$variant => FigureUnit::$unit, )+ }
            }

            /// The kind of subject that has the figure.
            #[must_use]
            pub const fn subject(self) -> SubjectKind {
                match self { $( FigureKind::$variant => SubjectKind::$subject, )+ }
            }
        }
    };
}

figures! {
    /// Share of the CPU time that was not idle. Waiting for disks counts as idle; steal does not.
    CpuUtilizationMean: "cpu_utilization_mean_ratio", "CPU utilization, mean", Share, Machine;
    /// The largest utilization between two readings.
    CpuUtilizationMax: "cpu_utilization_max_ratio", "CPU utilization, maximum", Share, Machine;
    /// Share of the CPU time that the hypervisor gave to others.
    CpuSteal: "cpu_steal_ratio", "CPU steal", Share, Machine;
    /// CPU time of everything on the machine, per completed request.
    MachineCpuPerRequest: "machine_cpu_per_request_seconds", "CPU time per request, whole machine", Seconds, Machine;
    /// Mean number of threads that waited for a CPU.
    RunQueueMean: "run_queue_mean", "threads waiting for a CPU, mean", Count, Machine;
    /// Largest number of threads that ran or waited for a CPU at a reading.
    RunQueueMax: "run_queue_max", "threads running or waiting for a CPU, maximum", Count, Machine;
    /// Largest use of memory at a reading: all memory minus the memory that programs could still allocate.
    MemoryUsedMax: "memory_used_max_bytes", "memory used, maximum", Bytes, Machine;
    /// Memory of the machine.
    MemoryTotal: "memory_total_bytes", "memory of the machine", Bytes, Machine;
    /// Pages read from swap.
    SwapInPages: "swap_in_pages", "pages read from swap", Count, Machine;
    /// Pages written to swap.
    SwapOutPages: "swap_out_pages", "pages written to swap", Count, Machine;
    /// Share of the time in which the busiest disk was busy.
    DiskBusy: "disk_busy_ratio", "busiest disk, share of time busy", Share, Machine;
    /// Mean time of a read or write of the busiest disk.
    DiskAwait: "disk_await_seconds", "busiest disk, mean time of a read or write", Seconds, Machine;
    /// Bytes received over the network, without the loopback interface.
    NetworkReceivedBytes: "network_received_bytes", "received over the network", Bytes, Machine;
    /// Bytes sent over the network, without the loopback interface.
    NetworkSentBytes: "network_sent_bytes", "sent over the network", Bytes, Machine;
    /// TCP segments that were sent again.
    Retransmissions: "tcp_retransmissions", "TCP segments sent again", Count, Machine;
    /// Connections that were dropped because the queue of a listening socket was full.
    ListenOverflows: "listen_overflows", "connections dropped by full listen queues", Count, Machine;
    /// Longest time for which nothing ran on the machine.
    StallMax: "stall_max_seconds", "longest stall", Seconds, Machine;

    /// CPU time.
    CpuSeconds: "cpu_seconds", "CPU time", Seconds, Process;
    /// CPU time per completed request.
    CpuPerRequest: "cpu_per_request_seconds", "CPU time per request", Seconds, Process;
    /// Cores that were busy on average.
    CoresMean: "cores_mean", "cores used, mean", Cores, Process;
    /// The largest mean number of busy cores between two readings.
    CoresMax: "cores_max", "cores used, maximum", Cores, Process;
    /// Time that threads waited for a CPU, per completed request.
    CpuWaitPerRequest: "cpu_wait_per_request_seconds", "CPU wait time per request", Seconds, Process;
    /// Largest memory in RAM at a reading.
    ResidentMax: "resident_max_bytes", "memory in RAM, maximum", Bytes, Process;
    /// Bytes read from disks.
    StorageReadBytes: "storage_read_bytes", "read from disks", Bytes, Process;
    /// Bytes written to disks.
    StorageWrittenBytes: "storage_written_bytes", "written to disks", Bytes, Process;
    /// Largest number of threads at a reading.
    ThreadsMax: "threads_max", "threads, maximum", Count, Process;
    /// Largest number of open file descriptors at a reading.
    OpenFilesMax: "open_files_max", "open file descriptors, maximum", Count, Process;

    /// Bytes that threads allocated per second: a lower bound, because JVMs do not count large objects there.
    AllocationRate: "allocated_bytes_per_second", "allocation rate, at least", BytesPerSecond, Jvm;
    /// Bytes that threads allocated, per completed request: a lower bound.
    AllocatedPerRequest: "allocated_bytes_per_request", "allocated per request, at least", Bytes, Jvm;
    /// Share of the time in which a garbage collector stopped the application.
    GcShare: "gc_pause_ratio", "GC pauses, share of time", Share, Jvm;
    /// Pauses of the application for a collector.
    GcPauses: "gc_pauses", "GC pauses", Count, Jvm;
    /// Total time of these pauses.
    GcPauseSeconds: "gc_pause_seconds", "GC pauses, total", Seconds, Jvm;
    /// The longest of these pauses.
    GcPauseMax: "gc_pause_max_seconds", "longest GC pause", Seconds, Jvm;
    /// Share of the time in which the application was stopped for any reason.
    StoppedShare: "stopped_ratio", "stopped at safepoints, share of time", Share, Jvm;
    /// Largest use of the heap at a reading.
    HeapUsedMax: "heap_used_max_bytes", "heap used, maximum", Bytes, Jvm;
    /// Limit of the heap.
    HeapLimit: "heap_limit_bytes", "heap limit", Bytes, Jvm;
    /// Largest number of threads at a reading.
    JvmThreadsMax: "jvm_threads_max", "JVM threads, maximum", Count, Jvm;

    /// CPU time of a cgroup.
    CgroupCpuSeconds: "cgroup_cpu_seconds", "CPU time", Seconds, Cgroup;
    /// CPU time of a cgroup per completed request.
    CgroupCpuPerRequest: "cgroup_cpu_per_request_seconds", "CPU time per request", Seconds, Cgroup;
    /// Cores that a cgroup used on average.
    CgroupCoresMean: "cgroup_cores_mean", "cores used, mean", Cores, Cgroup;
    /// Cores that the CPU quota of a cgroup allows.
    CgroupCoresLimit: "cgroup_cores_limit", "CPU limit", Cores, Cgroup;
    /// Share of the periods in which a cgroup reached its CPU quota and was stopped.
    ThrottledShare: "throttled_ratio", "periods with CPU throttling", Share, Cgroup;
    /// Largest amount of a cgroup's memory that cannot be freed easily.
    CgroupMemoryMax: "cgroup_memory_max_bytes", "working set, maximum", Bytes, Cgroup;
    /// Memory limit of a cgroup.
    CgroupMemoryLimit: "cgroup_memory_limit_bytes", "memory limit", Bytes, Cgroup;

    /// Bytes received in a network namespace, without the loopback interface.
    NamespaceReceivedBytes: "namespace_received_bytes", "received over the network", Bytes, Network;
    /// Bytes sent in a network namespace, without the loopback interface.
    NamespaceSentBytes: "namespace_sent_bytes", "sent over the network", Bytes, Network;
    /// TCP segments that were sent again in a network namespace.
    NamespaceRetransmissions: "namespace_tcp_retransmissions", "TCP segments sent again", Count, Network;
    /// Connections dropped by full listen queues in a network namespace.
    NamespaceListenOverflows: "namespace_listen_overflows", "connections dropped by full listen queues", Count, Network;

    /// Transactions that ended per second.
    TransactionRate: "transactions_per_second", "transactions per second", PerSecond, Database;
    /// Transactions that ended per completed request.
    TransactionsPerRequest: "transactions_per_request", "transactions per request", Count, Database;
    /// Share of the transactions that were rolled back.
    RollbackShare: "rollback_ratio", "transactions rolled back", Share, Database;
    /// Largest number of sessions at a reading.
    SessionsMax: "sessions_max", "sessions, maximum", Count, Database;
    /// The server's limit on sessions.
    SessionsLimit: "sessions_limit", "session limit", Count, Database;
    /// Largest number of sessions that waited for a lock at a reading.
    BlockedSessionsMax: "blocked_sessions_max", "sessions waiting for locks, maximum", Count, Database;
    /// Share of the blocks that were found in the server's cache.
    CacheHitShare: "cache_hit_ratio", "blocks found in the server's cache", Share, Database;
    /// Deadlocks.
    Deadlocks: "deadlocks", "deadlocks", Count, Database;

    /// Cores that reading all sources took on average.
    ObservationCores: "observation_cores_mean", "cores used by the observation, mean", Cores, Observation;
    /// Readings that were skipped.
    ReadingsSkipped: "readings_skipped", "readings skipped", Count, Observation;
}

impl FigureKind {
    /// Whether the figure is shown in places with room for only a few figures.
    #[must_use]
    pub const fn is_key(self) -> bool {
        matches!(
            self,
            FigureKind::CpuUtilizationMean
                | FigureKind::CpuUtilizationMax
                | FigureKind::RunQueueMean
                | FigureKind::MemoryUsedMax
                | FigureKind::DiskBusy
                | FigureKind::ListenOverflows
                | FigureKind::CpuPerRequest
                | FigureKind::CoresMean
                | FigureKind::ResidentMax
                | FigureKind::AllocatedPerRequest
                | FigureKind::GcShare
                | FigureKind::GcPauseMax
                | FigureKind::HeapUsedMax
                | FigureKind::CgroupCpuPerRequest
                | FigureKind::ThrottledShare
                | FigureKind::CgroupMemoryMax
                | FigureKind::NamespaceListenOverflows
                | FigureKind::TransactionsPerRequest
                | FigureKind::SessionsMax
                | FigureKind::BlockedSessionsMax
                | FigureKind::ObservationCores
        )
    }

    /// The figures of a kind of subject, in the order of display.
    pub fn of(subject: SubjectKind) -> impl Iterator<Item = FigureKind> {
        FigureKind::ALL.iter().copied().filter(move |figure| figure.subject() == subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_end_with_their_unit() {
        let mut names: Vec<&str> = FigureKind::ALL.iter().map(|figure| figure.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FigureKind::ALL.len());
        for figure in FigureKind::ALL {
            let has_unit = |unit: &str| figure.name().ends_with(unit);
            assert!(
                match figure.unit() {
                    FigureUnit::Seconds => has_unit("_seconds"),
                    FigureUnit::Bytes => has_unit("_bytes") || has_unit("_bytes_per_request"),
                    FigureUnit::BytesPerSecond => has_unit("_bytes_per_second"),
                    FigureUnit::Share => has_unit("_ratio"),
                    FigureUnit::PerSecond => has_unit("_per_second"),
                    FigureUnit::Cores => figure.name().contains("cores"),
                    FigureUnit::Count => true,
                },
                "{}",
                figure.name()
            );
        }
        assert!(SubjectKind::ALL.iter().all(|subject| FigureKind::of(*subject).any(FigureKind::is_key)));
    }

    #[test]
    fn figures_are_declared_subject_by_subject() {
        let subjects: Vec<SubjectKind> = FigureKind::ALL.iter().map(|figure| figure.subject()).collect();
        assert!(subjects.is_sorted());
    }
}
