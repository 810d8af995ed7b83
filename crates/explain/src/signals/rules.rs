//! Which metrics show which causes.

use busyhour_analysis::explanation::Cause;
use busyhour_series::SeriesInfo;

use crate::series_pieces::label;

/// Connections of a process to each server, label `peer`.
pub(crate) const CONNECTIONS: &str = "process_outgoing_connections";

/// The connections that await a response.
pub(crate) const AWAITING: &str = "process_connections_awaiting_response";

/// A metric whose larger values mean that a cause is stronger.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) cause: Cause,
    pub(super) metric: &'static str,
    /// The measured state, for sentences such as `while process:7 was …`. The value of [`each`](Self::each) is appended.
    pub(super) name: &'static str,
    /// The smallest value that may be the cause. Counters are converted to rates per second.
    pub(super) relevant: f64,
    /// Whether values are numbers of waiting requests, or seconds of waiting per second.
    pub(super) is_waiting: bool,
    /// Which series of the metric count.
    only: Only,
    /// A label whose values have signals of their own; otherwise the series of a source are added up.
    pub(super) each: Option<&'static str>,
}

/// A condition on a label.
#[derive(Debug)]
enum Only {
    All,
    With(&'static str, &'static str),
}

impl Rule {
    const fn new(cause: Cause, metric: &'static str, name: &'static str, relevant: f64) -> Rule {
        Rule { cause, metric, name, relevant, is_waiting: false, only: Only::All, each: None }
    }

    const fn waiting(mut self) -> Rule {
        self.is_waiting = true;
        self
    }

    const fn with(mut self, name: &'static str, value: &'static str) -> Rule {
        self.only = Only::With(name, value);
        self
    }

    const fn each(mut self, label: &'static str) -> Rule {
        self.each = Some(label);
        self
    }

    pub(super) fn matches(&self, info: &SeriesInfo) -> bool {
        match self.only {
            Only::All => true,
            Only::With(name, value) => label(info, name) == Some(value),
        }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule::new(Cause::Steal, "node_cpu_seconds_total", "losing CPU time to the hypervisor", 0.05)
        .with("mode", "steal"),
    Rule::new(
        Cause::CpuQuota,
        "container_cpu_cfs_throttled_seconds_total",
        "throttled by its CPU quota",
        0.02,
    )
    .waiting(),
    Rule::new(
        Cause::MemoryPressure,
        "node_pressure_memory_waiting_seconds_total",
        "waiting for memory",
        0.02,
    ),
    Rule::new(
        Cause::MemoryPressure,
        "container_pressure_memory_waiting_seconds_total",
        "waiting for memory",
        0.02,
    ),
    Rule::new(Cause::MemoryPressure, "process_major_page_faults_total", "reading memory from disk", 20.0),
    Rule::new(Cause::GcPauses, "jvm_gc_pause_seconds_total", "paused for garbage collection", 0.005),
    Rule::new(Cause::NetworkLoss, "node_netstat_Tcp_RetransSegs", "sending lost packets again", 1.0),
    Rule::new(
        Cause::DatabaseLock,
        "busyhour_postgres_blocked_sessions",
        "blocked in sessions that waited for locks",
        0.3,
    )
    .waiting(),
    Rule::new(
        Cause::DatabaseLock,
        "busyhour_mysql_blocked_sessions",
        "blocked in sessions that waited for locks",
        0.3,
    )
    .waiting(),
    Rule::new(Cause::Disk, "node_pressure_io_waiting_seconds_total", "waiting for disks", 0.05),
    Rule::new(Cause::Disk, "container_pressure_io_waiting_seconds_total", "waiting for disks", 0.05),
    Rule::new(Cause::SlowDependency, AWAITING, "waiting for responses of", 0.5).waiting().each("peer"),
    Rule::new(
        Cause::PoolExhausted,
        "busyhour_tcp_listen_queue_length",
        "leaving connections in the queue of a listening socket",
        1.0,
    )
    .waiting(),
    Rule::new(Cause::PoolExhausted, "node_netstat_TcpExt_ListenOverflows", "refusing connections", 0.5),
    Rule::new(Cause::LockContention, "jvm_monitor_contended_attempts_total", "contending for monitors", 50.0),
    Rule::new(Cause::DatabaseWork, "busyhour_postgres_sessions", "busy with queries", 1.0)
        .with("state", "active")
        .waiting(),
    Rule::new(Cause::DatabaseWork, "busyhour_mysql_sessions", "busy with queries", 1.0)
        .with("state", "active")
        .waiting(),
    Rule::new(
        Cause::MemoryBandwidth,
        "busyhour_perf_cycles_per_instruction",
        "using more cycles per instruction",
        0.5,
    ),
    Rule::new(
        Cause::MemoryBandwidth,
        "busyhour_memory_traffic_bytes_total",
        "moving more bytes to and from memory",
        1e8,
    ),
    Rule::new(Cause::Errors, "busyhour_log_exceptions_total", "logging exceptions", 0.5),
    Rule::new(Cause::Errors, "busyhour_log_problems_total", "logging errors", 0.5),
    Rule::new(Cause::CpuSaturation, "process_run_queue_wait_seconds_total", "waiting for a CPU", 0.05)
        .waiting(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_own_name_or_metric() {
        for (at, rule) in RULES.iter().enumerate() {
            assert!(rule.relevant > 0.0 && !rule.name.is_empty());
            assert!(
                RULES[at + 1..].iter().all(|other| other.metric != rule.metric || other.cause != rule.cause)
            );
        }
    }
}
