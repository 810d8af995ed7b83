//! The metrics from which the figures of the system under test are computed.

use busyhour_analysis::system::SubjectKind;
use busyhour_series::SeriesInfo;

/// A quantity that is the sum over the series of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quantity {
    CpuBusy,
    CpuAll,
    CpuSteal,
    CpuWaiting,
    RunQueue,
    MemoryUsed,
    MemoryTotal,
    SwapIn,
    SwapOut,
    DiskBusy,
    DiskOperations,
    DiskOperationTime,
    Received,
    Sent,
    Retransmitted,
    ListenOverflows,
    Stall,
    ProcessCpu,
    RunQueueWait,
    Resident,
    StorageRead,
    StorageWritten,
    Threads,
    OpenFiles,
    Allocated,
    GcPauses,
    GcPauseTime,
    Stopped,
    HeapUsed,
    HeapCommitted,
    HeapLimit,
    JvmThreads,
    CgroupCpu,
    CgroupCores,
    Periods,
    ThrottledPeriods,
    WorkingSet,
    MemoryLimit,
    Transactions,
    Rollbacks,
    Sessions,
    SessionsLimit,
    BlockedSessions,
    Blocks,
    BlocksInCache,
    Deadlocks,
    ObservationCpu,
    ReadingsSkipped,
}

impl Quantity {
    /// The metric that a report names if the quantity is unavailable.
    pub(super) const fn metric(self) -> &'static str {
        match self {
            Quantity::CpuBusy | Quantity::CpuAll | Quantity::CpuSteal => "node_cpu_seconds_total",
            Quantity::CpuWaiting => "node_schedstat_waiting_seconds_total",
            Quantity::RunQueue => "node_procs_running",
            Quantity::MemoryUsed => "node_memory_MemAvailable_bytes",
            Quantity::MemoryTotal => "node_memory_MemTotal_bytes",
            Quantity::SwapIn => "node_vmstat_pswpin",
            Quantity::SwapOut => "node_vmstat_pswpout",
            Quantity::DiskBusy => "node_disk_io_time_seconds_total",
            Quantity::DiskOperations => "node_disk_reads_completed_total",
            Quantity::DiskOperationTime => "node_disk_read_time_seconds_total",
            Quantity::Received => "node_network_receive_bytes_total",
            Quantity::Sent => "node_network_transmit_bytes_total",
            Quantity::Retransmitted => "node_netstat_Tcp_RetransSegs",
            Quantity::ListenOverflows => "node_netstat_TcpExt_ListenOverflows",
            Quantity::Stall => "busyhour_stall_max_seconds",
            Quantity::ProcessCpu => "process_cpu_seconds_total",
            Quantity::RunQueueWait => "process_run_queue_wait_seconds_total",
            Quantity::Resident => "process_resident_memory_bytes",
            Quantity::StorageRead => "process_io_storage_read_bytes_total",
            Quantity::StorageWritten => "process_io_storage_written_bytes_total",
            Quantity::Threads => "process_threads",
            Quantity::OpenFiles => "process_open_fds",
            Quantity::Allocated => "jvm_memory_allocated_bytes_total",
            Quantity::GcPauses => "jvm_gc_pauses_total",
            Quantity::GcPauseTime => "jvm_gc_pause_seconds_total",
            Quantity::Stopped => "jvm_safepoint_seconds_total",
            Quantity::HeapUsed => "jvm_memory_used_bytes",
            Quantity::HeapCommitted => "jvm_memory_committed_bytes",
            Quantity::HeapLimit => "jvm_memory_max_bytes",
            Quantity::JvmThreads => "jvm_threads_current",
            Quantity::CgroupCpu => "container_cpu_usage_seconds_total",
            Quantity::CgroupCores => "busyhour_cgroup_cpu_limit_cores",
            Quantity::Periods => "container_cpu_cfs_periods_total",
            Quantity::ThrottledPeriods => "container_cpu_cfs_throttled_periods_total",
            Quantity::WorkingSet => "container_memory_working_set_bytes",
            Quantity::MemoryLimit => "container_spec_memory_limit_bytes",
            Quantity::Transactions | Quantity::Rollbacks => "busyhour_postgres_transactions_total",
            Quantity::Sessions => "busyhour_postgres_sessions",
            Quantity::SessionsLimit => "busyhour_postgres_sessions_max",
            Quantity::BlockedSessions => "busyhour_postgres_blocked_sessions",
            Quantity::Blocks | Quantity::BlocksInCache => "busyhour_postgres_blocks_total",
            Quantity::Deadlocks => "busyhour_postgres_deadlocks_total",
            Quantity::ObservationCpu => "busyhour_observe_cpu_seconds_total",
            Quantity::ReadingsSkipped => "busyhour_observe_readings_skipped_total",
        }
    }

    /// The metric of MySQL, for quantities of databases.
    pub(super) const fn mysql_metric(self) -> Option<&'static str> {
        match self {
            Quantity::Transactions | Quantity::Rollbacks => Some("busyhour_mysql_transactions_total"),
            Quantity::Sessions => Some("busyhour_mysql_sessions"),
            Quantity::SessionsLimit => Some("busyhour_mysql_sessions_max"),
            Quantity::BlockedSessions => Some("busyhour_mysql_blocked_sessions"),
            Quantity::Blocks | Quantity::BlocksInCache => Some("busyhour_mysql_pages_total"),
            Quantity::Deadlocks => Some("busyhour_mysql_deadlocks_total"),
            _ => None,
        }
    }

    /// The quantity with which this one is compared, reading by reading.
    pub(super) const fn partner(self) -> Option<Quantity> {
        match self {
            Quantity::CpuBusy => Some(Quantity::CpuAll),
            Quantity::GcPauseTime => Some(Quantity::GcPauses),
            Quantity::HeapUsed => Some(Quantity::HeapCommitted),
            _ => None,
        }
    }
}

/// The part of the system that a series describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SubjectKey {
    pub(super) kind: SubjectKind,
    /// The source, or the source of a remote observer.
    pub(super) source: String,
    /// The exporter from which it was scraped; `None` for a source on this machine.
    pub(super) exporter: Option<String>,
    /// A disk of the machine.
    pub(super) disk: Option<String>,
}

impl SubjectKey {
    /// The name of the source, for users.
    pub(super) fn shown_source(&self) -> String {
        match &self.exporter {
            Some(exporter) if *exporter == self.source => self.source.clone(),
            Some(exporter) => {
                format!("{} at {}", self.source, exporter.strip_prefix(SCRAPED).unwrap_or(exporter))
            }
            None => self.source.clone(),
        }
    }
}

/// The prefix of the names of sources that are exporters.
const SCRAPED: &str = "prometheus:";

/// The use of a series: a subject, and quantities with their signs.
pub(super) struct SeriesUse {
    pub(super) key: SubjectKey,
    pub(super) quantities: Vec<(Quantity, f64)>,
}

impl SeriesUse {
    pub(super) fn of(source: &str, info: &SeriesInfo) -> Option<SeriesUse> {
        let (kind, quantities) = quantities(info)?;
        let exporter = source.starts_with(SCRAPED).then(|| source.to_owned());
        // A remote observer names its sources in a label. Two kinds of metrics use the label of that name for something
        // else.
        let has_own_label = matches!(kind, SubjectKind::Observation)
            || quantities.iter().any(|(quantity, _)| *quantity == Quantity::Blocks);
        let origin = match label(info, "source").filter(|_| exporter.is_some() && !has_own_label) {
            Some(inner) => inner,
            None => source,
        };
        let kind = match kind {
            SubjectKind::Machine if origin.starts_with("network:") => SubjectKind::Network,
            // Exporters for containers describe all containers of a machine.
            SubjectKind::Cgroup if !origin.starts_with("cgroup:") => return None,
            other => other,
        };
        let origin = match (kind, origin) {
            (SubjectKind::Machine, "stall") => "os",
            (SubjectKind::Observation, "stall") => "observe",
            (_, other) => other,
        };
        let is_of_disk = quantities.iter().any(|(quantity, _)| {
            matches!(quantity, Quantity::DiskBusy | Quantity::DiskOperations | Quantity::DiskOperationTime)
        });
        let disk = is_of_disk.then(|| label(info, "device").unwrap_or("disk").to_owned());
        Some(SeriesUse { key: SubjectKey { kind, source: origin.to_owned(), exporter, disk }, quantities })
    }

    /// The key of the machine to which a disk belongs.
    pub(super) fn machine_of(key: &SubjectKey) -> SubjectKey {
        SubjectKey { disk: None, ..key.clone() }
    }
}

/// The value of a label.
pub(super) fn label<'i>(info: &'i SeriesInfo, name: &str) -> Option<&'i str> {
    info.labels.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

fn quantities(info: &SeriesInfo) -> Option<(SubjectKind, Vec<(Quantity, f64)>)> {
    use Quantity as Q;
    let is = |name: &str, value: &str| label(info, name) == Some(value);
    let machine = |quantity| Some((SubjectKind::Machine, vec![(quantity, 1.0)]));
    let process = |quantity| Some((SubjectKind::Process, vec![(quantity, 1.0)]));
    let jvm = |quantity| Some((SubjectKind::Jvm, vec![(quantity, 1.0)]));
    let cgroup = |quantity| Some((SubjectKind::Cgroup, vec![(quantity, 1.0)]));
    let database = |quantity| Some((SubjectKind::Database, vec![(quantity, 1.0)]));
    let observation = |quantity| Some((SubjectKind::Observation, vec![(quantity, 1.0)]));
    let two = |kind, all, part, is_part: bool| {
        let part = is_part.then_some((part, 1.0));
        Some((kind, [(all, 1.0)].into_iter().chain(part).collect()))
    };
    match info.name.as_str() {
        "node_cpu_seconds_total" => {
            let mode = label(info, "mode")?;
            let busy = (!matches!(mode, "idle" | "iowait")).then_some((Q::CpuBusy, 1.0));
            let steal = (mode == "steal").then_some((Q::CpuSteal, 1.0));
            let all = [(Q::CpuAll, 1.0)].into_iter().chain(busy).chain(steal);
            Some((SubjectKind::Machine, all.collect()))
        }
        "node_schedstat_waiting_seconds_total" => machine(Q::CpuWaiting),
        "node_procs_running" => machine(Q::RunQueue),
        "node_memory_MemTotal_bytes" => {
            Some((SubjectKind::Machine, vec![(Q::MemoryTotal, 1.0), (Q::MemoryUsed, 1.0)]))
        }
        "node_memory_MemAvailable_bytes" => Some((SubjectKind::Machine, vec![(Q::MemoryUsed, -1.0)])),
        "node_vmstat_pswpin" => machine(Q::SwapIn),
        "node_vmstat_pswpout" => machine(Q::SwapOut),
        "node_disk_io_time_seconds_total" => machine(Q::DiskBusy),
        "node_disk_reads_completed_total" | "node_disk_writes_completed_total" => machine(Q::DiskOperations),
        "node_disk_read_time_seconds_total" | "node_disk_write_time_seconds_total" => {
            machine(Q::DiskOperationTime)
        }
        "node_network_receive_bytes_total" if !is("device", "lo") => machine(Q::Received),
        "node_network_transmit_bytes_total" if !is("device", "lo") => machine(Q::Sent),
        "node_netstat_Tcp_RetransSegs" => machine(Q::Retransmitted),
        "node_netstat_TcpExt_ListenOverflows" => machine(Q::ListenOverflows),
        "busyhour_stall_max_seconds" => machine(Q::Stall),
        "process_cpu_seconds_total" => process(Q::ProcessCpu),
        "process_run_queue_wait_seconds_total" => process(Q::RunQueueWait),
        "process_resident_memory_bytes" => process(Q::Resident),
        "process_io_storage_read_bytes_total" => process(Q::StorageRead),
        "process_io_storage_written_bytes_total" => process(Q::StorageWritten),
        "process_threads" => process(Q::Threads),
        "process_open_fds" => process(Q::OpenFiles),
        // The second name of each of these metrics is that of Micrometer.
        "jvm_memory_allocated_bytes_total" | "jvm_gc_memory_allocated_bytes_total" => jvm(Q::Allocated),
        "jvm_gc_pauses_total" | "jvm_gc_pause_seconds_count" => jvm(Q::GcPauses),
        "jvm_gc_pause_seconds_total" | "jvm_gc_pause_seconds_sum" => jvm(Q::GcPauseTime),
        "jvm_safepoint_seconds_total" => jvm(Q::Stopped),
        "jvm_memory_used_bytes" if is("area", "heap") => jvm(Q::HeapUsed),
        "jvm_memory_committed_bytes" if is("area", "heap") => jvm(Q::HeapCommitted),
        "jvm_memory_max_bytes" if is("area", "heap") && label(info, "id").is_none() => jvm(Q::HeapLimit),
        "jvm_threads_current" | "jvm_threads_live_threads" => jvm(Q::JvmThreads),
        "container_cpu_usage_seconds_total" => cgroup(Q::CgroupCpu),
        "busyhour_cgroup_cpu_limit_cores" => cgroup(Q::CgroupCores),
        "container_cpu_cfs_periods_total" => cgroup(Q::Periods),
        "container_cpu_cfs_throttled_periods_total" => cgroup(Q::ThrottledPeriods),
        "container_memory_working_set_bytes" => cgroup(Q::WorkingSet),
        "container_spec_memory_limit_bytes" => cgroup(Q::MemoryLimit),
        "busyhour_postgres_transactions_total" | "busyhour_mysql_transactions_total" => {
            two(SubjectKind::Database, Q::Transactions, Q::Rollbacks, is("outcome", "rollback"))
        }
        "busyhour_postgres_sessions" | "busyhour_mysql_sessions" => database(Q::Sessions),
        "busyhour_postgres_sessions_max" | "busyhour_mysql_sessions_max" => database(Q::SessionsLimit),
        "busyhour_postgres_blocked_sessions" | "busyhour_mysql_blocked_sessions" => {
            database(Q::BlockedSessions)
        }
        "busyhour_postgres_blocks_total" | "busyhour_mysql_pages_total" => {
            two(SubjectKind::Database, Q::Blocks, Q::BlocksInCache, is("source", "hit"))
        }
        "busyhour_postgres_deadlocks_total" | "busyhour_mysql_deadlocks_total" => database(Q::Deadlocks),
        "busyhour_observe_cpu_seconds_total" | "busyhour_stall_cpu_seconds_total" => {
            observation(Q::ObservationCpu)
        }
        "busyhour_observe_readings_skipped_total" => observation(Q::ReadingsSkipped),
        _ => None,
    }
}
