//! The figures of a log.

use serde::{Deserialize, Serialize};

use super::accumulator::{DurationStatistics, SizeStatistics};

/// Why a figure is unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnavailableReason {
    /// The log has no collections.
    NoCollections,
    /// The log has no times.
    NoStamps,
    /// All events are at the same time.
    NoTimeSpan,
    /// No event has heap sizes.
    NoHeapSizes,
    /// No event has the sizes of generations.
    NoGenerations,
    /// The log does not print the capacity of a generation.
    NoCapacity,
    /// The log has cycles of ZGC but not their pauses.
    #[serde(rename = "no_pauses_of_cycles")]
    CyclesWithoutPauses,
    /// The log has no pauses.
    NoPauses,
    /// The log has no full collections.
    NoFullCollections,
    /// The log has no collections other than full ones.
    OnlyFullCollections,
    /// The figure needs more collections of this kind.
    TooFewCollections,
    /// Nothing was freed.
    NothingFreed,
    /// The pauses are shorter than the log's precision, so that nothing can be divided by them.
    PausesTooShort,
    /// The log has no durations of the parts of pauses.
    NoPhases,
    /// The log has no CPU times.
    NoCpuTimes,
}

impl UnavailableReason {
    /// The reason as a sentence without a full stop, with advice if there is any.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            UnavailableReason::NoCollections => "the log has no collections",
            UnavailableReason::NoStamps => "the log has no times; log with the decoration `uptime`",
            UnavailableReason::NoTimeSpan => "all events are at the same time",
            UnavailableReason::NoHeapSizes => "no event has heap sizes",
            UnavailableReason::NoGenerations => {
                "the log has no sizes of generations; log `gc*` instead of `gc`"
            }
            UnavailableReason::NoCapacity => "the log does not print the capacity of this generation",
            UnavailableReason::CyclesWithoutPauses => {
                "the log does not print the pauses of ZGC; log `gc,gc+phases` or `gc*`"
            }
            UnavailableReason::NoPauses => "the log has no pauses",
            UnavailableReason::NoFullCollections => "the log has no full collections",
            UnavailableReason::OnlyFullCollections => "all collections are full collections",
            UnavailableReason::TooFewCollections => "the log has too few collections of this kind",
            UnavailableReason::NothingFreed => "nothing was freed",
            UnavailableReason::PausesTooShort => "the pauses are shorter than the log can print",
            UnavailableReason::NoPhases => "the log has no durations of the parts of pauses; log `gc*`",
            UnavailableReason::NoCpuTimes => {
                "the log has no CPU times of the collector; log `gc,gc+cpu` or `gc*`"
            }
        }
    }
}

/// A figure, or the reason for its absence.
pub type GcFigure<T> = Result<T, UnavailableReason>;

/// The largest used and committed sizes of a part of the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// The largest committed size, KiB.
    pub capacity_kib: GcFigure<i64>,
    /// The largest used size before an event, KiB.
    pub used_kib: GcFigure<i64>,
}

/// The memory and the pauses of one group of collections: full collections, or all others.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionFigures {
    /// Pauses, s. For ZGC, the pauses of a cycle together.
    pub pauses: DurationStatistics,
    /// Heap used after each collection, KiB.
    pub after: SizeStatistics,
    /// Memory freed by each collection, KiB.
    pub freed: SizeStatistics,
    /// Memory freed per second of pauses, KiB/s.
    pub performance_kib_per_s: GcFigure<f64>,
    /// Growth of the heap after these collections, KiB/s, by least squares. For collections other than full ones, it is the
    /// mean over the parts of the log between full collections.
    pub slope_kib_per_s: GcFigure<f64>,
    /// Growth of the heap from collection to collection, KiB, computed in the same way.
    pub growth_kib: GcFigure<f64>,
}

/// The figures of a log. Sizes are in KiB, times in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct GcFigures {
    /// The largest committed heap.
    pub footprint_kib: GcFigure<i64>,
    /// The heap.
    pub heap: Occupancy,
    /// The old generation.
    pub old: Occupancy,
    /// The young generation.
    pub young: Occupancy,
    /// Metaspace, or the permanent generation.
    pub metaspace: Occupancy,
    /// Σ (used before − after) over all collections.
    pub freed_kib: GcFigure<i64>,
    /// Time from the first to the last stamp, plus the last pause. In unified logs, whose stamps are at the end of an
    /// event, the last pause counts twice. This is GCViewer's definition.
    pub total_s: GcFigure<f64>,
    /// Freed memory per minute of the total time, KiB.
    pub freed_kib_per_min: GcFigure<f64>,
    /// Percent of the total time without pauses.
    pub throughput_percent: GcFigure<f64>,
    /// All pauses. If the log prints safepoints, also the part of each safepoint that is not a collection.
    pub pauses: DurationStatistics,
    /// Collections other than full ones, including the pauses of concurrent collectors.
    pub gc: CollectionFigures,
    /// Full collections: collections that the log calls full and, in logs up to JDK 8, collections of more than one
    /// generation.
    pub full: CollectionFigures,
    /// Memory that young collections moved to the old generation, KiB per collection.
    pub promotion: SizeStatistics,
    /// Durations of the parts of pauses.
    pub phases: DurationStatistics,
    /// Whether the log has cycles without their pauses, so that sums of pauses are not known.
    pub lacks_pauses: bool,
}

impl GcFigures {
    /// Why figures of collections other than full ones are unavailable, if there are none.
    pub(crate) fn reason_without_gc(&self) -> UnavailableReason {
        if self.full.pauses.n() > 0 {
            UnavailableReason::OnlyFullCollections
        } else {
            UnavailableReason::NoCollections
        }
    }
}
