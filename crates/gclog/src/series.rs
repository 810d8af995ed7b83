//! Series for plots, thinned to a bounded number of points.

use serde::Serialize;

use crate::event::EventKind;
use crate::log::GcLog;

/// The largest number of points of a series.
pub const POINTS_MAX: usize = 5_000;

/// The number of intervals of the allocation rate.
const RATE_INTERVALS: usize = 300;

/// A pause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PausePoint {
    /// Its stamp on the clock of the log, s.
    pub time_s: f64,
    /// Its duration, s.
    pub duration_s: f64,
    /// What it is.
    pub kind: EventKind,
    /// Its cause, if the log prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// The heap after a collection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HeapPoint {
    /// The stamp of the collection on the clock of the log, s.
    pub time_s: f64,
    /// Used heap, KiB.
    pub used_kib: i64,
    /// Committed heap, KiB, if the log prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_kib: Option<i64>,
}

/// The allocation rate of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatePoint {
    /// Start of the interval on the clock of the log, s.
    pub from_s: f64,
    /// End, s.
    pub to_s: f64,
    /// Allocated memory per second, KiB/s.
    pub kib_per_s: f64,
}

/// The series of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GcSeries {
    /// Pauses in the order of time. If there are more than [`POINTS_MAX`], only the longest of each interval.
    pub pauses: Vec<PausePoint>,
    /// The heap after each collection. If there are more than [`POINTS_MAX`], only the smallest of each interval.
    pub heap_after: Vec<HeapPoint>,
    /// The allocation rate in intervals of equal length. Intervals without a collection are joined with the next.
    pub allocation: Vec<RatePoint>,
    /// Milliseconds since 1970-01-01 UTC at second 0 of the clock, if the log has wall times. With it, the series can be compared
    /// with the times of a load test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_ms: Option<i64>,
}

/// Makes the series of a log.
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
            heap_after.push(HeapPoint { time_s, used_kib: heap.after_kib, capacity_kib: heap.capacity_kib });
        }
    }
    pauses.sort_by(|one, two| one.time_s.total_cmp(&two.time_s));
    heap_after.sort_by(|one, two| one.time_s.total_cmp(&two.time_s));
    GcSeries {
        pauses: thinned(pauses, |one, two| one.duration_s > two.duration_s),
        heap_after: thinned(heap_after, |one, two| one.used_kib < two.used_kib),
        allocation: allocation(log, &times),
        origin_ms: origin_ms(log),
    }
}

/// The preferred point of each of at most [`POINTS_MAX`] intervals with the same number of points.
fn thinned<P: Clone>(points: Vec<P>, is_preferred: impl Fn(&P, &P) -> bool) -> Vec<P> {
    let length = points.len().div_ceil(POINTS_MAX);
    if length <= 1 {
        return points;
    }
    let preferred = |chunk: &[P]| {
        chunk.iter().skip(1).fold(chunk[0].clone(), |best, point| {
            if is_preferred(point, &best) { point.clone() } else { best }
        })
    };
    points.chunks(length).map(preferred).collect()
}

fn allocation(log: &GcLog, times: &[Option<f64>]) -> Vec<RatePoint> {
    let sizes: Vec<(f64, i64, i64)> = log
        .events
        .iter()
        .zip(times)
        .filter_map(|(event, time_s)| Some(((*time_s)?, event.heap?.before_kib, event.heap?.after_kib)))
        .collect();
    let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else { return Vec::new() };
    let step_s = (last.0 - first.0) / RATE_INTERVALS as f64;
    if step_s.is_nan() || step_s <= 0.0 {
        return Vec::new();
    }
    let mut points = Vec::new();
    let (mut from_s, mut allocated_kib) = (first.0, 0_i64);
    for pair in sizes.windows(2) {
        let [earlier, later] = pair else { continue };
        allocated_kib = allocated_kib.saturating_add((later.1 - earlier.2).max(0));
        let length_s = later.0 - from_s;
        if length_s >= step_s {
            let kib_per_s = allocated_kib as f64 / length_s;
            points.push(RatePoint { from_s, to_s: later.0, kib_per_s });
            (from_s, allocated_kib) = (later.0, 0);
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
