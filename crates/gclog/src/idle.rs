//! Time without collections, which inflates throughput.

use crate::log::GcLog;

/// How many times longer than the median a gap between collections must be to count as idle.
const GAP_FACTOR: f64 = 10.0;

/// The shortest gap that counts as idle, s.
const GAP_MIN_S: f64 = 5.0;

/// The smallest number of gaps from which their median is known.
const GAPS_MIN: usize = 8;

/// Time in which the application allocated almost nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Idle {
    /// The number of gaps.
    pub gaps: u64,
    /// Their sum, s.
    pub idle_s: f64,
    /// The shortest of them, s.
    pub shortest_s: f64,
}

/// Finds gaps between collections that are at least ten times longer than the median gap and 5 s.
pub(crate) fn idle(log: &GcLog) -> Option<Idle> {
    let is_collection = |index: usize| {
        let event = &log.events[index];
        event.kind.is_pause() || event.kind.is_cycle()
    };
    let mut times: Vec<f64> = log
        .times_s()
        .into_iter()
        .enumerate()
        .filter_map(|(index, time_s)| time_s.filter(|_| is_collection(index)))
        .collect();
    times.sort_by(f64::total_cmp);
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
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
