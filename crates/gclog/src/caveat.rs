//! Caveats: sentences that warn about figures that may mislead.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::{Collector, EventKind};
use crate::figures::GcFigures;
use crate::idle::idle;
use crate::live::live_sizes;
use crate::log::GcLog;
use crate::statistics::GcStatistics;

/// The reason why a figure may mislead.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", tag = "caveat")]
pub enum GcCaveat {
    /// The log covers a short time.
    ShortLog {
        /// From the first to the last event, s.
        span_s: f64,
    },
    /// Idle time is part of the total time.
    IdleTime {
        /// Percent of the total time.
        idle_percent: f64,
        /// The shortest gap that counts, s.
        shortest_s: f64,
        /// Throughput with the idle time, percent.
        throughput_percent: f64,
        /// Throughput without it, percent.
        busy_percent: f64,
    },
    /// Full collections freed almost nothing.
    #[serde(rename = "full_freed_little")]
    FullCollectionsFreedLittle {
        /// Number of such collections.
        count: u64,
        /// Number of all full collections.
        of: u64,
        /// The share of the used heap that the worst of these collections freed, percent.
        freed_percent: f64,
        /// The pause of the worst collection, s.
        pause_s: f64,
    },
    /// Figures of full collections are based on few collections.
    #[serde(rename = "few_full")]
    FewFullCollections {
        /// Number of full collections.
        count: u64,
    },
    /// Full collections that the application requested.
    ExplicitFull {
        /// Number of requested full collections.
        count: u64,
        /// Number of all full collections.
        of: u64,
    },
    /// Objects could not be moved, or concurrent collections did not finish in time.
    Failures {
        /// Number of such collections.
        count: u64,
    },
    /// Collections of old objects leave the heap nearly full.
    HeapNearlyFull {
        /// The share of the largest capacity that is used after the last of these collections, percent.
        used_percent: f64,
    },
    /// Threads waited for free memory. These waits are not pauses.
    AllocationStalls {
        /// Number of waits.
        count: u64,
        /// The longest wait, s.
        longest_s: f64,
    },
    /// Pauses in which the collector waited instead of working.
    #[serde(rename = "waiting_collector")]
    CollectorWaited {
        /// Number of such pauses.
        count: u64,
        /// Sum of such pauses, s.
        paused_s: f64,
    },
    /// The log does not print the pauses of ZGC.
    #[serde(rename = "no_pauses_of_cycles")]
    CyclesWithoutPauses,
    /// Memory that concurrent collections freed is a lower bound.
    ConcurrentSizes,
    /// The capacity of the heap is estimated.
    EstimatedCapacity {
        /// The estimate, KiB.
        kib: i64,
    },
    /// The total time contains the last pause twice, and this pause is a large part of it.
    LastPauseCountsTwice {
        /// Percent of the total time.
        percent: f64,
    },
    /// Safepoints stopped the application longer than the pauses.
    Safepoints {
        /// The time that safepoints stopped the application, s.
        stopped_s: f64,
        /// The sum of the pauses, s.
        paused_s: f64,
        /// The time to reach the safepoints, s.
        reaching_s: f64,
    },
    /// The log has several starts of the JVM, or parts in the wrong order.
    Restarts {
        /// Number of times that the uptime decreased.
        count: u64,
    },
    /// The log does not begin with the first collection.
    MissingStart {
        /// The number of the first collection in the log.
        first: u64,
    },
    /// Collections are missing inside the log.
    MissingCollections {
        /// Number of missing collections.
        count: u64,
    },
    /// Lines could not be read.
    DamagedLines {
        /// Number of such lines.
        count: u64,
        /// Percent of all lines.
        percent: f64,
    },
    /// The log has too many events, so that some are left out.
    TooManyEvents {
        /// Number of events that are left out.
        count: u64,
    },
    /// The collector is Epsilon, which never collects.
    Epsilon,
}

/// A log that covers less than this time is short, s.
const SHORT_S: f64 = 300.0;

/// The smallest share of idle time that is reported.
const IDLE_SHARE: f64 = 0.1;

/// A full collection freed almost nothing if it freed less than this share of the used heap.
const LITTLE: f64 = 0.05;

/// Figures of fewer full collections than this are rough.
const FULL_FEW: u64 = 5;

/// The last pause is reported from this share of the total time on.
const LAST_PAUSE_SHARE: f64 = 0.01;

/// The heap counts as nearly full from this share of the capacity on, percent. After a full collection, the JVM expands
/// a heap that has less than 40 % free memory (`MinHeapFreeRatio`), unless the heap already has its maximum size.
const NEARLY_FULL_PERCENT: f64 = 90.0;

/// Number of live sizes at the end of the log that determine whether the heap is nearly full.
const LIVE_AT_END: usize = 5;

/// The causes of collections that the application or an operator requested.
const EXPLICIT: [&str; 5] = [
    "System.gc()",
    "System",
    "Diagnostic Command",
    "Heap Inspection Initiated GC",
    "JvmtiEnv ForceGarbageCollection",
];

/// Finds the caveats of a log.
pub(crate) fn caveats(log: &GcLog, figures: &GcFigures, statistics: &GcStatistics) -> Vec<GcCaveat> {
    let mut found = Vec::new();
    time_caveats(log, figures, &mut found);
    full_caveats(log, figures, &mut found);
    if statistics.failures > 0 {
        found.push(GcCaveat::Failures { count: statistics.failures });
    }
    if let Some(used_percent) = used_at_end(log, figures).filter(|percent| *percent >= NEARLY_FULL_PERCENT) {
        found.push(GcCaveat::HeapNearlyFull { used_percent });
    }
    if let Some(stalls) = &statistics.stalls {
        found.push(GcCaveat::AllocationStalls { count: stalls.n as u64, longest_s: stalls.max_s });
    }
    if let Some(cpu) = log.cpu.filter(|cpu| cpu.waited > 0) {
        found.push(GcCaveat::CollectorWaited { count: cpu.waited, paused_s: cpu.waited_s });
    }
    if figures.lacks_pauses {
        found.push(GcCaveat::CyclesWithoutPauses);
    }
    if log
        .events
        .iter()
        .any(|event| event.kind.is_cycle() || event.kind == EventKind::Concurrent && event.heap.is_some())
    {
        found.push(GcCaveat::ConcurrentSizes);
    }
    if let (true, Ok(kib)) = (log.is_capacity_estimated, figures.footprint_kib) {
        found.push(GcCaveat::EstimatedCapacity { kib });
    }
    if let (Some(safepoints), Ok(paused_s)) = (log.safepoints, figures.accumulated_pauses_s())
        && safepoints.total_s > 1.2 * paused_s
    {
        let (stopped_s, reaching_s) = (safepoints.total_s, safepoints.reaching_s);
        found.push(GcCaveat::Safepoints { stopped_s, paused_s, reaching_s });
    }
    if log.collector == Some(Collector::Epsilon) {
        found.push(GcCaveat::Epsilon);
    }
    line_caveats(log, &mut found);
    found
}

/// The smallest of the last live sizes, in percent of the largest capacity.
fn used_at_end(log: &GcLog, figures: &GcFigures) -> Option<f64> {
    let capacity_kib = log.heap_max_kib.max(figures.footprint_kib.ok()).filter(|kib| *kib > 0)?;
    let live = live_sizes(log);
    let last = live.get(live.len().checked_sub(LIVE_AT_END)?..)?;
    let smallest_kib = last.iter().map(|size| size.kib).min()?;
    Some(100.0 * smallest_kib as f64 / capacity_kib as f64)
}

fn time_caveats(log: &GcLog, figures: &GcFigures, found: &mut Vec<GcCaveat>) {
    let Ok(total_s) = figures.total_s else { return };
    if total_s < SHORT_S && (figures.pauses.n() > 0 || figures.gc.freed.n() > 0) {
        found.push(GcCaveat::ShortLog { span_s: total_s });
    }
    let (Ok(paused_s), Ok(throughput_percent)) = (figures.accumulated_pauses_s(), figures.throughput_percent)
    else {
        return;
    };
    if let Some(idle) = idle(log).filter(|idle| idle.idle_s >= IDLE_SHARE * total_s) {
        let busy_s = total_s - idle.idle_s;
        if busy_s > 0.0 {
            found.push(GcCaveat::IdleTime {
                idle_percent: 100.0 * idle.idle_s / total_s,
                shortest_s: idle.shortest_s,
                throughput_percent,
                busy_percent: 100.0 * (busy_s - paused_s).max(0.0) / busy_s,
            });
        }
    }
    let last = log.events.iter().rev().find(|event| event.kind.is_pause());
    let last_s = last.and_then(|event| event.duration_s).unwrap_or(0.0);
    if log.is_unified && total_s > 0.0 && last_s >= LAST_PAUSE_SHARE * total_s {
        found.push(GcCaveat::LastPauseCountsTwice { percent: 100.0 * last_s / total_s });
    }
}

fn full_caveats(log: &GcLog, figures: &GcFigures, found: &mut Vec<GcCaveat>) {
    let of = figures.full.pauses.n() as u64;
    if of == 0 {
        return;
    }
    let full = || log.events.iter().filter(|event| event.kind == EventKind::Full);
    let mut little = 0;
    let mut worst = None::<(f64, f64)>;
    for event in full() {
        let Some(heap) = event.heap.filter(|heap| heap.before_kib > 0) else { continue };
        let share = heap.freed_kib() as f64 / heap.before_kib as f64;
        if share < LITTLE {
            little += 1;
            if worst.is_none_or(|(least, _)| share < least) {
                worst = Some((share, event.duration_s.unwrap_or(0.0)));
            }
        }
    }
    if let Some((share, pause_s)) = worst {
        let freed_percent = 100.0 * share;
        found.push(GcCaveat::FullCollectionsFreedLittle { count: little, of, freed_percent, pause_s });
    }
    if of < FULL_FEW {
        found.push(GcCaveat::FewFullCollections { count: of });
    }
    let is_explicit = |cause: &str| EXPLICIT.contains(&cause);
    let count = full().filter(|event| log.cause(event).is_some_and(is_explicit)).count() as u64;
    if count > 0 {
        found.push(GcCaveat::ExplicitFull { count, of });
    }
}

fn line_caveats(log: &GcLog, found: &mut Vec<GcCaveat>) {
    if log.restarts > 0 {
        found.push(GcCaveat::Restarts { count: log.restarts });
    }
    if let Some(first) = log.first_gc_id.filter(|first| *first > 0) {
        found.push(GcCaveat::MissingStart { first });
    }
    if log.missing_collections > 0 {
        found.push(GcCaveat::MissingCollections { count: log.missing_collections });
    }
    if log.lines.damaged > 0 {
        let percent = 100.0 * log.lines.damaged as f64 / log.lines.total.max(1) as f64;
        found.push(GcCaveat::DamagedLines { count: log.lines.damaged, percent });
    }
    if log.lines.beyond_limit > 0 {
        found.push(GcCaveat::TooManyEvents { count: log.lines.beyond_limit });
    }
}

/// A count with its noun in the singular or plural.
fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

fn idle_text(idle_percent: f64, shortest_s: f64, throughput_percent: f64, busy_percent: f64) -> String {
    format!(
        "{idle_percent:.0} % of the time has no collections (gaps of {shortest_s:.0} s and more), which inflates throughput: it is \
         {busy_percent:.2} % without this time instead of {throughput_percent:.2} %"
    )
}

fn full_freed_little_text(count: u64, of: u64, freed_percent: f64, pause_s: f64) -> String {
    format!(
        "{count} of {of} full collections freed almost nothing (the worst {freed_percent:.1} % of the used heap in {pause_s:.2} s): \
         full GC performance shows how much garbage there was, not how good the collector is"
    )
}

fn waiting_text(count: u64, paused_s: f64) -> String {
    format!(
        "in {} ({paused_s:.1} s) the collector ran for less than half of the time: it waited for a processor, for swapped memory or \
         for the disk of the log; the machine caused these pauses, not the collector",
        counted(count, "pause", "pauses")
    )
}

fn failures_text(count: u64) -> String {
    format!(
        "in {} the collector ran out of free memory (to-space exhausted, promotion or evacuation failed, concurrent mode failure, \
         degenerated cycle); give it more memory or start cycles earlier",
        counted(count, "collection", "collections")
    )
}

impl fmt::Display for GcCaveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GcCaveat::ShortLog { span_s } => write!(
                f,
                "the log covers {span_s:.0} s; figures per minute and counts of full collections are rough for less than \
                 {SHORT_S:.0} s"
            ),
            GcCaveat::IdleTime { idle_percent, shortest_s, throughput_percent, busy_percent } => {
                f.write_str(&idle_text(idle_percent, shortest_s, throughput_percent, busy_percent))
            }
            GcCaveat::FullCollectionsFreedLittle { count, of, freed_percent, pause_s } => {
                f.write_str(&full_freed_little_text(count, of, freed_percent, pause_s))
            }
            GcCaveat::FewFullCollections { count } => write!(
                f,
                "figures of full collections are based on {} only",
                counted(count, "collection", "collections")
            ),
            GcCaveat::ExplicitFull { count, of } => write!(
                f,
                "System.gc() or a diagnostic command requested {count} of {of} full collections; the collector itself would not have \
                 made them"
            ),
            GcCaveat::Failures { count } => f.write_str(&failures_text(count)),
            GcCaveat::HeapNearlyFull { used_percent } => write!(
                f,
                "at the end, {used_percent:.0} % of the heap is used after collections of old objects: it is too small, or a leak has \
                 filled it"
            ),
            GcCaveat::AllocationStalls { count, longest_s } => write!(
                f,
                "threads waited {} for free memory, {:.1} ms at most; figures of pauses do not include these waits",
                counted(count, "time", "times"),
                1000.0 * longest_s
            ),
            GcCaveat::CollectorWaited { count, paused_s } => f.write_str(&waiting_text(count, paused_s)),
            GcCaveat::CyclesWithoutPauses => f.write_str(
                "the log has the cycles of ZGC but not their pauses; log `gc,gc+phases` or `gc*` for pauses and throughput",
            ),
            GcCaveat::ConcurrentSizes => f.write_str(
                "the application allocates during concurrent collections, so freed memory and allocation rate are lower bounds",
            ),
            GcCaveat::EstimatedCapacity { kib } => write!(
                f,
                "the log has no heap capacity; the footprint of {:.0} MiB is estimated from shares in whole percent",
                kib as f64 / 1024.0
            ),
            GcCaveat::LastPauseCountsTwice { percent } => write!(
                f,
                "the total time contains the last pause twice ({percent:.1} %), because GCViewer's definition adds it to stamps that \
                 are at the end of a pause"
            ),
            GcCaveat::Safepoints { stopped_s, paused_s, reaching_s } => write!(
                f,
                "safepoints stopped the application for {stopped_s:.3} s, pauses for {paused_s:.3} s; {reaching_s:.3} s were needed \
                 to reach the safepoints"
            ),
            GcCaveat::Restarts { count } => write!(
                f,
                "the uptime went back {}: analyse each start of the JVM on its own, and the parts of a rotated log in their order",
                counted(count, "time", "times")
            ),
            GcCaveat::MissingStart { first } => write!(
                f,
                "the log begins with collection {first}; earlier ones were overwritten by rotation, or their part is missing"
            ),
            GcCaveat::MissingCollections { count } => write!(
                f,
                "{} missing inside the log; give all parts of a rotated log",
                counted(count, "collection is", "collections are")
            ),
            GcCaveat::DamagedLines { count, percent } => write!(
                f,
                "{} ({percent:.2} %) could not be read; no figure includes their events",
                counted(count, "line", "lines")
            ),
            GcCaveat::TooManyEvents { count } => write!(
                f,
                "the log is too long: no figure includes the last {}; split it",
                counted(count, "event", "events")
            ),
            GcCaveat::Epsilon => f.write_str("Epsilon never collects: the log shows the use of the heap only"),
        }
    }
}
