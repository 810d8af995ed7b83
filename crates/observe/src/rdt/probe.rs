//! The probe that records the counters of all groups.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use busyhour_series::{Metric, MetricKind};

use super::info::RdtInfo;
use super::resctrl::{MonitorValue, RdtError, Resctrl, ResctrlGroup, ResctrlValue};
use crate::probe::{Probe, ProbeError};
use crate::reading::Reading;
use crate::series_id::SeriesId;

/// Events with known meaning: name in resctrl, metric.
static EVENTS: [(&str, Metric); 5] = [
    (
        "llc_occupancy",
        Metric::gauge(
            "busyhour_cache_occupancy_bytes",
            "Part of the last-level cache that holds data of the group.",
        ),
    ),
    (
        "mbm_total_bytes",
        Metric::counter(
            "busyhour_memory_traffic_bytes_total",
            "Bytes that the group moved between cache and memory.",
        ),
    ),
    (
        "mbm_local_bytes",
        Metric::counter(
            "busyhour_memory_local_traffic_bytes_total",
            "Bytes that the group moved between cache and the memory of the same socket.",
        ),
    ),
    (
        "core_energy",
        Metric::counter(
            "busyhour_core_energy_joules_total",
            "Energy that cores used while they executed the group.",
        ),
    ),
    (
        "activity",
        Metric::counter(
            "busyhour_core_activity_farads_total",
            "Work of cores while they executed the group, independent of their frequency.",
        ),
    ),
];

/// Records the counters of all groups of resctrl that exist at the time of a reading.
///
/// Labels: `group` (`/` is the default group), `monitor` (a monitor group; a control group includes its monitor groups),
/// `resource`, `domain` (cache or package), `node` (only with sub-NUMA clustering; the series without this label is the sum).
/// Events that this version does not know are recorded as `busyhour_resctrl_EVENT`: as counters if the resource is
/// `PERF_PKG`, whose events all accumulate, otherwise as gauges.
#[derive(Debug)]
pub struct RdtProbe {
    resctrl: Resctrl,
    info: Option<RdtInfo>,
    series: HashMap<SeriesKey, SeriesId>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SeriesKey {
    group: ResctrlGroup,
    resource: String,
    domain: String,
    node: Option<String>,
    event: String,
}

impl RdtProbe {
    /// A probe that reads these groups.
    #[must_use]
    pub fn new(resctrl: Resctrl) -> Self {
        Self { resctrl, info: None, series: HashMap::new() }
    }

    fn record(&mut self, reading: &mut Reading<'_>, group: &ResctrlGroup, value: MonitorValue) {
        let number = match value.value {
            ResctrlValue::Number(number) => number,
            ResctrlValue::Absent(text) => {
                let reason = reason(&text, group);
                reading.unavailable(&metric(&value.resource, &value.event), &reason);
                return;
            }
        };
        let MonitorValue { resource, domain, node, event, .. } = value;
        let key = SeriesKey { group: group.clone(), resource, domain, node, event };
        let series = match self.series.get(&key) {
            Some(series) => *series,
            None => {
                let series = declare(reading, &key);
                // Limits the memory if groups are created and removed repeatedly.
                if self.series.len() < busyhour_series::SERIES_MAX {
                    self.series.insert(key, series);
                }
                series
            }
        };
        reading.set(series, number);
    }
}

impl Probe for RdtProbe {
    fn source(&self) -> &str {
        "resctrl"
    }

    fn interval_min(&self) -> Duration {
        // Reading an occupancy interrupts a core of the cache's socket.
        Duration::from_secs(1)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        if self.info.is_none() {
            let info = self.resctrl.info().map_err(probe_error)?;
            if info.monitors.is_empty() {
                return Err(ProbeError::Missing {
                    what: "monitoring by resctrl".to_owned(),
                    advice: "this processor can allocate but not monitor".to_owned(),
                });
            }
            self.info = Some(info);
        }
        for group in self.resctrl.groups().map_err(probe_error)? {
            // A group may be removed meanwhile.
            for value in self.resctrl.values(&group).unwrap_or_default() {
                self.record(reading, &group, value);
            }
        }
        Ok(())
    }
}

fn declare(reading: &mut Reading<'_>, key: &SeriesKey) -> SeriesId {
    let group = if key.group.control.is_empty() { "/" } else { &key.group.control };
    let mut labels = vec![("group", group)];
    labels.extend(key.group.monitor.iter().map(|monitor| ("monitor", monitor.as_str())));
    labels.extend([("resource", key.resource.as_str()), ("domain", key.domain.as_str())]);
    labels.extend(key.node.iter().map(|node| ("node", node.as_str())));
    reading.series(&metric(&key.resource, &key.event), &labels)
}

fn metric(resource: &str, event: &str) -> Metric {
    if let Some((_, metric)) = EVENTS.iter().find(|(name, _)| *name == event) {
        return metric.clone();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = event.chars().map(plain).collect();
    let (kind, suffix) =
        if resource == "PERF_PKG" { (MetricKind::Counter, "_total") } else { (MetricKind::Gauge, "") };
    Metric {
        name: Cow::Owned(format!("busyhour_resctrl_{name}{suffix}")),
        kind,
        help: Cow::Borrowed("An event of resctrl, as the kernel reports it."),
    }
}

/// Why a counter has no value.
fn reason(text: &str, group: &ResctrlGroup) -> String {
    let group = group.path();
    let shown = if group.as_os_str().is_empty() { "/".to_owned() } else { group.display().to_string() };
    match text {
        "Unassigned" => format!(
            "no hardware counter is assigned to the group {shown}; assign one through its or the info directory's \
             mbm_L3_assignments, or set mbm_assign_mode to default"
        ),
        "Unavailable" => {
            format!(
                "the hardware has no value for the group {shown} now; this is normal shortly after it was created"
            )
        }
        other => format!("the kernel returned `{other}` for the group {shown}"),
    }
}

fn probe_error(error: RdtError) -> ProbeError {
    match error {
        RdtError::Missing { advice, .. } => {
            ProbeError::Missing { what: "resctrl".to_owned(), advice: advice.to_owned() }
        }
        RdtError::Read { path, source } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            ProbeError::Denied {
                what: format!("resctrl ({})", path.display()),
                advice: "run as root".to_owned(),
            }
        }
        RdtError::Read { path, source } => ProbeError::read(path, source),
        other => ProbeError::Other { what: "resctrl".to_owned(), source: Box::new(other) },
    }
}
