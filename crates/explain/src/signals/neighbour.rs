//! CPU time of processes that are not watched.

use busyhour_analysis::explanation::Cause;
use busyhour_series::{SeriesData, SeriesSet};

use crate::series_pieces::{label, mean_between, pieces, sum};
use crate::signal::{Signal, SignalPiece, SignalShape};

/// CPU time of the machine.
pub(crate) const MACHINE: &str = "node_cpu_seconds_total";

/// CPU time of a watched process.
pub(crate) const PROCESS: &str = "process_cpu_seconds_total";

/// Minimum CPU time of other processes, in cores, that may slow down a system.
const RELEVANT_CORES: f64 = 0.3;

/// The use of the machine's CPUs.
pub(super) struct CpuUse {
    /// CPU time of processes that are neither watched nor the generator, in cores.
    pub(super) others: Signal,
    /// Mean CPU time of the watched processes, in cores.
    pub(super) own_cores: f64,
    /// Share of the machine's CPU time that was used, from 0 to 1.
    pub(super) utilization: f64,
}

/// The prefix of the names of sources that are exporters.
const SCRAPED: &str = "prometheus:";

/// The exporter from which a series was scraped, and the source: that of this machine, or the one that a remote observer names
/// in a label.
fn origin<'s>(set: &'s SeriesSet, series: &'s SeriesData) -> (Option<u32>, &'s str) {
    let name = set.sources.get(series.info.source as usize).map_or("", String::as_str);
    if !name.starts_with(SCRAPED) {
        return (None, name);
    }
    (Some(series.info.source), label(&series.info, "source").unwrap_or_default())
}

/// Splits the CPU time of the machine into that of the watched processes, of the generator (a constant), and of others. `None` if the
/// CPU time of the machine or of a process is unknown. If no process of this machine is watched, the machine is that of a remote
/// observer.
pub(super) fn cpu_use(set: &SeriesSet, generator_cores: f64) -> Option<CpuUse> {
    let of = |metric: &'static str| set.series.iter().filter(move |series| series.info.name == metric);
    // Time for guests is included in the time of users.
    let is_guest = |series: &&SeriesData| matches!(label(&series.info, "mode"), Some("guest" | "guest_nice"));
    let is_idle =
        |series: &&SeriesData| matches!(label(&series.info, "mode"), Some("idle" | "iowait" | "steal"));
    let is_process = |series: &&SeriesData| origin(set, series).1.starts_with("process:");
    let machine = of(PROCESS).filter(is_process).map(|series| origin(set, series).0).min()?;
    let mut all: Vec<&SeriesData> =
        of(MACHINE).filter(|series| origin(set, series) == (machine, "os") && !is_guest(series)).collect();
    // The series of large machines contain the sum of all CPUs for each mode, and the idle time of each CPU.
    let is_together = |series: &&SeriesData| label(&series.info, "cpu") == Some("all");
    if all.iter().any(is_together) {
        all.retain(is_together);
    }
    let busy: Vec<&SeriesData> = all.iter().copied().filter(|series| !is_idle(series)).collect();
    let watched: Vec<Vec<SignalPiece>> = of(PROCESS)
        .filter(|series| is_process(series) && origin(set, series).0 == machine)
        .map(|series| pieces(series.info.kind, &series.points))
        .collect();
    if busy.is_empty() {
        return None;
    }
    // The generator runs on this machine.
    let generator_cores = if machine.is_none() { generator_cores } else { 0.0 };
    let rate = |series: &[&SeriesData]| -> f64 {
        let rates =
            series.iter().filter_map(|one| mean_between(&pieces(one.info.kind, &one.points), 0, u64::MAX));
        rates.sum()
    };
    let utilization = rate(&busy) / rate(&all).max(f64::MIN_POSITIVE);
    let mut others = sum(&busy);
    let (mut own, mut time) = (0.0, 0.0);
    for piece in &mut others {
        let used: f64 = watched.iter().filter_map(|pieces| mean_between(pieces, piece.from, piece.to)).sum();
        let length = (piece.to - piece.from) as f64;
        own += used * length;
        time += length;
        piece.value = (piece.value - used - generator_cores).max(0.0);
    }
    let others = Signal {
        cause: Cause::CpuNeighbour,
        source: machine
            .and_then(|exporter| set.sources.get(exporter as usize).cloned())
            .unwrap_or_else(|| "os".to_owned()),
        name: "giving CPU time to other processes".to_owned(),
        shape: SignalShape::Levels,
        relevant: RELEVANT_CORES,
        is_waiting: false,
        pieces: others,
        in_use: Vec::new(),
    };
    Some(CpuUse { others, own_cores: if time > 0.0 { own / time } else { 0.0 }, utilization })
}
