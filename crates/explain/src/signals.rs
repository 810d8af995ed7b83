//! Reads the signals of causes from recorded series.

mod neighbour;
mod pools;
mod rules;

use std::collections::BTreeMap;

use busyhour_analysis::explanation::Cause;
use busyhour_series::{MarkKind, SeriesData, SeriesSet};

use crate::request_times::Requests;
use crate::series_pieces::{label, sum};
use crate::signal::{Signal, SignalShape};
pub(crate) use neighbour::{MACHINE, PROCESS};
pub(crate) use pools::{ExhaustedPool, exhausted};
pub(crate) use rules::{AWAITING, CONNECTIONS};
use rules::{RULES, Rule};

/// Metrics of series that are read in addition to those of the rules.
pub const SIGNAL_METRICS: [&str; 3] = [MACHINE, PROCESS, CONNECTIONS];

/// Maximum number of signals of one cause; further sources are left out.
const SIGNALS_MAX: usize = 64;

/// The metrics from which signals are computed.
pub fn signal_metrics() -> impl Iterator<Item = &'static str> {
    SIGNAL_METRICS.into_iter().chain(RULES.iter().map(|rule| rule.metric))
}

/// Whether signals are computed from a metric.
#[must_use]
pub fn is_signal_metric(name: &str) -> bool {
    signal_metrics().any(|metric| metric == name)
}

/// The signals of causes.
#[derive(Debug, Default)]
pub struct Signals {
    /// The signals.
    pub signals: Vec<Signal>,
    /// The use of the CPUs of the machine of the source `os`; `None` if it is unknown.
    pub cpu: Option<CpuFigures>,
}

/// Means over the measured part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuFigures {
    /// CPU time of the watched processes, in cores.
    pub own_cores: f64,
    /// Share of the machine's CPU time that was used, from 0 to 1.
    pub utilization: f64,
}

/// The signals of a series file in the part from `from` to `to` (ns since the start of the run). `median_ns` is the
/// median response time of the requests: requests that started at most this time before a pause were in progress when
/// it began. `generator_cores` is the mean CPU time of the generator, which runs on the machine of the source `os`.
#[must_use]
pub fn signals(
    set: &SeriesSet,
    requests: &Requests,
    median_ns: u64,
    generator_cores: f64,
    (from, to): (u64, u64),
) -> Signals {
    let mut signals = pauses(set, median_ns, (from, to));
    let has_log = !signals.is_empty();
    for rule in RULES {
        // The log of a collector has the exact times of the pauses; the JVM's counters show only between which readings
        // they occurred.
        if has_log && rule.cause == Cause::GcPauses {
            continue;
        }
        signals.extend(of_rule(set, rule));
    }
    signals.extend(pools::pools(set, requests));
    let cpu = neighbour::cpu_use(set, generator_cores);
    let figures =
        cpu.as_ref().map(|cpu| CpuFigures { own_cores: cpu.own_cores, utilization: cpu.utilization });
    signals.extend(cpu.map(|cpu| cpu.others));
    let signals = signals.into_iter().map(|signal| signal.within((from, to)));
    let mut counts: BTreeMap<Cause, usize> = BTreeMap::new();
    let signals = signals
        .filter(|signal| !signal.pieces.is_empty())
        .filter(|signal| {
            let count = counts.entry(signal.cause).or_default();
            *count += 1;
            *count <= SIGNALS_MAX
        })
        .collect();
    Signals { signals, cpu: figures }
}

/// The pauses that garbage-collection logs state, for each log.
fn pauses(set: &SeriesSet, median_ns: u64, part: (u64, u64)) -> Vec<Signal> {
    let mut by_source: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for (source, mark) in &set.marks {
        if mark.kind == MarkKind::GcPause {
            by_source.entry(*source).or_default().push((mark.from.0, mark.to.0));
        }
    }
    by_source
        .into_iter()
        .filter_map(|(source, intervals)| {
            let source = set.sources.get(source as usize)?;
            source.starts_with("gc:").then(|| {
                Signal::of_intervals((Cause::GcPauses, source, "paused"), &intervals, median_ns, part)
            })
        })
        .collect()
}

/// The signals of a rule: the sum of the series of each source, or one signal for each value of a label.
fn of_rule(set: &SeriesSet, rule: &Rule) -> Vec<Signal> {
    let mut by_part: BTreeMap<(u32, &str), Vec<&SeriesData>> = BTreeMap::new();
    for series in &set.series {
        if series.info.name == rule.metric && rule.matches(&series.info) && !series.points.is_empty() {
            let value = rule.each.and_then(|name| label(&series.info, name)).unwrap_or_default();
            by_part.entry((series.info.source, value)).or_default().push(series);
        }
    }
    by_part
        .into_iter()
        .filter_map(|((source, value), series)| {
            let pieces = sum(&series);
            let source = set.sources.get(source as usize)?.clone();
            let name = if value.is_empty() { rule.name.to_owned() } else { format!("{} {value}", rule.name) };
            (pieces.len() > 1).then_some(Signal {
                cause: rule.cause,
                source,
                name,
                shape: SignalShape::Levels,
                relevant: rule.relevant,
                is_waiting: rule.is_waiting,
                pieces,
                in_use: Vec::new(),
            })
        })
        .collect()
}
