//! Statistics beyond GCViewer's figures: pauses by kind and by cause, allocation and promotion rates, concurrent work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{EventKind, GcEvent};
use crate::figures::{DurationStatistics, GcFigure, UnavailableReason};
use crate::log::GcLog;

/// The distribution of durations, s.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct DurationSummary {
    /// Number of durations.
    pub n: usize,
    /// Sum of the durations.
    pub sum_s: f64,
    /// Mean duration.
    pub mean_s: f64,
    /// Median. This and the following percentiles are nearest ranks.
    pub p50_s: f64,
    /// 90th percentile.
    pub p90_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// 99.9th percentile.
    pub p999_s: f64,
    /// The longest duration.
    pub max_s: f64,
}

impl DurationSummary {
    /// Summarises durations; `None` if there are none.
    #[must_use]
    pub fn of(durations_s: Vec<f64>) -> Option<DurationSummary> {
        let all = DurationStatistics::of(durations_s);
        Some(DurationSummary {
            n: all.n(),
            sum_s: all.sum(),
            mean_s: all.mean()?,
            p50_s: all.percentile(50.0)?,
            p90_s: all.percentile(90.0)?,
            p95_s: all.percentile(95.0)?,
            p99_s: all.percentile(99.0)?,
            p999_s: all.percentile(99.9)?,
            max_s: all.max()?,
        })
    }
}

/// The pauses of one kind or cause.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct PauseGroup {
    /// The name of the kind, or the cause as the log prints it.
    pub name: String,
    /// The distribution of its pauses.
    pub pauses: DurationSummary,
    /// The memory that its events freed, KiB, if they have sizes.
    pub freed_kib: Option<i64>,
}

/// Statistics of a log.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct GcStatistics {
    /// All pauses, counted individually: a cycle of ZGC has three or more. Absent if the log has none.
    pub pauses: Option<DurationSummary>,
    /// The duration of pauses by percentile, for a plot. Empty if the log has none.
    pub pause_curve: Vec<PausePercentile>,
    /// The pauses by kind, the largest sum first.
    pub by_kind: Vec<PauseGroup>,
    /// The pauses and cycles by cause, the largest sum of pauses first. Events without a cause are left out.
    pub by_cause: Vec<PauseGroup>,
    /// For each length of a window, the window with the largest share of time in pauses; shortest length first.
    pub worst_windows: Vec<WorstPauseWindow>,
    /// Allocated memory per second between the first and the last event with sizes, KiB/s.
    pub allocation_kib_per_s: Option<f64>,
    /// Memory that moved to the old generation per second, KiB/s.
    pub promotion_kib_per_s: Option<f64>,
    /// Collections whose objects could not be moved, or that did not finish in time.
    pub failures: u64,
    /// Waits of single threads for free memory (ZGC).
    pub stalls: Option<DurationSummary>,
    /// The time that concurrent phases took, s. They compete with the application for processors.
    pub concurrent_s: Option<f64>,
}

/// The largest share of pauses in a window of one length.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct WorstPauseWindow {
    /// Length, s.
    pub window_s: f64,
    /// Percent of the worst window in pauses.
    pub paused_percent: f64,
    /// The start of the worst window on the clock of the log, s.
    pub from_s: f64,
}

/// The lengths of windows, s.
const WINDOWS_S: [f64; 4] = [0.1, 1.0, 10.0, 60.0];

/// Computes statistics of a log.
#[must_use]
pub fn statistics(log: &GcLog) -> GcStatistics {
    let mut pauses = Vec::new();
    let mut stalls = Vec::new();
    let mut concurrent_s = None;
    let mut by_kind = BTreeMap::<EventKind, (Vec<f64>, Option<i64>)>::new();
    let mut by_cause = BTreeMap::<u16, (Vec<f64>, Option<i64>)>::new();
    for event in &log.events {
        match event.kind {
            EventKind::AllocationStall => stalls.extend(event.duration_s),
            EventKind::Concurrent => {
                if let Some(duration_s) = event.duration_s {
                    concurrent_s = Some(concurrent_s.unwrap_or(0.0) + duration_s);
                }
            }
            _ => {}
        }
        if event.kind.is_pause()
            && let Some(duration_s) = event.duration_s
        {
            pauses.push(duration_s);
            add(by_kind.entry(event.kind).or_default(), duration_s, event);
        }
        // A cycle of ZGC has the cause of its pauses.
        let paused_s = if event.kind.is_cycle() { event.cycle_pauses_s } else { event.duration_s };
        if let (Some(cause), Some(paused_s)) = (event.cause, paused_s) {
            add(by_cause.entry(cause.0).or_default(), paused_s, event);
        }
    }
    let groups = |groups: Vec<(String, (Vec<f64>, Option<i64>))>| {
        let mut groups: Vec<PauseGroup> = groups
            .into_iter()
            .filter_map(|(name, (durations, freed_kib))| {
                Some(PauseGroup { name, pauses: DurationSummary::of(durations)?, freed_kib })
            })
            .collect();
        groups.sort_by(|one, two| two.pauses.sum_s.total_cmp(&one.pauses.sum_s));
        groups
    };
    let causes = by_cause
        .into_iter()
        .filter_map(|(id, group)| Some((log.causes.get(usize::from(id))?.clone(), group)));
    let rates = rates(log);
    GcStatistics {
        pause_curve: pause_curve(&pauses),
        pauses: DurationSummary::of(pauses),
        by_kind: groups(by_kind.into_iter().map(|(kind, group)| (kind.name().to_owned(), group)).collect()),
        by_cause: groups(causes.collect()),
        worst_windows: worst_windows(log),
        allocation_kib_per_s: rates.allocation.ok(),
        promotion_kib_per_s: rates.promotion.ok(),
        failures: log.events.iter().filter(|event| event.is_failure).count() as u64,
        stalls: DurationSummary::of(stalls),
        concurrent_s,
    }
}

/// The percentiles of the curve up to 99. Higher ones are added as far as there are longer pauses.
const CURVE: [f64; 24] = [
    0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0, 85.0,
    90.0, 92.0, 94.0, 96.0, 98.0, 99.0,
];
const CURVE_TAIL: [f64; 9] = [99.3, 99.5, 99.7, 99.9, 99.93, 99.95, 99.97, 99.99, 99.999];

/// The duration of pauses at one percentile.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct PausePercentile {
    /// The percentile, from 0 (the shortest) to 100 (the longest).
    pub percentile: f64,
    /// The duration by nearest rank, s.
    pub pause_s: f64,
}

fn pause_curve(durations_s: &[f64]) -> Vec<PausePercentile> {
    let all = DurationStatistics::of(durations_s.to_vec());
    // Above the second-longest pause there is only the longest one.
    let is_distinct = |percentile: &f64| (100.0 - percentile) * all.n() as f64 >= 100.0 - 1e-6;
    let percentiles = CURVE.into_iter().chain(CURVE_TAIL).filter(is_distinct).chain([100.0]);
    percentiles
        .filter_map(|percentile| Some(PausePercentile { percentile, pause_s: all.percentile(percentile)? }))
        .collect()
}

fn add(group: &mut (Vec<f64>, Option<i64>), duration_s: f64, event: &GcEvent) {
    group.0.push(duration_s);
    if let Some(heap) = event.heap {
        group.1 = Some(group.1.unwrap_or(0).saturating_add(heap.freed_kib()));
    }
}

/// Allocation and promotion per second, KiB/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Memory that the application allocated.
    pub allocation: GcFigure<f64>,
    /// Memory that moved to the old generation.
    pub promotion: GcFigure<f64>,
}

/// The allocation and promotion rates of a log.
///
/// The memory allocated between two events is the heap used before the later one minus the heap used after the earlier one. A
/// negative difference, which rounding or out-of-order lines cause, counts as zero. The sizes of a concurrent cycle of ZGC or
/// Shenandoah include memory allocated during the cycle, so that their rates are lower bounds.
#[must_use]
pub fn rates(log: &GcLog) -> Rates {
    let mut allocated_kib = 0_i64;
    let mut promoted_kib = 0_i64;
    let (mut has_promotion, mut n) = (false, 0_u64);
    let mut span = None::<(f64, f64)>;
    let mut previous_kib: Option<i64> = None;
    for (event, time_s) in log.events.iter().zip(log.times_s()) {
        let Some(heap) = event.heap else { continue };
        if let Some(previous_kib) = previous_kib {
            allocated_kib = allocated_kib.saturating_add((heap.before_kib - previous_kib).max(0));
        }
        previous_kib = Some(heap.after_kib);
        n += 1;
        if let Some(time_s) = time_s {
            span = Some(span.map_or((time_s, time_s), |(from, to)| (from.min(time_s), to.max(time_s))));
        }
        if let Some(kib) = self::promoted_kib(event) {
            has_promotion = true;
            promoted_kib = promoted_kib.saturating_add(kib);
        }
    }
    let span_s = match span {
        None if n == 0 => Err(UnavailableReason::NoHeapSizes),
        None => Err(UnavailableReason::NoStamps),
        Some((from, to)) if to > from => Ok(to - from),
        Some(_) => Err(UnavailableReason::NoTimeSpan),
    };
    Rates {
        allocation: span_s.map(|s| allocated_kib as f64 / s),
        promotion: if has_promotion {
            span_s.map(|s| promoted_kib as f64 / s)
        } else {
            Err(UnavailableReason::NoGenerations)
        },
    }
}

/// The memory that a young collection moved to the old generation, KiB, if the log has the sizes of generations.
pub(crate) fn promoted_kib(event: &GcEvent) -> Option<i64> {
    let is_young = matches!(event.kind, EventKind::Young | EventKind::YoungConcurrentStart);
    let young = event.spaces.as_ref()?.young.filter(|_| is_young)?;
    Some((young.freed_kib() - event.heap?.freed_kib()).max(0))
}

/// A pause as an interval on the clock of the log, s. Unified logs stamp the end, earlier ones the start.
fn pause_intervals(log: &GcLog) -> Vec<(f64, f64)> {
    let interval = |event: &GcEvent, time_s: f64| {
        let length_s = event.duration_s.filter(|_| event.kind.is_pause())?;
        Some(if log.is_unified { (time_s - length_s, time_s) } else { (time_s, time_s + length_s) })
    };
    let mut intervals: Vec<(f64, f64)> =
        log.events.iter().zip(log.times_s()).filter_map(|(event, time_s)| interval(event, time_s?)).collect();
    intervals.sort_by(|one, two| one.0.total_cmp(&two.0));
    intervals
}

/// The window of each length with the largest sum of pauses.
///
/// The worst window begins at the start of a pause or ends at the end of one. Windows that begin with a pause are searched forwards,
/// windows that end with one in the same way backwards in time. Overlapping pauses, which only damaged logs have, count once each.
fn worst_windows(log: &GcLog) -> Vec<WorstPauseWindow> {
    let intervals = pause_intervals(log);
    let (Some(first), Some(last)) = (intervals.first(), intervals.last()) else { return Vec::new() };
    let length_s = last.1 - first.0;
    let backwards: Vec<(f64, f64)> = intervals.iter().rev().map(|(from, to)| (-to, -from)).collect();
    let lengths = WINDOWS_S.iter().filter(|window_s| **window_s <= length_s);
    lengths
        .map(|window_s| {
            let (forth, from_s) = worst_window(&intervals, *window_s);
            let (back, to_s) = worst_window(&backwards, *window_s);
            let (paused_s, from_s) = if back > forth { (back, -to_s - window_s) } else { (forth, from_s) };
            WorstPauseWindow {
                window_s: *window_s,
                paused_percent: (100.0 * paused_s / window_s).min(100.0),
                from_s,
            }
        })
        .collect()
}

/// The largest sum of pauses in a window that begins with a pause, and its start. Linear: both ends move forward only.
fn worst_window(intervals: &[(f64, f64)], window_s: f64) -> (f64, f64) {
    let (mut worst_s, mut from_s) = (0.0, 0.0);
    let (mut end, mut inside_s) = (0, 0.0);
    for (start, interval) in intervals.iter().enumerate() {
        if end < start {
            (end, inside_s) = (start, 0.0);
        }
        let until_s = interval.0 + window_s;
        // Whole pauses.
        while end < intervals.len() && intervals[end].1 <= until_s {
            inside_s += intervals[end].1 - intervals[end].0;
            end += 1;
        }
        // The part of the next one.
        let part_s = intervals.get(end).map_or(0.0, |next| (until_s - next.0).max(0.0));
        if inside_s + part_s > worst_s {
            (worst_s, from_s) = (inside_s + part_s, interval.0);
        }
        if end > start {
            inside_s -= interval.1 - interval.0;
        }
    }
    (worst_s, from_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::GcLogReader;

    fn read(lines: &str) -> GcLog {
        let mut reader = GcLogReader::new();
        lines.lines().for_each(|line| reader.line(line));
        reader.finish()
    }

    #[test]
    fn groups_are_sorted_by_the_sum_of_their_pauses() {
        let found = statistics(&read(
            "[1.0s][info][gc] GC(0) Pause Young (Allocation Failure) 20M->10M(90M) 10.000ms
[2.0s][info][gc] GC(1) Pause Young (GCLocker Initiated GC) 30M->12M(90M) 5.000ms
[3.0s][info][gc] GC(2) Pause Full (System.gc()) 40M->5M(90M) 100.000ms",
        ));
        let names = |groups: &[PauseGroup]| groups.iter().map(|group| group.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found.by_kind), ["full", "young"]);
        assert_eq!(names(&found.by_cause), ["System.gc()", "Allocation Failure", "GCLocker Initiated GC"]);
        assert_eq!(found.by_kind[1].freed_kib, Some(28 << 10));
        assert_eq!(found.pauses.unwrap().n, 3);
        // 20 MiB and 28 MiB in 2 s.
        assert_eq!(found.allocation_kib_per_s, Some(24.0 * 1024.0));
        assert_eq!(found.promotion_kib_per_s, None);
    }

    #[test]
    fn the_worst_window_is_found_from_both_sides() {
        // Pauses at 0–0.5 s, 0.9–1.4 s and 5–5.1 s.
        let found = statistics(&read(
            "[0.5s][info][gc] GC(0) Pause Young (A) 20M->10M(90M) 500ms
[1.4s][info][gc] GC(1) Pause Young (A) 20M->10M(90M) 500ms
[5.1s][info][gc] GC(2) Pause Young (A) 20M->10M(90M) 100ms",
        ));
        let second = found.worst_windows.iter().find(|window| window.window_s == 1.0).unwrap();
        assert!((second.paused_percent - 60.0).abs() < 1e-6, "{second:?}");
        assert_eq!(found.worst_windows.len(), 2);
    }

    #[test]
    fn the_curve_ends_at_the_longest_pause() {
        let curve = |n: u32| pause_curve(&(1..=n).map(f64::from).collect::<Vec<_>>());
        let points = |n| curve(n).iter().map(|point| (point.percentile, point.pause_s)).collect::<Vec<_>>();
        assert_eq!(points(0), []);
        assert_eq!(points(1), [(0.0, 1.0), (100.0, 1.0)]);
        let thousand = points(1_000);
        assert!(thousand.contains(&(50.0, 500.0)) && thousand.contains(&(99.0, 990.0)), "{thousand:?}");
        // Above p99.9 there is only the longest pause.
        let last: Vec<f64> = thousand[thousand.len() - 2..].iter().map(|point| point.0).collect();
        assert_eq!((last, thousand[thousand.len() - 1].1), (vec![99.9, 100.0], 1_000.0));
    }

    #[test]
    fn stalls_are_no_pauses() {
        let found = statistics(&read(
            "[1.0s][info][gc] Allocation Stall (main) 12.500ms
[1.0s][info][gc] GC(0) Garbage Collection (Allocation Stall) 90M(94%)->10M(10%)",
        ));
        assert_eq!(found.pauses, None);
        assert_eq!(found.stalls.unwrap().max_s, 0.0125);
    }
}
