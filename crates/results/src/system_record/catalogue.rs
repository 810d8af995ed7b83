//! The known panels: the metrics that describe each aspect of a resource, in the order of the page.

use super::catalogue_servers::{JAVA, LOGS, SERVERS};
use super::model::Aspect::{Errors, Saturation, Traffic, Utilisation};
use super::model::Resource;
use super::model::Resource::{Cgroup, Disk, Memory, Network, Process, Sockets, Stall};
use super::model::Unit::{Bytes, BytesPerSecond, Cores, Count, PerSecond, Percent, Seconds};
use super::rule::{PanelRule, line, panel};

/// Shares of the CPU time of the machine. `cpu.rs` computes the lines of this panel and of the two panels below.
pub(super) static CPU_TIME: PanelRule = panel((Resource::Cpu, Utilisation), "CPU time", Percent, &[])
    .help("Share of the CPU time of the machine.")
    .stacked();

pub(super) static BUSY_CORES: PanelRule = panel((Resource::Cpu, Utilisation), "Busy cores", Percent, &[])
    .help("Share of the time in which a core was busy.");

pub(super) static IDLE_FOR_DISKS: PanelRule =
    panel((Disk, Saturation), "CPUs idle, waiting for a disk", Percent, &[])
        .help("Share of the CPU time that was idle while a thread that had run there waited for a disk.");

/// CPU time by mode and CPU.
pub(super) const CPU_METRIC: &str = "node_cpu_seconds_total";

/// Metrics that the tables or other parts of the page show. They do not count as exported metrics.
pub(super) const SHOWN_ELSEWHERE: &[&str] = &[
    CPU_METRIC,
    "busyhour_observe_cpu_seconds_total",
    "busyhour_observe_readings_skipped_total",
    "busyhour_stall_cpu_seconds_total",
    "busyhour_stall_interval_seconds",
    "busyhour_gc_log_lines_total",
    "busyhour_gc_log_pauses_total",
    "busyhour_gc_log_time_uncertainty_seconds",
    "busyhour_log_behind_ratio",
    "busyhour_log_lines_total",
    "busyhour_scrape_duration_seconds",
    "busyhour_scrape_samples",
    "busyhour_scrape_unreadable_lines",
    "busyhour_scrape_omitted_series",
    "jvm_info",
    "jvm_start_time_seconds",
    "process_info",
    "process_start_after_boot_seconds",
    "node_memory_MemTotal_bytes",
    "node_memory_SwapTotal_bytes",
];

/// All known panels.
pub(super) fn panels() -> impl Iterator<Item = &'static PanelRule> {
    MACHINE.iter().chain(PROGRAMS).chain(JAVA).chain(SERVERS).chain(LOGS)
}

static MACHINE: &[PanelRule] = &[
    panel((Resource::Cpu, Saturation), "Run queue", Count, &[line("node_procs_running", "running or waiting")])
        .help("Threads that run or wait for a CPU."),
    panel(
        (Resource::Cpu, Saturation),
        "Waiting for a CPU",
        Percent,
        &[line("node_pressure_cpu_waiting_seconds_total", "some thread waits").percent()],
    )
    .help("Pressure (PSI): share of the time in which at least one thread waited for a CPU."),
    panel(
        (Resource::Cpu, Saturation),
        "Threads waiting for a CPU",
        Count,
        &[line("node_schedstat_waiting_seconds_total", "waiting")],
    )
    .help("Threads that were ready to run and waited, on average."),
    panel(
        (Resource::Cpu, Traffic),
        "Context switches",
        PerSecond,
        &[line("node_context_switches_total", "switches"), line("node_forks_total", "new threads")],
    ),
    panel(
        (Memory, Utilisation),
        "Memory",
        Bytes,
        &[
            line("node_memory_MemTotal_bytes", "used").less("node_memory_MemAvailable_bytes"),
            line("node_memory_Cached_bytes", "page cache"),
            line("node_memory_MemTotal_bytes", "memory of the machine").limit(),
        ],
    )
    .help("Used memory cannot be allocated by programs without swapping. The page cache can be freed."),
    panel(
        (Memory, Saturation),
        "Waiting for memory",
        Percent,
        &[
            line("node_pressure_memory_waiting_seconds_total", "some thread waits").percent(),
            line("node_pressure_memory_stalled_seconds_total", "all threads wait").percent(),
        ],
    )
    .help("Pressure (PSI): share of the time in which threads waited for memory.")
    .not_zero(),
    panel(
        (Memory, Saturation),
        "Swap space",
        Bytes,
        &[
            line("node_memory_SwapTotal_bytes", "used").less("node_memory_SwapFree_bytes"),
            line("node_memory_SwapTotal_bytes", "swap space").limit(),
        ],
    )
    .not_zero(),
    panel(
        (Memory, Saturation),
        "Swapped pages",
        PerSecond,
        &[line("node_vmstat_pswpin", "read from swap"), line("node_vmstat_pswpout", "written to swap")],
    )
    .not_zero(),
    panel(
        (Memory, Saturation),
        "Major page faults",
        PerSecond,
        &[
            line("node_vmstat_pgmajfault", "faults that read a disk"),
            line("node_vmstat_workingset_refault_file", "file pages read again"),
        ],
    )
    .not_zero(),
    panel((Memory, Errors), "Processes killed for lack of memory", PerSecond, &[line("node_vmstat_oom_kill", "killed")])
        .not_zero(),
    panel(
        (Memory, Traffic),
        "Data waiting to be written",
        Bytes,
        &[line("node_memory_Dirty_bytes", "changed"), line("node_memory_Writeback_bytes", "being written")],
    )
    .changed(),
    panel(
        (Disk, Utilisation),
        "Disk busy",
        Percent,
        &[line("node_disk_io_time_seconds_total", "").by(&["device"]).percent()],
    )
    .help("Share of the time in which the disk was busy. A disk that serves several requests in parallel may have capacity left at 100 %.")
    .not_zero(),
    panel((Disk, Saturation), "Disk await", Seconds, &[line("busyhour_disk_await_seconds", "").by(&["device"])])
        .help("Mean time of a read or write, including waiting.")
        .not_zero(),
    panel(
        (Disk, Saturation),
        "Disk queue",
        Count,
        &[line("node_disk_io_time_weighted_seconds_total", "").by(&["device"])],
    )
    .help("Reads and writes in progress, on average.")
    .not_zero(),
    panel(
        (Disk, Saturation),
        "Waiting for a disk",
        Percent,
        &[
            line("node_pressure_io_waiting_seconds_total", "some thread waits").percent(),
            line("node_pressure_io_stalled_seconds_total", "all threads wait").percent(),
        ],
    )
    .help("Pressure (PSI): share of the time in which threads waited for a disk.")
    .not_zero(),
    panel(
        (Disk, Traffic),
        "Disk reads and writes",
        BytesPerSecond,
        &[
            line("node_disk_read_bytes_total", "read,").by(&["device"]),
            line("node_disk_written_bytes_total", "written,").by(&["device"]),
        ],
    )
    .not_zero(),
    panel(
        (Network, Traffic),
        "Network",
        BytesPerSecond,
        &[
            line("node_network_receive_bytes_total", "received,").by(&["device"]),
            line("node_network_transmit_bytes_total", "sent,").by(&["device"]),
        ],
    )
    .not_zero(),
    panel(
        (Network, Errors),
        "TCP segments sent again",
        PerSecond,
        &[
            line("node_netstat_Tcp_RetransSegs", "retransmissions"),
            line("node_netstat_TcpExt_TCPTimeouts", "timeouts"),
            line("node_netstat_TcpExt_TCPSynRetrans", "connection requests sent again"),
        ],
    )
    .not_zero(),
    panel(
        (Network, Errors),
        "Dropped and damaged packets",
        PerSecond,
        &[
            line("node_network_receive_drop_total", "dropped on receipt,").by(&["device"]),
            line("node_network_transmit_drop_total", "dropped before sending,").by(&["device"]),
            line("node_network_receive_errs_total", "damaged,").by(&["device"]),
            line("node_network_transmit_errs_total", "not sent,").by(&["device"]),
            line("node_netstat_Udp_RcvbufErrors", "UDP: buffer full"),
            line("node_netstat_TcpExt_TCPBacklogDrop", "TCP: receiver too slow"),
        ],
    )
    .not_zero(),
    panel(
        (Sockets, Saturation),
        "Connections waiting to be accepted",
        Count,
        &[
            line("busyhour_tcp_listen_queue_length", "").by(&["address"]),
            line("busyhour_tcp_listen_queue_limit", "limit of").by(&["address"]).limit(),
        ],
    )
    .help("The backlog of listening sockets. At the limit, further connections are dropped.")
    .not_zero(),
    panel(
        (Sockets, Errors),
        "Connections dropped by listening sockets",
        PerSecond,
        &[
            line("node_netstat_TcpExt_ListenOverflows", "backlog full"),
            line("node_netstat_TcpExt_ListenDrops", "dropped in total"),
        ],
    )
    .not_zero(),
    panel(
        (Sockets, Errors),
        "Failed and reset connections",
        PerSecond,
        &[
            line("node_netstat_Tcp_AttemptFails", "attempts that failed"),
            line("node_netstat_Tcp_EstabResets", "reset"),
        ],
    )
    .not_zero(),
    panel(
        (Sockets, Utilisation),
        "TCP connections by state",
        Count,
        &[line("node_tcp_connection_states", "").by(&["state"])],
    )
    .not_zero(),
    panel(
        (Sockets, Traffic),
        "New TCP connections",
        PerSecond,
        &[line("node_netstat_Tcp_PassiveOpens", "accepted"), line("node_netstat_Tcp_ActiveOpens", "opened by this machine")],
    )
    .not_zero(),
    panel(
        (Stall, Saturation),
        "Stalls",
        Seconds,
        &[
            line("busyhour_stall_max_seconds", "longest delay"),
            line("busyhour_stall_p99_seconds", "99th percentile"),
        ],
    )
    .help("Lateness of a thread on the observing machine that is scheduled at short intervals."),
];

static PROGRAMS: &[PanelRule] = &[
    panel((Process, Utilisation), "CPU of processes", Cores, &[line("process_cpu_seconds_total", "")])
        .across(),
    panel((Process, Utilisation), "Memory of processes", Bytes, &[line("process_resident_memory_bytes", "")])
        .help("Memory in RAM of the process and its descendants. Memory that they share is counted several times.")
        .across(),
    panel(
        (Process, Saturation),
        "Threads of processes waiting for a CPU",
        Count,
        &[line("process_run_queue_wait_seconds_total", "")],
    )
    .help("Threads that were ready to run and waited, on average.")
    .across(),
    panel(
        (Process, Saturation),
        "Involuntary context switches",
        PerSecond,
        &[line("process_context_switches_total", "").only("kind", "involuntary")],
    )
    .help("The kernel interrupted a thread to run another one.")
    .not_zero()
    .across(),
    panel(
        (Process, Saturation),
        "Connections that await a response",
        Count,
        &[line("process_connections_awaiting_response", "").by(&["peer"])],
    )
    .help("Connections to other servers that sent data after the last data they received.")
    .not_zero()
    .across(),
    panel(
        (Process, Errors),
        "Major page faults of processes",
        PerSecond,
        &[line("process_major_page_faults_total", "")],
    )
    .not_zero()
    .across(),
    panel(
        (Process, Traffic),
        "Input and output of processes",
        BytesPerSecond,
        &[line("process_io_read_bytes_total", "reads"), line("process_io_written_bytes_total", "writes")],
    )
    .help("Bytes that system calls read and wrote: files, sockets and pipes.")
    .not_zero()
    .across(),
    panel((Process, Traffic), "Threads of processes", Count, &[line("process_threads", "")])
        .changed()
        .across(),
    panel((Process, Traffic), "Open files of processes", Count, &[line("process_open_fds", "")])
        .changed()
        .across(),
    panel(
        (Cgroup, Utilisation),
        "CPU of control groups",
        Cores,
        &[
            line("container_cpu_usage_seconds_total", "").by(&["pod", "container", "name"]),
            line("busyhour_cgroup_cpu_limit_cores", "limit").limit(),
        ],
    )
    .across(),
    panel(
        (Cgroup, Utilisation),
        "Memory of control groups",
        Bytes,
        &[
            line("container_memory_working_set_bytes", "").by(&["pod", "container", "name"]),
            line("container_spec_memory_limit_bytes", "limit").by(&["pod", "container", "name"]).limit(),
        ],
    )
    .help("Memory without cached contents of files that were not used for some time.")
    .across(),
    panel(
        (Cgroup, Saturation),
        "Throttled CPU time",
        Cores,
        &[line("container_cpu_cfs_throttled_seconds_total", "").by(&["pod", "container", "name"])],
    )
    .help("CPUs that the kernel withheld because the group had used up its quota.")
    .not_zero()
    .across(),
    panel(
        (Cgroup, Saturation),
        "Pressure of control groups",
        Percent,
        &[
            line("container_pressure_cpu_waiting_seconds_total", "CPU").percent(),
            line("container_pressure_memory_waiting_seconds_total", "memory").percent(),
            line("container_pressure_io_waiting_seconds_total", "disk").percent(),
        ],
    )
    .help("Share of the time in which some thread of the group waited.")
    .not_zero()
    .across(),
    panel(
        (Cgroup, Errors),
        "Memory limits reached",
        PerSecond,
        &[line("busyhour_cgroup_memory_events_total", "").by(&["event"])],
    )
    .not_zero()
    .across(),
];
