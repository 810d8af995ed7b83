//! The resources of a system whose use is known as a share of their capacity.

use std::collections::BTreeMap;

use busyhour_series::{SeriesData, SeriesSet};

use crate::series_pieces::{label, mean_between, pieces, sum};
use crate::signal::SignalPiece;
use crate::signals::{AWAITING, CONNECTIONS, MACHINE, PROCESS};

/// Time in which a disk had operations in progress.
const DISK: &str = "node_disk_io_time_seconds_total";

/// CPU time of a control group, and its limit in cores.
const GROUP: &str = "container_cpu_usage_seconds_total";
const GROUP_LIMIT: &str = "busyhour_cgroup_cpu_limit_cores";

/// A single CPU counts as a resource if its use is at least this many times the mean of all CPUs, because threads are
/// then tied to it.
const BUSIEST: f64 = 1.3;

/// Other processes share a machine's CPUs if they use at least this share of its CPU time; a generator at low load uses
/// less.
const SHARED: f64 = 0.1;

/// If other processes use more than this share, the rest is too small to be extrapolated.
const LEFT_NONE: f64 = 0.9;

/// A resource with its use over time.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) name: String,
    pub(super) source: String,
    /// Shares of the resource that are in use.
    pub(super) used: Vec<SignalPiece>,
    /// Why its use by requests is unknown.
    pub(super) hidden: Option<String>,
    /// For a pool of connections: the process and the server.
    pub(super) pool: Option<(u32, String)>,
}

/// The metrics that describe the use of resources.
pub const RESOURCE_METRICS: [&str; 7] = [MACHINE, PROCESS, DISK, GROUP, GROUP_LIMIT, CONNECTIONS, AWAITING];

/// Whether a metric describes the use of a resource.
#[must_use]
pub fn is_resource_metric(name: &str) -> bool {
    RESOURCE_METRICS.contains(&name)
}

/// All resources of a series file.
pub(super) fn resources(set: &SeriesSet) -> Vec<Resource> {
    let mut found = cpus(set);
    found.extend(of(set, DISK).filter_map(|series| {
        let device = label(&series.info, "device")?;
        let used = pieces(series.info.kind, &series.points);
        Some(Resource {
            name: format!("disk {device}"),
            source: source(set, series),
            used,
            hidden: None,
            pool: None,
        })
    }));
    found.extend(of(set, GROUP).filter_map(|series| {
        let own = source(set, series);
        let limit = of(set, GROUP_LIMIT).find(|limit| limit.info.source == series.info.source)?;
        let limit = pieces(limit.info.kind, &limit.points);
        let mut used = pieces(series.info.kind, &series.points);
        used.retain_mut(|piece| match mean_between(&limit, piece.from, piece.to) {
            Some(cores) if cores > 0.0 => {
                piece.value /= cores;
                true
            }
            _ => false,
        });
        (!used.is_empty()).then(|| Resource {
            name: format!("the CPU quota of {own}"),
            source: own,
            used,
            hidden: None,
            pool: None,
        })
    }));
    found.extend(of(set, AWAITING).filter_map(|series| pool(set, series)));
    found
}

fn of<'s>(set: &'s SeriesSet, metric: &'static str) -> impl Iterator<Item = &'s SeriesData> {
    set.series.iter().filter(move |series| series.info.name == metric && !series.points.is_empty())
}

fn source(set: &SeriesSet, series: &SeriesData) -> String {
    set.sources.get(series.info.source as usize).cloned().unwrap_or_default()
}

/// All CPUs of each machine together, and the busiest one if it is used much more than the others.
fn cpus(set: &SeriesSet) -> Vec<Resource> {
    let mut machines: BTreeMap<u32, BTreeMap<&str, Vec<&SeriesData>>> = BTreeMap::new();
    for series in of(set, MACHINE) {
        // Time for guests is included in the time of users.
        if !matches!(label(&series.info, "mode"), Some("guest" | "guest_nice")) {
            let cpu = label(&series.info, "cpu").unwrap_or("all");
            machines.entry(series.info.source).or_default().entry(cpu).or_default().push(series);
        }
    }
    let mut found = Vec::new();
    for (number, mut by_cpu) in machines {
        let source = set.sources.get(number as usize).cloned().unwrap_or_default();
        let name = if source == "os" { "the machine" } else { &source };
        // The series of large machines contain the sum of all CPUs for each mode, and the idle time of each CPU.
        let together = by_cpu.remove("all");
        let machine = together.unwrap_or_else(|| by_cpu.values().flatten().copied().collect());
        let Some(all) = used_share(&machine) else { continue };
        let others = share_of_others(set, &source, &machine, &all);
        let is_shared = others.is_some_and(|others| others >= SHARED);
        let mean = |used: &[SignalPiece]| mean_between(used, 0, u64::MAX).unwrap_or(0.0);
        let whole = mean(&all);
        let busiest = by_cpu
            .iter()
            .filter_map(|(cpu, series)| Some((*cpu, used_share(series)?)))
            .max_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))
            .filter(|(_, used)| by_cpu.len() > 1 && mean(used) >= BUSIEST * whole && !is_shared);
        found.extend(busiest.map(|(cpu, used)| Resource {
            name: format!("CPU {cpu} of {name}"),
            source: source.clone(),
            used,
            hidden: None,
            pool: None,
        }));
        let is_hidden = others.is_some_and(|others| others > LEFT_NONE);
        let (name, used) = match others.filter(|_| is_shared && !is_hidden) {
            None => (format!("the CPU time of {name}"), all),
            Some(others) => (format!("the CPU time of {name} that other processes leave"), left(all, others)),
        };
        let percent = others.unwrap_or(0.0) * 100.0;
        let hidden = is_hidden.then(|| format!("other processes use {percent:.0} % of it"));
        found.push(Resource { name, source, used, hidden, pool: None });
    }
    found
}

/// Share of a machine's CPU time that is used by processes which are not observed. `None` if no process is observed.
fn share_of_others(
    set: &SeriesSet,
    machine: &str,
    series: &[&SeriesData],
    used: &[SignalPiece],
) -> Option<f64> {
    let mean = |series: &SeriesData| {
        mean_between(&pieces(series.info.kind, &series.points), 0, u64::MAX).unwrap_or(0.0)
    };
    let observed: Vec<f64> = of(set, PROCESS)
        .filter(|series| machine == "os" && source(set, series).starts_with("process:"))
        .map(mean)
        .collect();
    let cpus: f64 = series.iter().map(|one| mean(one)).sum();
    let used = mean_between(used, 0, u64::MAX)?;
    (!observed.is_empty() && cpus > 0.0).then(|| (used - observed.iter().sum::<f64>() / cpus).clamp(0.0, 1.0))
}

/// The use of the CPU time that others leave.
fn left(mut used: Vec<SignalPiece>, others: f64) -> Vec<SignalPiece> {
    used.iter_mut().for_each(|piece| piece.value = ((piece.value - others) / (1.0 - others)).max(0.0));
    used
}

/// The share of the CPU time that was used. If only the idle time of a CPU is known, it was used for the rest of the time.
fn used_share(series: &[&SeriesData]) -> Option<Vec<SignalPiece>> {
    let is_idle = |series: &SeriesData| matches!(label(&series.info, "mode"), Some("idle" | "iowait"));
    let (idle, busy): (Vec<&SeriesData>, Vec<&SeriesData>) =
        series.iter().copied().partition(|one| is_idle(one));
    if busy.is_empty() {
        let mut used = sum(&idle);
        used.iter_mut().for_each(|piece| piece.value = (1.0 - piece.value).clamp(0.0, 1.0));
        return (!used.is_empty()).then_some(used);
    }
    let (mut used, idle) = (sum(&busy), sum(&idle));
    used.retain_mut(|piece| match mean_between(&idle, piece.from, piece.to) {
        Some(idle) if idle + piece.value > 0.0 => {
            piece.value /= idle + piece.value;
            true
        }
        _ => false,
    });
    (!used.is_empty()).then_some(used)
}

/// The connections of a process to a server, if their number stays the same and they are therefore a pool.
fn pool(set: &SeriesSet, awaiting: &SeriesData) -> Option<Resource> {
    let peer = label(&awaiting.info, "peer")?;
    let connections = of(set, CONNECTIONS).find(|series| {
        series.info.source == awaiting.info.source && label(&series.info, "peer") == Some(peer)
    })?;
    let open = pieces(connections.info.kind, &connections.points);
    let most = open.iter().map(|piece| piece.value).fold(0.0, f64::max);
    let is_pool =
        most >= 1.0 && open.iter().filter(|piece| piece.value >= most).count() * 10 >= open.len() * 9;
    let mut used = pieces(awaiting.info.kind, &awaiting.points);
    used.iter_mut().for_each(|piece| piece.value = (piece.value / most).min(1.0));
    let connections = if most < 1.5 { "connection" } else { "connections" };
    let name = format!("the pool of {most:.0} {connections} of {} to {peer}", source(set, awaiting));
    let pool = Some((awaiting.info.source, peer.to_owned()));
    is_pool.then(|| Resource { name, source: source(set, awaiting), used, hidden: None, pool })
}

#[cfg(test)]
mod tests {
    use busyhour_sample::Nanos;
    use busyhour_series::{MetricKind, SeriesInfo, SeriesPoint};

    use super::*;

    fn series(name: &str, labels: &[(&str, &str)], rate: f64) -> SeriesData {
        let info = SeriesInfo {
            source: 0,
            name: name.to_owned(),
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            kind: MetricKind::Counter,
            help: String::new(),
        };
        let point = |at: u64| SeriesPoint {
            from: Nanos(at * 1_000_000_000),
            to: Nanos((at + 1) * 1_000_000_000),
            mean: rate,
            min: rate,
            max: rate,
        };
        SeriesData { info, points: (0..5).map(point).collect(), last: None, increase: 0.0, resets: 0 }
    }

    fn found(series: Vec<SeriesData>) -> Vec<(String, f64)> {
        let set = SeriesSet { sources: vec!["os".to_owned()], series, ..SeriesSet::default() };
        let mean = |used: &[SignalPiece]| {
            mean_between(used, 0, u64::MAX).map_or(0.0, |mean| (mean * 1e3).round() / 1e3)
        };
        resources(&set).into_iter().map(|resource| (resource.name, mean(&resource.used))).collect()
    }

    #[test]
    fn the_busiest_cpu_is_a_resource_if_it_is_used_much_more() {
        let cpu = |cpu, mode, rate| series(MACHINE, &[("cpu", cpu), ("mode", mode)], rate);
        let tied = found(vec![
            cpu("0", "user", 0.8),
            cpu("0", "idle", 0.2),
            cpu("1", "user", 0.1),
            cpu("1", "idle", 0.9),
            cpu("1", "guest", 0.1),
        ]);
        let expected = [("CPU 0 of the machine", 0.8), ("the CPU time of the machine", 0.45)];
        assert_eq!(tied, expected.map(|(name, used)| (name.to_owned(), used)));
        let large = found(vec![
            cpu("all", "user", 10.0),
            cpu("all", "idle", 30.0),
            cpu("0", "idle", 0.1),
            cpu("1", "idle", 0.75),
        ]);
        let expected = [("CPU 0 of the machine", 0.9), ("the CPU time of the machine", 0.25)];
        assert_eq!(large, expected.map(|(name, used)| (name.to_owned(), used)));
    }

    #[test]
    fn cpu_time_of_other_processes_is_not_attributed_to_requests() {
        let cpu = |cpu, mode, rate| series(MACHINE, &[("cpu", cpu), ("mode", mode)], rate);
        let with_others = |busy: f64| {
            let machine = SeriesSet {
                sources: vec!["os".to_owned(), "process:7".to_owned()],
                series: vec![cpu("0", "user", busy), cpu("0", "idle", 1.0 - busy), {
                    let mut process = series(PROCESS, &[], 0.2);
                    process.info.source = 1;
                    process
                }],
                ..SeriesSet::default()
            };
            let mean = |used: &[SignalPiece]| (mean_between(used, 0, u64::MAX).unwrap() * 1e3).round() / 1e3;
            resources(&machine).into_iter().map(|one| (one.name, mean(&one.used))).collect::<Vec<_>>()
        };
        assert_eq!(with_others(0.25), [("the CPU time of the machine".to_owned(), 0.25)]);
        let shared = "the CPU time of the machine that other processes leave";
        assert_eq!(with_others(0.7), [(shared.to_owned(), 0.4)], "0.2 of the 0.5 that are left");
        assert!(with_others(1.0).len() == 1 && with_others(1.0)[0].1 == 1.0, "all that is left is in use");
    }

    #[test]
    fn quotas_and_disks_are_shares() {
        let quota = found(vec![series(GROUP, &[], 0.5), {
            let mut limit = series(GROUP_LIMIT, &[], 2.0);
            limit.info.kind = MetricKind::Gauge;
            limit
        }]);
        assert_eq!(quota, [("the CPU quota of os".to_owned(), 0.25)]);
        assert!(found(vec![series(GROUP, &[], 0.5)]).is_empty(), "no quota");
        assert_eq!(found(vec![series(DISK, &[("device", "vda")], 0.3)]), [("disk vda".to_owned(), 0.3)]);
    }
}
