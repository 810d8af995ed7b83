//! Live memory: the heap that is used after collections that reclaim old objects.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::event::{Collector, EventKind, GcEvent};
use crate::log::GcLog;

/// The heap that is used after a collection of old objects.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct LiveSize {
    /// Seconds on the clock of the log.
    pub time_s: f64,
    /// Used heap, KiB.
    pub kib: i64,
    /// Memory that the application allocated since the first event with sizes, KiB: a measure of the work it did.
    pub allocated_kib: i64,
}

/// The live sizes of a log in the order of time.
///
/// Each full or degenerated collection, each cycle of ZGC without generations and each major cycle gives one live size.
/// Of successive mixed collections of G1, and of the cleanups in one cycle of Shenandoah, only the last one is used.
/// The log of CMS has no sizes for sweeping, so the smallest heap after a young collection between two remarks is used.
#[must_use]
pub fn live_sizes(log: &GcLog) -> Vec<LiveSize> {
    let mut found = Vec::new();
    let mut mixed = None;
    let mut smallest_since_remark: Option<LiveSize> = None;
    let mut has_remark = false;
    let last_cleanups = last_cleanups(log);
    let (mut allocated_kib, mut previous_kib) = (0_i64, None::<i64>);
    for (index, (event, time_s)) in log.events.iter().zip(log.times_s()).enumerate() {
        if let Some(heap) = event.heap {
            let new_kib = previous_kib.map_or(0, |kib| (heap.before_kib - kib).max(0));
            allocated_kib = allocated_kib.saturating_add(new_kib);
            previous_kib = Some(heap.after_kib);
        }
        let size = time_s.zip(event.heap).map(|(time_s, heap)| LiveSize {
            time_s,
            kib: heap.after_kib,
            allocated_kib,
        });
        match event.kind {
            EventKind::Mixed => mixed = size.or(mixed),
            EventKind::Young | EventKind::YoungConcurrentStart => {
                found.extend(mixed.take());
                if has_remark && log.collector == Some(Collector::Cms) {
                    smallest_since_remark = match (smallest_since_remark, size) {
                        (Some(one), Some(two)) => Some(if two.kib < one.kib { two } else { one }),
                        (one, two) => one.or(two),
                    };
                }
            }
            EventKind::Remark => {
                found.extend(smallest_since_remark.take());
                has_remark = true;
            }
            EventKind::Full | EventKind::Degenerated | EventKind::ZgcCycle | EventKind::MajorCycle => {
                found.extend(mixed.take());
                found.extend(size);
            }
            EventKind::Concurrent if last_cleanups.contains(&index) => found.extend(size),
            _ => {}
        }
    }
    found.extend(mixed);
    found.extend(smallest_since_remark);
    found.sort_by(|one, two| one.time_s.total_cmp(&two.time_s));
    found
}

/// The indices of the last events with sizes of each concurrent cycle (Shenandoah), in a set for look-up.
fn last_cleanups(log: &GcLog) -> std::collections::HashSet<usize> {
    let mut by_cycle: HashMap<u64, usize> = HashMap::new();
    let mut cycles = 0_u64;
    for (index, event) in log.events.iter().enumerate() {
        // Logs of JDK 8 have no numbers of cycles.
        cycles += u64::from(event.kind == EventKind::InitialMark);
        if event.kind == EventKind::Concurrent && event.heap.is_some() {
            by_cycle.insert(cycle_of(event, cycles), index);
        }
    }
    by_cycle.into_values().collect()
}

fn cycle_of(event: &GcEvent, counted: u64) -> u64 {
    event.gc_id.unwrap_or(counted)
}
