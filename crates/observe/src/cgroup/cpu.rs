//! CPU time, quota and throttling of a cgroup.

use busyhour_series::Metric;

use crate::declared::{DeclaredSeries, KeyedMetric, KeyedSeries};
use crate::fields::{fields, lines, number, split_once};
use crate::proc_root::KeptFile;
use crate::reading::Reading;

use super::locate::CgroupPath;

static USAGE: Metric = Metric::counter("container_cpu_usage_seconds_total", "CPU time of the cgroup.");
static USER: Metric = Metric::counter("container_cpu_user_seconds_total", "CPU time in user mode.");
static SYSTEM: Metric = Metric::counter("container_cpu_system_seconds_total", "CPU time in the kernel.");
const PERIODS: Metric =
    Metric::counter("container_cpu_cfs_periods_total", "Periods of the quota in which the cgroup ran.");
const THROTTLED_PERIODS: Metric =
    Metric::counter("container_cpu_cfs_throttled_periods_total", "Periods in which the quota was used up.");
const THROTTLED: Metric = Metric::counter(
    "container_cpu_cfs_throttled_seconds_total",
    "Time in which threads were stopped because the quota was used up, summed over all CPUs.",
);
static LIMIT: Metric = Metric::gauge("busyhour_cgroup_cpu_limit_cores", "CPUs that the quota allows.");

const fn row(key: &'static str, metric: Metric, scale: f64) -> KeyedMetric {
    KeyedMetric { key, metric, scale }
}

/// Rows of `cpu.stat` in version 2.
static QUOTA_2: [KeyedMetric; 3] = [
    row("nr_periods", PERIODS, 1.0),
    row("nr_throttled", THROTTLED_PERIODS, 1.0),
    row("throttled_usec", THROTTLED, 1e-6),
];

/// Rows of `cpu.stat` in version 1.
static QUOTA_1: [KeyedMetric; 3] = [
    row("nr_periods", PERIODS, 1.0),
    row("nr_throttled", THROTTLED_PERIODS, 1.0),
    row("throttled_time", THROTTLED, 1e-9),
];

/// The file with the CPU time.
#[derive(Debug)]
enum Usage {
    /// `cpu.stat` of version 2, in µs.
    Stat(KeptFile),
    /// `cpuacct.usage` of version 1, in ns.
    Account {
        usage: KeptFile,
    },
    Missing,
}

/// The files with the limit.
#[derive(Debug)]
enum Limit {
    /// `cpu.max`: quota or `max`, period.
    Max(KeptFile),
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    Quota(KeptFile, KeptFile),
    Missing,
}

#[derive(Debug)]
pub(super) struct CpuReader {
    usage: Usage,
    quota: Option<KeptFile>,
    quota_series: KeyedSeries,
    limit: Limit,
    usage_series: DeclaredSeries,
    user_series: DeclaredSeries,
    system_series: DeclaredSeries,
    limit_series: DeclaredSeries,
}

fn kept(path: std::path::PathBuf) -> KeptFile {
    KeptFile::new(path, 1 << 14)
}

impl CpuReader {
    pub(super) fn new(path: &CgroupPath) -> CpuReader {
        // Version 2 has `cpu.max` only if its cpu controller is enabled. Otherwise the controller may belong to version 1.
        let quota_2 = path.unified_file("cpu.max").and_then(|_| path.unified_file("cpu.stat"));
        let (quota, rows) = match quota_2 {
            Some(file) => (Some(file), &QUOTA_2),
            None => (path.controller_file("cpu", "cpu.stat"), &QUOTA_1),
        };
        // In a hybrid hierarchy, the process may be in the root of version 2, whose CPU time is that of the machine.
        let account = path.controller_file("cpuacct", "cpuacct.usage");
        let usage = match (path.unified_file("cpu.stat"), account) {
            (_, Some(usage)) => Usage::Account { usage: kept(usage) },
            (Some(stat), None) => Usage::Stat(kept(stat)),
            (None, None) => Usage::Missing,
        };
        let limit = match path.unified_file("cpu.max") {
            Some(max) => Limit::Max(kept(max)),
            None => {
                let quota = path.controller_file("cpu", "cpu.cfs_quota_us");
                let period = path.controller_file("cpu", "cpu.cfs_period_us");
                quota
                    .zip(period)
                    .map_or(Limit::Missing, |(quota, period)| Limit::Quota(kept(quota), kept(period)))
            }
        };
        CpuReader {
            usage,
            quota: quota.map(kept),
            quota_series: KeyedSeries::new(rows),
            limit,
            usage_series: DeclaredSeries::new(&USAGE),
            user_series: DeclaredSeries::new(&USER),
            system_series: DeclaredSeries::new(&SYSTEM),
            limit_series: DeclaredSeries::new(&LIMIT),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        self.read_usage(reading);
        match self.quota.as_mut().map(KeptFile::read) {
            Some(Ok(bytes)) => {
                for line in lines(bytes) {
                    if let Some((key, value)) = split_once(line, b' ')
                        && let Some(value) = number(value)
                    {
                        self.quota_series.set(reading, key, value);
                    }
                }
                self.quota_series.check(reading, "cpu.stat");
            }
            Some(Err(error)) => self.quota_series.unavailable(reading, &format!("cpu.stat: {error}")),
            None => self.quota_series.unavailable(
                reading,
                "the cpu controller is not enabled for this cgroup, or this is the root: no quota applies",
            ),
        }
        if let Some(cores) = self.read_limit() {
            self.limit_series.set(reading, cores);
        }
    }

    fn read_usage(&mut self, reading: &mut Reading<'_>) {
        match &mut self.usage {
            Usage::Stat(file) => match file.read() {
                Ok(bytes) => {
                    let seconds = |name: &[u8]| {
                        lines(bytes).find_map(|line| number(fields(line.strip_prefix(name)?).next()?))
                    };
                    for (series, name) in [
                        (&mut self.usage_series, &b"usage_usec "[..]),
                        (&mut self.user_series, b"user_usec "),
                        (&mut self.system_series, b"system_usec "),
                    ] {
                        if let Some(microseconds) = seconds(name) {
                            series.set(reading, microseconds as f64 / 1e6);
                        }
                    }
                }
                Err(error) => reading.unavailable(&USAGE, &format!("cpu.stat: {error}")),
            },
            Usage::Account { usage } => match usage.read().map(first_number) {
                Ok(Some(ns)) => self.usage_series.set(reading, ns as f64 / 1e9),
                Ok(None) => reading.unavailable(&USAGE, "cpuacct.usage does not contain a number"),
                Err(error) => reading.unavailable(&USAGE, &format!("cpuacct.usage: {error}")),
            },
            Usage::Missing => {
                reading.unavailable(&USAGE, "the cgroup has neither cpu.stat nor cpuacct.usage")
            }
        }
    }

    /// CPUs that the quota allows; `None` if there is no quota.
    fn read_limit(&mut self) -> Option<f64> {
        let (quota, period) = match &mut self.limit {
            Limit::Max(file) => {
                let mut fields = fields(file.read().ok()?);
                (number(fields.next()?)?, number(fields.next()?)?)
            }
            // Without a quota, `cpu.cfs_quota_us` contains -1, which is not parsed as a number here.
            Limit::Quota(quota, period) => {
                (first_number(quota.read().ok()?)?, first_number(period.read().ok()?)?)
            }
            Limit::Missing => return None,
        };
        (period > 0).then(|| quota as f64 / period as f64)
    }
}

fn first_number(bytes: &[u8]) -> Option<u64> {
    number(fields(bytes).next()?)
}
