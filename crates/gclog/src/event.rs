//! The events of a log: collections, pauses and concurrent phases.

use serde::{Deserialize, Serialize};

use crate::size::SizeChange;
use crate::stamp::LineStamp;

/// A garbage collector of HotSpot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Collector {
    /// `-XX:+UseSerialGC`.
    Serial,
    /// `-XX:+UseParallelGC`, with or without a parallel old collection.
    Parallel,
    /// Concurrent mark and sweep, up to JDK 13.
    Cms,
    /// Garbage first.
    G1,
    /// ZGC without generations, up to JDK 23.
    Zgc,
    /// ZGC with generations, from JDK 21.
    GenerationalZgc,
    /// Shenandoah, with or without generations.
    Shenandoah,
    /// A collector that never collects.
    Epsilon,
}

impl Collector {
    /// The usual name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Collector::Serial => "Serial",
            Collector::Parallel => "Parallel",
            Collector::Cms => "CMS",
            Collector::G1 => "G1",
            Collector::Zgc => "ZGC",
            Collector::GenerationalZgc => "generational ZGC",
            Collector::Shenandoah => "Shenandoah",
            Collector::Epsilon => "Epsilon",
        }
    }
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A pause that collects the young generation.
    Young,
    /// A young collection of G1 that also starts a concurrent marking cycle.
    YoungConcurrentStart,
    /// A pause of G1 that collects the young generation and some old regions.
    Mixed,
    /// A pause that collects the whole heap.
    Full,
    /// A Shenandoah cycle that continued in a pause.
    Degenerated,
    /// The pause that starts the marking of CMS, of early G1 versions or of Shenandoah.
    InitialMark,
    /// The pause that ends the marking of CMS, G1 or Shenandoah.
    Remark,
    /// The cleanup pause of G1.
    Cleanup,
    /// Another short pause of Shenandoah.
    ShortPause,
    /// A short pause inside a cycle of ZGC. The cycle also contains its duration.
    CyclePause,
    /// A collection of ZGC that runs concurrently with the application.
    ZgcCycle,
    /// A minor collection of generational ZGC.
    MinorCycle,
    /// A major collection of generational ZGC.
    MajorCycle,
    /// The start of a concurrent phase or cycle.
    ConcurrentStart,
    /// The end of a concurrent phase or cycle.
    Concurrent,
    /// A safepoint that is not contained in a pause: `Total time for which application threads were stopped`.
    Safepoint,
    /// The use of the heap, without a collection (Epsilon).
    HeapUse,
    /// One thread waited for free memory (ZGC). The application as a whole did not stop.
    AllocationStall,
}

impl EventKind {
    /// A name for tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Young => "young",
            EventKind::YoungConcurrentStart => "young, starts marking",
            EventKind::Mixed => "mixed",
            EventKind::Full => "full",
            EventKind::Degenerated => "degenerated",
            EventKind::InitialMark => "initial mark",
            EventKind::Remark => "remark",
            EventKind::Cleanup => "cleanup",
            EventKind::ShortPause => "short pause",
            EventKind::CyclePause => "pause of a cycle",
            EventKind::ZgcCycle => "cycle",
            EventKind::MinorCycle => "minor cycle",
            EventKind::MajorCycle => "major cycle",
            EventKind::ConcurrentStart => "concurrent phase starts",
            EventKind::Concurrent => "concurrent phase",
            EventKind::Safepoint => "safepoint",
            EventKind::HeapUse => "heap use",
            EventKind::AllocationStall => "allocation stall",
        }
    }

    /// Whether a collection stopped all application threads for the duration of the event.
    #[must_use]
    pub fn is_pause(self) -> bool {
        match self {
            EventKind::Young
            | EventKind::YoungConcurrentStart
            | EventKind::Mixed
            | EventKind::Full
            | EventKind::Degenerated
            | EventKind::InitialMark
            | EventKind::Remark
            | EventKind::Cleanup
            | EventKind::ShortPause
            | EventKind::CyclePause => true,
            EventKind::ZgcCycle
            | EventKind::MinorCycle
            | EventKind::MajorCycle
            | EventKind::ConcurrentStart
            | EventKind::Concurrent
            | EventKind::Safepoint
            | EventKind::HeapUse
            | EventKind::AllocationStall => false,
        }
    }

    /// Whether the event is a whole collection of ZGC.
    #[must_use]
    pub fn is_cycle(self) -> bool {
        matches!(self, EventKind::ZgcCycle | EventKind::MinorCycle | EventKind::MajorCycle)
    }
}

/// The sizes of the parts of a heap at an event.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GenerationSizes {
    /// The young generation: eden and survivors.
    pub young: Option<SizeChange>,
    /// The old generation, with humongous regions.
    pub old: Option<SizeChange>,
    /// Metaspace, or the permanent generation up to JDK 7.
    pub metaspace: Option<SizeChange>,
    /// Whether only generations that were collected have sizes, as in logs up to JDK 8. Unified logs print the sizes of all
    /// generations.
    pub collected_only: bool,
}

impl GenerationSizes {
    /// The number of generations with sizes.
    #[must_use]
    pub fn count(&self) -> usize {
        [self.young, self.old, self.metaspace].iter().flatten().count()
    }
}

/// The cause of an event: an index into [`GcLog::causes`](crate::GcLog::causes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CauseId(pub(crate) u16);

/// One event of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct GcEvent {
    /// The stamp of the event's line. In unified logs it is the end of the event, in earlier logs its start.
    pub stamp: LineStamp,
    /// The number of the collection (`GC(12)`), if the log prints it.
    pub gc_id: Option<u64>,
    /// The kind of the event.
    pub kind: EventKind,
    /// The cause of the event, if the log prints it.
    pub cause: Option<CauseId>,
    /// The duration of the event, s. Absent if the log does not print it: a cycle without its phases, or a damaged
    /// line.
    pub duration_s: Option<f64>,
    /// For a cycle of ZGC, the sum of the pauses it contains, s. Absent if the log does not print pauses.
    pub cycle_pauses_s: Option<f64>,
    /// The heap before and after, if the log prints it.
    pub heap: Option<SizeChange>,
    /// The generations, if the log prints them.
    pub spaces: Option<Box<GenerationSizes>>,
    /// Whether objects could not be moved for lack of free memory: to-space exhausted, evacuation or promotion failed,
    /// or a concurrent collection that did not finish in time.
    pub is_failure: bool,
}

impl GcEvent {
    /// An event without details.
    pub(crate) fn new(kind: EventKind, stamp: LineStamp) -> GcEvent {
        GcEvent {
            stamp,
            gc_id: None,
            kind,
            cause: None,
            duration_s: None,
            cycle_pauses_s: None,
            heap: None,
            spaces: None,
            is_failure: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_small_enough_for_long_logs() {
        // A log with `EVENTS_MAX` events then needs about 1 GB, not counting the sizes of generations.
        assert!(size_of::<GcEvent>() <= 256, "{}", size_of::<GcEvent>());
    }
}
