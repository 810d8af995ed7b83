//! The events of unified logs: their kinds by name, and their causes.

use super::message::{Ending, EventSizes, Message};
use super::open::OpenCollections;
use crate::event::{Collector, EventKind, GcEvent};
use crate::log::LogBuilder;
use crate::size::{SharedSizes, SizeChange};
use crate::stamp::LineStamp;

/// The kind of the event with a name, or `None` if the text is not an event.
pub(crate) fn kind(message: &Message<'_>) -> Option<EventKind> {
    let first = message.groups.first().copied();
    Some(match message.name {
        "Pause Young" => match first {
            Some("Mixed") => EventKind::Mixed,
            Some("Concurrent Start") => EventKind::YoungConcurrentStart,
            _ => EventKind::Young,
        },
        "Pause Mixed" => EventKind::Mixed,
        "Pause Full" => EventKind::Full,
        "Pause Degenerated GC" => EventKind::Degenerated,
        // In G1 of JDK 9, a young collection starts the marking.
        "Pause Initial Mark" | "Pause Init Mark" => EventKind::InitialMark,
        "Pause Remark" | "Pause Final Mark" => EventKind::Remark,
        "Pause Cleanup" => EventKind::Cleanup,
        "Pause Mark Start" | "Pause Mark End" | "Pause Relocate Start" => EventKind::CyclePause,
        "Garbage Collection" => EventKind::ZgcCycle,
        "Minor Collection" => EventKind::MinorCycle,
        "Major Collection" => EventKind::MajorCycle,
        "Allocation Stall" | "Relocation Stall" => EventKind::AllocationStall,
        name if name.starts_with("Concurrent ") => EventKind::Concurrent,
        name if name.starts_with("Pause ") => EventKind::ShortPause,
        _ => return None,
    })
}

/// The collector, if only one has events with this name.
pub(crate) fn collector(message: &Message<'_>) -> Option<Collector> {
    Some(match message.name {
        "Minor Collection" | "Major Collection" => Collector::GenerationalZgc,
        "Garbage Collection" | "Pause Mark Start" | "Pause Relocate Start" => Collector::Zgc,
        "Pause Init Mark" | "Pause Final Mark" | "Pause Init Update Refs" | "Pause Degenerated GC" => {
            Collector::Shenandoah
        }
        "Concurrent Preclean" | "Concurrent Abortable Preclean" | "Concurrent Sweep" => Collector::Cms,
        "Concurrent Cycle"
        | "Concurrent Mark Cycle"
        | "Concurrent Undo Cycle"
        | "Pause Cleanup"
        | "Pause Mixed" => Collector::G1,
        "Pause Young"
            if matches!(message.groups.first(), Some(&"Normal" | &"Mixed" | &"Concurrent Start")) =>
        {
            Collector::G1
        }
        _ => return None,
    })
}

/// Adds an event that is complete.
pub(crate) fn push(
    open: &mut OpenCollections,
    kind: EventKind,
    gc_id: Option<u64>,
    message: &Message<'_>,
    stamp: LineStamp,
    log: &mut LogBuilder,
) {
    let Ending::Complete { sizes, duration_s } = message.ending else { return };
    let mut event = GcEvent::new(kind, stamp);
    event.gc_id = gc_id;
    event.duration_s = duration_s;
    let causes = Causes::of(kind, message);
    event.cause = causes.cause.and_then(|cause| log.cause(cause));
    event.is_failure = causes.is_failure;
    match kind {
        // The details of a cycle remain for the line that ends the cycle.
        EventKind::CyclePause => {
            if let (Some(id), Some(duration_s)) = (gc_id, duration_s) {
                *open.of(id).pauses_s.get_or_insert(0.0) += duration_s;
                log.push_phase(duration_s);
            }
        }
        EventKind::Concurrent | EventKind::AllocationStall => event.heap = sizes.map(plain),
        _ => {
            let details = open.take(gc_id);
            event.spaces = details.spaces();
            event.is_failure |= details.is_failure;
            event.cycle_pauses_s = details.pauses_s.filter(|_| kind.is_cycle());
            event.heap = sizes.map(|sizes| match sizes {
                EventSizes::Plain(sizes) => sizes,
                EventSizes::Shared(shared) => with_capacity(&shared, details.capacity_kib, log),
            });
        }
    }
    log.push(event);
}

fn plain(sizes: EventSizes) -> SizeChange {
    match sizes {
        EventSizes::Plain(sizes) => sizes,
        EventSizes::Shared(shared) => shared.sizes,
    }
}

/// The sizes of a cycle of ZGC. Without details, the log has no capacity, only shares of the maximum heap.
fn with_capacity(shared: &SharedSizes, capacity_kib: Option<i64>, log: &mut LogBuilder) -> SizeChange {
    let capacity_kib = capacity_kib.or_else(|| log.estimated_capacity(shared));
    SizeChange { capacity_kib, ..shared.sizes }
}

/// The cause that the groups of a name state, and whether they state a failure.
struct Causes<'l> {
    cause: Option<&'l str>,
    is_failure: bool,
}

impl<'l> Causes<'l> {
    fn of(kind: EventKind, message: &Message<'l>) -> Causes<'l> {
        let mut found = Causes { cause: None, is_failure: false };
        match kind {
            EventKind::Young
            | EventKind::YoungConcurrentStart
            | EventKind::Mixed
            | EventKind::Full
            | EventKind::Degenerated
            | EventKind::ZgcCycle
            | EventKind::MinorCycle
            | EventKind::MajorCycle => {}
            // CMS and G1 of JDK 9 and 10 print a cause, Shenandoah prints options.
            EventKind::InitialMark if message.name == "Pause Initial Mark" => {}
            _ => return found,
        }
        for group in &message.groups {
            match *group {
                "Normal" | "Mixed" | "Concurrent Start" | "Prepare Mixed" => {}
                group if group.starts_with("Evacuation Failure") => found.is_failure = true,
                group => found.cause = found.cause.or(Some(group)),
            }
        }
        // A cycle of Shenandoah degenerates when it runs out of memory; its group names the stage.
        found.is_failure |= kind == EventKind::Degenerated;
        found
    }
}
