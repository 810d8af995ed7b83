//! The metrics that explain slow requests.

/// The metrics from which causes of slow requests and the use of resources are computed, except those with the prefix
/// `busyhour_`. A scrape of a remote observer selects them by default.
pub const EXPLAINED_METRICS: [&str; 19] = [
    "node_cpu_seconds_total",
    "node_disk_io_time_seconds_total",
    "node_pressure_memory_waiting_seconds_total",
    "node_pressure_io_waiting_seconds_total",
    "node_netstat_Tcp_RetransSegs",
    "node_netstat_TcpExt_ListenOverflows",
    "process_cpu_seconds_total",
    "process_start_after_boot_seconds",
    "process_run_queue_wait_seconds_total",
    "process_major_page_faults_total",
    "process_outgoing_connections",
    "process_connections_awaiting_response",
    "jvm_start_time_seconds",
    "jvm_gc_pause_seconds_total",
    "jvm_monitor_contended_attempts_total",
    "container_cpu_usage_seconds_total",
    "container_cpu_cfs_throttled_seconds_total",
    "container_pressure_memory_waiting_seconds_total",
    "container_pressure_io_waiting_seconds_total",
];
