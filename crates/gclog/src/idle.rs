//! Time without collections, which inflates throughput.

use crate::event::{Collector, EventKind, GcEvent};
use crate::log::GcLog;

/// A gap between collections counts as idle if it is at least this many times as long as the median gap.
const GAP_FACTOR: f64 = 10.0;

/// The shortest gap that counts as idle, s.
const GAP_MIN_S: f64 = 5.0;

/// Minimum number of gaps for which the median is computed.
const GAPS_MIN: usize = 8;

/// Time in which the application allocated almost nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Idle {
    /// The number of gaps.
    pub gaps: u64,
    /// Sum of the gaps, s.
    pub idle_s: f64,
    /// The shortest gap, s.
    pub shortest_s: f64,
}

/// Finds gaps between collections that last at least 5 s and at least ten times as long as the median gap.
///
/// A gap lasts from the end of a collection to the start of the next. Pauses that only begin or end a concurrent cycle do not count
/// as collections, because they follow each other closely.
pub(crate) fn idle(log: &GcLog) -> Option<Idle> {
    let mut collections: Vec<(f64, f64)> =
        log.events.iter().filter_map(|event| interval(log, event)).collect();
    collections.sort_by(|one, two| one.0.total_cmp(&two.0));
    let gaps: Vec<f64> = collections.windows(2).map(|pair| (pair[1].0 - pair[0].1).max(0.0)).collect();
    if gaps.len() < GAPS_MIN {
        return None;
    }
    let mut sorted = gaps.clone();
    sorted.sort_by(f64::total_cmp);
    let limit_s = (GAP_FACTOR * sorted[sorted.len() / 2]).max(GAP_MIN_S);
    let long = || gaps.iter().copied().filter(|gap| *gap >= limit_s);
    let found = Idle {
        gaps: long().count() as u64,
        idle_s: long().sum(),
        shortest_s: long().fold(f64::INFINITY, f64::min),
    };
    (found.gaps > 0).then_some(found)
}

/// The start and the end of a collection on the clock of the log, s. Unified logs stamp the end, earlier ones the start.
fn interval(log: &GcLog, event: &GcEvent) -> Option<(f64, f64)> {
    let is_collection = match event.kind {
        EventKind::Young
        | EventKind::YoungConcurrentStart
        | EventKind::Mixed
        | EventKind::Full
        | EventKind::Degenerated
        | EventKind::ZgcCycle
        | EventKind::MinorCycle
        | EventKind::MajorCycle => true,
        // The first pause of a cycle of Shenandoah; CMS and G1 have young collections.
        EventKind::InitialMark => log.collector == Some(Collector::Shenandoah),
        EventKind::Remark
        | EventKind::Cleanup
        | EventKind::ShortPause
        | EventKind::CyclePause
        | EventKind::ConcurrentStart
        | EventKind::Concurrent
        | EventKind::Safepoint
        | EventKind::HeapUse
        | EventKind::AllocationStall => false,
    };
    let time_s = log.time_s(event).filter(|_| is_collection)?;
    let length_s = event.duration_s.unwrap_or(0.0);
    Some(if log.is_unified { (time_s - length_s, time_s) } else { (time_s, time_s + length_s) })
}
