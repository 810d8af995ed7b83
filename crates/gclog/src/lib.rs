//! Garbage-collection logs of HotSpot.
//!
//! [`GcLogReader`] takes lines or bytes and returns a [`GcLog`]. It recognises unified logs (JDK 9 and later, with any
//! decorations) and the formats of JDK 1.3 to 8, of Serial, Parallel, CMS, G1, ZGC, Shenandoah and Epsilon. It does no I/O.
//! [`GcSummary`] has everything that a table or a page shows, [`GcComparison`] compares two logs, and [`leak_verdict`] judges
//! whether live memory grows.
//!
//! To read the parts of a rotated log, order them with [`first_stamp`] and [`part_order`] and feed them to one reader.
//!
//! ```
//! use busyhour_gclog::{GcLogReader, GcSummary};
//!
//! let mut reader = GcLogReader::new();
//! reader.feed(b"[1.0s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 90M->10M(96M) 5.000ms\n");
//! reader.feed(b"[2.0s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 92M->11M(96M) 5.000ms\n");
//! let summary = GcSummary::of(&reader.finish());
//! assert_eq!(summary.figure("throughput").unwrap().with_unit(), "99 %");
//! assert_eq!(summary.figure("fullGCPerformance").unwrap().text, "unavailable");
//! ```

mod caveat;
mod comparison;
mod cpu;
mod decorations;
mod event;
mod figures;
mod gc_file;
mod idle;
mod leak;
mod live;
mod log;
mod more_figures;
mod pre9;
mod reader;
mod series;
mod size;
mod stamp;
mod statistics;
mod summary;
mod unified;

pub use caveat::GcCaveat;
pub use comparison::{BetterWhen, ComparedGcFigure, FigureChange, GcComparison};
pub use cpu::CpuSums;
pub use event::{CauseId, Collector, EventKind, GcEvent, GenerationSizes};
pub use figures::{
    CollectionFigures, DurationStatistics, FigureRow, GcFigure, GcFigures, Occupancy, SizeStatistics,
    UnavailableReason,
};
pub use gc_file::{GC_FILE_NAME, GC_FILE_VERSION, GC_PART_KIND, GcFile, GcFileError, GcSource};
pub use leak::{LEAK_COLLECTIONS_MIN, LeakVerdict, LiveGrowth, UndecidedReason, leak_verdict};
pub use live::{LiveSize, live_sizes};
pub use log::{DamagedLine, EVENTS_MAX, GcLog, LineCounts, OTHER_CAUSE, Safepoints};
pub use reader::{GcLogReader, first_stamp, part_order};
pub use series::{GcSeries, HeapPoint, POINTS_MAX, PausePoint, RatePoint, series};
pub use size::SizeChange;
pub use stamp::LineStamp;
pub use statistics::{
    DurationSummary, GcStatistics, PauseGroup, PausePercentile, Rates, WorstPauseWindow, rates, statistics,
};
pub use summary::{GcSummary, KeyFigure, ReportedGcCaveat};
