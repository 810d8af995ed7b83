//! Garbage-collection logs of HotSpot.
//!
//! [`GcLogReader`] takes lines and returns a [`GcLog`]; it recognises unified logs (JDK 9 and later) and earlier formats,
//! with any decorations and any collector.

mod caveat;
mod comparison;
mod decorations;
mod event;
mod figures;
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
pub use comparison::{BetterWhen, Change, ComparedFigure, GcComparison};
pub use event::{CauseId, Collector, EventKind, GcEvent, Spaces};
pub use figures::{
    CollectionFigures, DurationStatistics, Figure, FigureRow, Figures, Occupancy, SizeStatistics, Unavailable,
};
pub use leak::{LEAK_COLLECTIONS_MIN, LeakVerdict, LiveGrowth, Undecided, leak_verdict};
pub use live::{LiveSize, live_sizes};
pub use log::{DamagedLine, EVENTS_MAX, GcLog, LineCounts, OTHER_CAUSE, Safepoints};
pub use reader::{GcLogReader, first_stamp, part_order};
pub use series::{GcSeries, HeapPoint, POINTS_MAX, PausePoint, RatePoint, series};
pub use size::Sizes;
pub use stamp::LineStamp;
pub use statistics::{DurationSummary, GcStatistics, PauseGroup, Rates, WorstWindow, rates, statistics};
pub use summary::{GcSummary, KeyFigure, ReportedGcCaveat};
