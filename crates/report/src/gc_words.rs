//! Sentences about garbage-collection logs, shared by the terminal and the page.

use busyhour_gclog::{GcComparison, GcSummary, LeakVerdict, LiveGrowth};

use crate::numbers::{duration, ms};

/// The lengths of two logs may differ by this factor without a note.
const LENGTH_RATIO_MAX: f64 = 1.25;

/// A garbage-collection log with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedGcLog {
    /// The name for headings: the path of the log, or of the first part of a rotated one.
    pub name: String,
    /// Its figures.
    pub summary: GcSummary,
}

/// The collector, and the version of the JVM if the log names it.
#[must_use]
pub fn gc_collector(summary: &GcSummary) -> String {
    let name = summary.collector.map_or("collector unknown", |collector| collector.name());
    match &summary.jvm_version {
        Some(version) => format!("{name}, JVM {version}"),
        None => name.to_owned(),
    }
}

/// The verdict on the growth of live memory, as a sentence without a full stop.
#[must_use]
pub fn gc_live_memory(verdict: &LeakVerdict) -> String {
    match verdict {
        LeakVerdict::Leak(growth) => {
            let full = growth
                .full_in_s
                .map(|full_s| format!("; at this rate the heap is full in {}", duration(full_s)))
                .unwrap_or_default();
            format!("Live memory grows: a leak, {}{full}", slope(growth))
        }
        LeakVerdict::NoLeak(growth) => format!("Live memory does not grow: {}", slope(growth)),
        LeakVerdict::Undecided { reason, .. } => {
            format!("Whether live memory grows is undecided: {}", reason.reason())
        }
    }
}

fn slope(growth: &LiveGrowth) -> String {
    let mib_per_min = |kib_per_s: f64| kib_per_s * 60.0 / 1024.0;
    format!(
        "{:+.2} MiB/min (95 % interval {:+.2} to {:+.2}) over {}",
        mib_per_min(growth.slope_kib_per_s),
        mib_per_min(growth.low_kib_per_s),
        mib_per_min(growth.high_kib_per_s),
        duration(growth.span_s)
    )
}

/// A pause in ms with about three significant digits. Pauses of ZGC last only a few microseconds.
#[must_use]
pub fn gc_pause_ms(seconds: f64) -> String {
    let pause_ms = seconds * 1e3;
    if pause_ms < 0.0995 { format!("{pause_ms:.3}") } else { ms(pause_ms) }
}

/// The limitations of a comparison, as sentences without a full stop.
#[must_use]
pub fn gc_comparison_notes(comparison: &GcComparison) -> Vec<String> {
    let is_different = |ratio: &f64| !(1.0 / LENGTH_RATIO_MAX..=LENGTH_RATIO_MAX).contains(ratio);
    let length = comparison.length_ratio.filter(is_different).map(|ratio| {
        format!("the second log is {ratio:.1} times as long; sums and counts cannot be compared directly")
    });
    let chance = "each log is one run; a small difference may be chance".to_owned();
    length.into_iter().chain([chance]).collect()
}
