//! Figures that GCViewer does not have, in the format of its figures.

use crate::figures::{FigureRow, UnavailableReason, memory_row, number_row};
use crate::log::GcLog;
use crate::statistics::{DurationSummary, GcStatistics, rates};

/// The figures of a log beyond GCViewer's.
pub(crate) fn rows(log: &GcLog, statistics: &GcStatistics) -> Vec<FigureRow> {
    let pauses = statistics.pauses.as_ref();
    let none = if log.events.iter().any(|event| event.kind.is_cycle()) {
        UnavailableReason::CyclesWithoutPauses
    } else {
        UnavailableReason::NoPauses
    };
    let seconds =
        |name, value: fn(&DurationSummary) -> f64| number_row(name, pauses.map(value).ok_or(none), "s", 6);
    let mut rows = vec![
        number_row("singlePauseCount", Ok(pauses.map_or(0.0, |pauses| pauses.n as f64)), "-", 0),
        seconds("singlePauseMean", |pauses| pauses.mean_s),
        seconds("singlePauseMedian", |pauses| pauses.p50_s),
        seconds("singlePausePercentile90th", |pauses| pauses.p90_s),
        seconds("singlePausePercentile95th", |pauses| pauses.p95_s),
        seconds("singlePausePercentile99th", |pauses| pauses.p99_s),
        seconds("singlePausePercentile99.9th", |pauses| pauses.p999_s),
        seconds("singlePauseMax", |pauses| pauses.max_s),
    ];
    for (name, window_s) in [("worstSecondPausedPc", 1.0), ("worstMinutePausedPc", 60.0)] {
        let window = statistics.worst_windows.iter().find(|window| window.window_s == window_s);
        let missing = if pauses.is_some() { UnavailableReason::NoTimeSpan } else { none };
        rows.push(number_row(name, window.map(|window| window.paused_percent).ok_or(missing), "%", 2));
    }
    let rates = rates(log);
    rows.push(memory_row("allocationRate", rates.allocation, "/s"));
    rows.push(memory_row("promotionRate", rates.promotion, "/s"));
    rows.push(number_row("failedCollections", Ok(statistics.failures as f64), "-", 0));
    let cpu = log.cpu.ok_or(UnavailableReason::NoCpuTimes);
    rows.push(number_row("gcCpuTime", cpu.map(|cpu| cpu.user_s + cpu.sys_s), "s", 2));
    rows.push(number_row("gcCpuTimeSys", cpu.map(|cpu| cpu.sys_s), "s", 2));
    let stalls = statistics.stalls.as_ref();
    rows.push(number_row("allocationStalls", Ok(stalls.map_or(0.0, |stalls| stalls.n as f64)), "-", 0));
    rows
}
