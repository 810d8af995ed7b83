//! Series for plots, thinned to a bounded number of points.

use serde::{Deserialize, Serialize};

use crate::event::{EventKind, GcEvent};
use crate::live::{LiveSize, live_sizes};
use crate::log::GcLog;
use crate::statistics::promoted_kib;

/// The largest number of points of a series.
pub const POINTS_MAX: usize = 5_000;

/// The number of intervals of the allocation rate.
const RATE_INTERVALS: usize = 300;

/// A pause.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct PausePoint {
    /// Its stamp on the clock of the log, s.
    pub time_s: f64,
    /// Its duration, s.
    pub duration_s: f64,
    /// Its kind.
    pub kind: EventKind,
    /// Its cause, if the log prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// The heap before and after a collection.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct HeapPoint {
    /// The stamp of the collection on the clock of the log, s.
    pub time_s: f64,
    /// Used heap before the collection, KiB.
    pub before_kib: i64,
    /// Used heap after the collection, KiB.
    pub used_kib: i64,
    /// Committed heap, KiB, if the log prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_kib: Option<i64>,
}

/// The rate of allocation or of promotion in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct RatePoint {
    /// Start of the interval on the clock of the log, s.
    pub from_s: f64,
    /// End, s.
    pub to_s: f64,
    /// Memory per second, KiB/s.
    pub kib_per_s: f64,
}

/// The series of a log.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
pub struct GcSeries {
    /// Pauses in the order of time. If there are more than [`POINTS_MAX`], only the longest pause of each interval is
    /// included.
    pub pauses: Vec<PausePoint>,
    /// The heap at each collection. If there are more than [`POINTS_MAX`] collections, only the smallest heap after and
    /// the largest heap before a collection are included for each interval.
    pub heap_after: Vec<HeapPoint>,
    /// The heap after collections that reclaimed old objects, on which the verdict on leaks is based. If there are more
    /// than [`POINTS_MAX`] values, only the smallest of each interval is included.
    pub live: Vec<LiveSize>,
    /// The allocation rate in intervals of equal length. Intervals without a collection are joined with the next.
    pub allocation: Vec<RatePoint>,
    /// The promotion rate in such intervals. Empty if the log has no sizes of generations.
    pub promotion: Vec<RatePoint>,
    /// Milliseconds since 1970-01-01 UTC at second 0 of the clock, if the log has wall times. With it, the series can be compared
    /// with the times of a load test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_ms: Option<i64>,
}

/// Computes the series of a log.
#[must_use]
pub fn series(log: &GcLog) -> GcSeries {
    let times = log.times_s();
    let mut pauses = Vec::new();
    let mut heap_after = Vec::new();
    for (event, time_s) in log.events.iter().zip(&times) {
        let Some(time_s) = *time_s else { continue };
        if let (true, Some(duration_s)) = (event.kind.is_pause(), event.duration_s) {
            let cause = log.cause(event).map(str::to_owned);
            pauses.push(PausePoint { time_s, duration_s, kind: event.kind, cause });
        }
        if let Some(heap) = event.heap {
            let (before_kib, used_kib) = (heap.before_kib, heap.after_kib);
            heap_after.push(HeapPoint { time_s, before_kib, used_kib, capacity_kib: heap.capacity_kib });
        }
    }
    pauses.sort_by(|one, two| one.time_s.total_cmp(&two.time_s));
    heap_after.sort_by(|one, two| one.time_s.total_cmp(&two.time_s));
    GcSeries {
        pauses: thinned(pauses, |best, point| {
            if point.duration_s > best.duration_s {
                *best = point.clone();
            }
        }),
        heap_after: thinned(heap_after, |best, point| {
            let before_kib = best.before_kib.max(point.before_kib);
            let capacity_kib = best.capacity_kib.max(point.capacity_kib);
            let smallest = if point.used_kib < best.used_kib { point } else { &*best };
            *best = HeapPoint { before_kib, capacity_kib, ..*smallest };
        }),
        live: thinned(live_sizes(log), |best, point| {
            if point.kib < best.kib {
                *best = *point;
            }
        }),
        allocation: rates(log, &times, |earlier, later| {
            later.heap.zip(earlier.heap).map(|(later, earlier)| (later.before_kib - earlier.after_kib).max(0))
        }),
        promotion: if log.events.iter().any(|event| promoted_kib(event).is_some()) {
            rates(log, &times, |_, later| Some(promoted_kib(later).unwrap_or(0)))
        } else {
            Vec::new()
        },
        origin_ms: origin_ms(log),
    }
}

/// One point for each of at most [`POINTS_MAX`] intervals with the same number of points. `join` merges the further points of an
/// interval into its first.
fn thinned<P: Clone>(points: Vec<P>, join: impl Fn(&mut P, &P)) -> Vec<P> {
    let length = points.len().div_ceil(POINTS_MAX);
    if length <= 1 {
        return points;
    }
    let joined = |chunk: &[P]| {
        let mut joined = chunk.first()?.clone();
        chunk.iter().skip(1).for_each(|point| join(&mut joined, point));
        Some(joined)
    };
    points.chunks(length).filter_map(joined).collect()
}

/// A rate over time, in KiB/s, from the amounts between successive events with sizes, in KiB.
fn rates(
    log: &GcLog,
    times: &[Option<f64>],
    amount_kib: impl Fn(&GcEvent, &GcEvent) -> Option<i64>,
) -> Vec<RatePoint> {
    let events: Vec<(f64, &GcEvent)> = log
        .events
        .iter()
        .zip(times)
        .filter(|(event, _)| event.heap.is_some())
        .filter_map(|(event, time_s)| Some(((*time_s)?, event)))
        .collect();
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Vec::new() };
    let step_s = (last.0 - first.0) / RATE_INTERVALS as f64;
    if step_s.is_nan() || step_s <= 0.0 {
        return Vec::new();
    }
    let mut points = Vec::new();
    let (mut from_s, mut sum_kib) = (first.0, 0_i64);
    for pair in events.windows(2) {
        let [(_, earlier), (time_s, later)] = pair else { continue };
        sum_kib = sum_kib.saturating_add(amount_kib(earlier, later).unwrap_or(0));
        let length_s = time_s - from_s;
        if length_s >= step_s {
            points.push(RatePoint { from_s, to_s: *time_s, kib_per_s: sum_kib as f64 / length_s });
            (from_s, sum_kib) = (*time_s, 0);
        }
    }
    points
}

fn origin_ms(log: &GcLog) -> Option<i64> {
    log.events.iter().find_map(|event| {
        let wall_ms = event.stamp.wall_ms?;
        let uptime_s = event.stamp.uptime_s.unwrap_or(0.0);
        wall_ms.checked_sub((uptime_s * 1000.0).round() as i64)
    })
}
