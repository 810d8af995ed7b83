//! The events of a garbage-collection log as series and marks of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use busyhour_gclog::{EventKind, GcEvent};
use busyhour_observe::{Mark, MarkKind, Metric, Reading, SeriesId};
use busyhour_sample::Nanos;

use crate::gc_log_clock::PlacedTime;

static PAUSES: Metric = Metric::counter(
    "busyhour_gc_log_pauses_total",
    "Pauses by kind, as the garbage-collection log states them.",
);
static PAUSE_SECONDS: Metric = Metric::counter(
    "busyhour_gc_log_pause_seconds_total",
    "Sum of the pauses in the garbage-collection log.",
);
static HEAP_AFTER: Metric =
    Metric::gauge("busyhour_gc_log_heap_after_bytes", "Heap that is used after a collection.");
static HEAP_COMMITTED: Metric =
    Metric::gauge("busyhour_gc_log_heap_committed_bytes", "Committed heap after a collection.");
static ALLOCATED: Metric =
    Metric::counter("busyhour_gc_log_allocated_bytes_total", "Heap that was allocated between collections.");
static PROMOTED: Metric = Metric::counter(
    "busyhour_gc_log_promoted_bytes_total",
    "Memory that young collections moved to the old generation.",
);

/// Maximum number of pauses of a reading that become marks. The longest ones are chosen.
const MARKS_MAX: usize = 200;

/// A series whose times never decrease, even if the times of the events in a log do.
#[derive(Debug, Clone, Copy)]
struct Ordered {
    id: SeriesId,
    last: Nanos,
}

impl Ordered {
    fn set(slot: &mut Option<Ordered>, reading: &mut Reading<'_>, metric: &Metric, time: Nanos, value: f64) {
        let series = slot.get_or_insert_with(|| Ordered { id: reading.series(metric, &[]), last: Nanos(0) });
        series.last = series.last.max(time);
        reading.set_at(series.id, series.last, value);
    }
}

/// A pause on the clock of the run.
#[derive(Debug)]
struct Pause {
    from: Nanos,
    to: Nanos,
    text: String,
}

/// The totals and series of a log.
#[derive(Debug, Default)]
pub(crate) struct GcLogSeries {
    pause_s: f64,
    pauses: BTreeMap<EventKind, (u64, Option<SeriesId>)>,
    allocated_kib: i64,
    promoted_kib: Option<i64>,
    previous_kib: Option<i64>,
    heap_after: Option<Ordered>,
    heap_committed: Option<Ordered>,
    allocated: Option<Ordered>,
    promoted: Option<Ordered>,
    pause_seconds: Option<SeriesId>,
    marks: Vec<Pause>,
}

impl GcLogSeries {
    /// Adds an event. Its stamp is its end if `is_end` is true, and otherwise its start. Events before the run only
    /// update the used heap with which the next event is compared.
    pub(crate) fn add(
        &mut self,
        reading: &mut Reading<'_>,
        event: &GcEvent,
        (time, is_end): (Option<PlacedTime>, bool),
        cause: Option<&str>,
    ) {
        let length_s = event.duration_s.filter(|s| s.is_finite() && *s >= 0.0);
        let span = time.map(|time| {
            let length_s = length_s.unwrap_or(0.0);
            if is_end { (time.time_s - length_s, time.time_s) } else { (time.time_s, time.time_s + length_s) }
        });
        // An event without a stamp is placed at the reading that found it.
        let at = span.map_or(reading.time(), |(_, to_s)| nanos(to_s).min(reading.time()));
        let is_before = span.is_some_and(|(_, to_s)| to_s < 0.0);
        self.add_heap(reading, event, at, is_before);
        let (true, Some(length_s)) = (event.kind.is_pause() && !is_before, length_s) else { return };
        self.pause_s += length_s;
        self.pauses.entry(event.kind).or_default().0 += 1;
        if let Some((from_s, to_s)) = span {
            let text = describe(event, length_s, time.and_then(|time| time.uncertainty_s), cause);
            self.marks.push(Pause { from: nanos(from_s), to: nanos(to_s), text });
        }
    }

    fn add_heap(&mut self, reading: &mut Reading<'_>, event: &GcEvent, at: Nanos, is_before: bool) {
        let Some(heap) = event.heap else { return };
        let previous_kib = self.previous_kib.replace(heap.after_kib);
        if is_before {
            return;
        }
        Ordered::set(&mut self.heap_after, reading, &HEAP_AFTER, at, bytes(heap.after_kib));
        if let Some(kib) = heap.capacity_kib {
            Ordered::set(&mut self.heap_committed, reading, &HEAP_COMMITTED, at, bytes(kib));
        }
        let new_kib = previous_kib.map_or(0, |kib| heap.before_kib.saturating_sub(kib).max(0));
        self.allocated_kib = self.allocated_kib.saturating_add(new_kib);
        Ordered::set(&mut self.allocated, reading, &ALLOCATED, at, bytes(self.allocated_kib));
        let is_young = matches!(event.kind, EventKind::Young | EventKind::YoungConcurrentStart);
        if let (true, Some(young)) = (is_young, event.spaces.as_ref().and_then(|spaces| spaces.young)) {
            let moved_kib = young.freed_kib().saturating_sub(heap.freed_kib()).max(0);
            let promoted_kib = self.promoted_kib.unwrap_or(0).saturating_add(moved_kib);
            self.promoted_kib = Some(promoted_kib);
            Ordered::set(&mut self.promoted, reading, &PROMOTED, at, bytes(promoted_kib));
        }
    }

    /// Records the totals and the marks of a reading.
    pub(crate) fn record(&mut self, reading: &mut Reading<'_>) {
        let seconds = *self.pause_seconds.get_or_insert_with(|| reading.series(&PAUSE_SECONDS, &[]));
        reading.set(seconds, self.pause_s);
        for (kind, (count, id)) in &mut self.pauses {
            let id = *id.get_or_insert_with(|| reading.series(&PAUSES, &[("kind", kind.name())]));
            reading.set(id, *count as f64);
        }
        let omitted = self.marks.len().saturating_sub(MARKS_MAX);
        if omitted > 0 {
            self.marks.sort_by_key(|pause| std::cmp::Reverse(pause.to.0.saturating_sub(pause.from.0)));
            self.marks.truncate(MARKS_MAX);
        }
        self.marks.sort_by_key(|pause| pause.from);
        for Pause { from, to, text } in self.marks.drain(..) {
            reading.mark(Mark { kind: MarkKind::GcPause, from, to, text });
        }
        if omitted > 0 {
            let text = format!("{omitted} more, shorter pauses since the last reading");
            reading.mark(Mark { kind: MarkKind::GcPause, from: reading.time(), to: reading.time(), text });
        }
    }
}

/// `young (G1 Evacuation Pause), 5.0 ms, heap 90 → 10 MiB`
fn describe(event: &GcEvent, length_s: f64, uncertainty_s: Option<f64>, cause: Option<&str>) -> String {
    let mut out = event.kind.name().to_owned();
    // Writing to a string cannot fail.
    if let Some(cause) = cause {
        let _ = write!(out, " ({cause})");
    }
    let _ = write!(out, ", {:.1} ms", length_s * 1e3);
    if let Some(heap) = event.heap {
        let mib = |kib: i64| (kib as f64 / 1024.0).round();
        let _ = write!(out, ", heap {} → {} MiB", mib(heap.before_kib), mib(heap.after_kib));
    }
    if let Some(uncertainty_s) = uncertainty_s {
        let _ = write!(out, "; time ±{:.0} ms", (uncertainty_s * 1e3).ceil());
    }
    out
}

fn bytes(kib: i64) -> f64 {
    kib as f64 * 1024.0
}

fn nanos(seconds: f64) -> Nanos {
    // A time before the run becomes its start.
    Nanos((seconds.max(0.0) * 1e9) as u64)
}
