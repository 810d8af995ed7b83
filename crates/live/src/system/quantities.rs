//! Quantities that are computed from the latest values of the series.

use std::collections::BTreeMap;

use busyhour_report::numbers::{ms, percent, rate};
use busyhour_sample::Nanos;
use busyhour_series::{LatestValue, ProgramNames};

/// Prefix of the names of sources that are exporters. An observer on another machine puts the names of its sources in a
/// label.
const SCRAPED: &str = "prometheus:";

/// The kind of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QuantityKind {
    /// Busy share of the CPUs of a machine.
    Utilization,
    /// Cores that a process uses.
    ProcessCores,
    /// Share of the time in which a JVM is stopped for a collection.
    GcShare,
    /// Share of a limit: memory, sessions, descriptors, queues, disks.
    OfLimit,
}

/// Identifies a quantity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QuantityKey {
    pub(crate) kind: QuantityKind,
    /// The source of the series.
    pub(crate) origin: String,
    /// The resource with a limit; empty for other kinds.
    pub(crate) resource: &'static str,
    /// Distinguishes resources of the same kind, for example by the name of a device.
    pub(crate) part: String,
}

impl QuantityKey {
    /// The name that is shown to users.
    pub(crate) fn words(&self, names: &ProgramNames) -> String {
        let origin = match names.of("", &self.origin) {
            Some(name) => format!("{name} ({})", self.origin),
            None => self.origin.clone(),
        };
        let text = match self.kind {
            QuantityKind::Utilization => format!("CPU utilization, {origin}"),
            QuantityKind::ProcessCores => format!("CPU of {origin}"),
            QuantityKind::GcShare => format!("GC pauses of {origin}"),
            QuantityKind::OfLimit if self.part.is_empty() => format!("{}, {origin}", self.resource),
            QuantityKind::OfLimit => format!("{} {}, {origin}", self.resource, self.part),
        };
        busyhour_report::label_shown(&text)
    }

    pub(super) fn value_text(&self, value: f64) -> String {
        match self.kind {
            QuantityKind::ProcessCores => {
                format!("{} cores", if value < 0.1 { rate(value) } else { ms(value) })
            }
            _ => format!("{} %", percent(value * 100.0)),
        }
    }

    /// The upper end of the value axis.
    pub(super) fn top(&self, max: f64) -> f64 {
        match self.kind {
            QuantityKind::Utilization | QuantityKind::OfLimit => max.max(1.0),
            QuantityKind::ProcessCores => max.max(0.1),
            QuantityKind::GcShare => max.max(0.05),
        }
    }
}

/// A quantity at one time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) key: QuantityKey,
    pub(super) time: Nanos,
    pub(super) value: ReadValue,
}

/// The readings from which a quantity is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReadValue {
    /// The quantity itself.
    Gauge(f64),
    /// A total: the quantity is its increase per second, divided by `of`.
    Total { total: f64, of: f64 },
    /// Two totals: the quantity is the ratio of their increases.
    Totals { part: f64, whole: f64 },
}

/// Sums of the values of one source, by metric and, for some metrics, by the value of a label.
#[derive(Default)]
struct Sums<'v> {
    /// By metric and part.
    sums: BTreeMap<(&'static str, &'v str), Sum>,
    has_cpu_all: bool,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    value: f64,
    time: Nanos,
}

/// Takes the names of programs.
pub(super) fn take_names(values: &[LatestValue], names: &mut ProgramNames) {
    for value in values.iter().filter(|value| ProgramNames::is_naming(&value.name)) {
        if let Some(name) = label(value, "name") {
            names.take("", origin(value), &value.name, name);
        }
    }
}

fn label<'v>(value: &'v LatestValue, name: &str) -> Option<&'v str> {
    value.labels.iter().find(|(own, _)| own == name).map(|(_, text)| text.as_str())
}

fn origin(value: &LatestValue) -> &str {
    let inner = label(value, "source").filter(|_| value.source.starts_with(SCRAPED));
    inner.unwrap_or(&value.source)
}

/// The quantities of the latest values.
pub(super) fn read(values: &[LatestValue]) -> Vec<Reading> {
    let mut sources: BTreeMap<&str, Sums<'_>> = BTreeMap::new();
    for value in values {
        let is_all = &*value.name == "node_cpu_seconds_total" && label(value, "cpu") == Some("all");
        sources.entry(origin(value)).or_default().has_cpu_all |= is_all;
    }
    for value in values {
        if let Some(sums) = sources.get_mut(origin(value)) {
            sums.add(value);
        }
    }
    sources.iter().flat_map(|(origin, sums)| sums.readings(origin)).collect()
}

impl<'v> Sums<'v> {
    fn add(&mut self, value: &'v LatestValue) {
        let is_heap = label(value, "area") == Some("heap");
        let part = |name| label(value, name).unwrap_or_default();
        let (metric, part) = match &*value.name {
            "node_cpu_seconds_total" => {
                if self.has_cpu_all && label(value, "cpu") != Some("all") {
                    return;
                }
                let is_idle = matches!(label(value, "mode"), Some("idle" | "iowait"));
                self.put("cpu", "", value);
                if is_idle {
                    return;
                }
                ("cpu-busy", "")
            }
            "process_cpu_seconds_total" => ("process-cpu", ""),
            "jvm_gc_pause_seconds_total" | "jvm_gc_pause_seconds_sum" => ("gc", ""),
            "node_memory_MemTotal_bytes" => ("memory-limit", ""),
            "node_memory_MemAvailable_bytes" => ("memory-free", ""),
            "jvm_memory_used_bytes" if is_heap => ("heap", ""),
            "jvm_memory_max_bytes" if is_heap => ("heap-limit", ""),
            "busyhour_postgres_sessions" | "busyhour_mysql_sessions" => ("sessions", ""),
            "busyhour_postgres_sessions_max" | "busyhour_mysql_sessions_max" => ("sessions-limit", ""),
            "process_open_fds_of_largest" => ("files", ""),
            "process_max_fds" => ("files-limit", ""),
            "node_disk_io_time_seconds_total" => ("disk", part("device")),
            "container_cpu_usage_seconds_total" => ("cgroup-cpu", ""),
            "busyhour_cgroup_cpu_limit_cores" => ("cgroup-cpu-limit", ""),
            "container_memory_working_set_bytes" => ("cgroup-memory", ""),
            "container_spec_memory_limit_bytes" => ("cgroup-memory-limit", ""),
            "busyhour_tcp_listen_queue_length" => ("queue", part("address")),
            "busyhour_tcp_listen_queue_limit" => ("queue-limit", part("address")),
            _ => return,
        };
        self.put(metric, part, value);
    }

    fn put(&mut self, metric: &'static str, part: &'v str, value: &LatestValue) {
        let sum = self.sums.entry((metric, part)).or_default();
        sum.value += value.value;
        sum.time = sum.time.max(value.time);
    }

    fn sum(&self, metric: &'static str, part: &str) -> Option<Sum> {
        self.sums.get(&(metric, part)).copied()
    }

    fn readings(&self, origin: &str) -> Vec<Reading> {
        let key = |kind, resource, part: &str| QuantityKey {
            kind,
            origin: origin.to_owned(),
            resource,
            part: part.to_owned(),
        };
        let reading = |key, time, value| Reading { key, time, value };
        let total = |kind, metric| {
            let sum = self.sum(metric, "")?;
            Some(reading(key(kind, "", ""), sum.time, ReadValue::Total { total: sum.value, of: 1.0 }))
        };
        let mut readings = Vec::new();
        if let (Some(busy), Some(all)) = (self.sum("cpu-busy", ""), self.sum("cpu", "")) {
            let value = ReadValue::Totals { part: busy.value, whole: all.value };
            readings.push(reading(key(QuantityKind::Utilization, "", ""), busy.time, value));
        }
        readings.extend(total(QuantityKind::ProcessCores, "process-cpu"));
        readings.extend(total(QuantityKind::GcShare, "gc"));
        readings.extend(self.limits(&key));
        if let (Some(used), Some(limit)) =
            (self.sum("cgroup-cpu", ""), self.sum("cgroup-cpu-limit", "").filter(|limit| limit.value > 0.0))
        {
            let value = ReadValue::Total { total: used.value, of: limit.value };
            readings.push(reading(key(QuantityKind::OfLimit, "CPU limit", ""), used.time, value));
        }
        for ((metric, part), sum) in &self.sums {
            if *metric == "disk" {
                let value = ReadValue::Total { total: sum.value, of: 1.0 };
                readings.push(reading(key(QuantityKind::OfLimit, "disk busy", part), sum.time, value));
            }
        }
        readings
    }

    /// Gauges as shares of their limits.
    fn limits(&self, key: &dyn Fn(QuantityKind, &'static str, &str) -> QuantityKey) -> Vec<Reading> {
        let of_limit = |resource, used: Option<Sum>, limit: Option<Sum>, part: &str| {
            let (used, limit) = used.zip(limit)?;
            // Some sources report an enormous limit instead of none.
            (limit.value > 0.0 && limit.value < 1e18).then(|| Reading {
                key: key(QuantityKind::OfLimit, resource, part),
                time: used.time,
                value: ReadValue::Gauge(used.value / limit.value),
            })
        };
        let sum = |metric| self.sum(metric, "");
        let memory = sum("memory-limit")
            .zip(sum("memory-free"))
            .map(|(limit, free)| Sum { value: limit.value - free.value, ..free });
        let mut readings: Vec<Reading> = [
            of_limit("memory used", memory, sum("memory-limit"), ""),
            of_limit("heap used", sum("heap"), sum("heap-limit"), ""),
            of_limit("sessions", sum("sessions"), sum("sessions-limit"), ""),
            of_limit("open files", sum("files"), sum("files-limit"), ""),
            of_limit("memory limit", sum("cgroup-memory"), sum("cgroup-memory-limit"), ""),
        ]
        .into_iter()
        .flatten()
        .collect();
        for ((metric, part), used) in &self.sums {
            if *metric == "queue" {
                readings.extend(of_limit("listen queue", Some(*used), self.sum("queue-limit", part), part));
            }
        }
        readings
    }
}
