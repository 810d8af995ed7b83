//! Garbage-collection logs of HotSpot.
//!
//! [`GcLogReader`] takes lines and returns a [`GcLog`]; it recognises unified logs (JDK 9 and later) and earlier formats,
//! with any decorations and any collector.

mod decorations;
mod event;
mod figures;
mod leak;
mod live;
mod log;
mod pre9;
mod reader;
mod size;
mod stamp;
mod unified;

pub use event::{CauseId, Collector, EventKind, GcEvent, Spaces};
pub use figures::{
    CollectionFigures, DurationStatistics, Figure, FigureRow, Figures, Occupancy, SizeStatistics, Unavailable,
};
pub use leak::{LEAK_COLLECTIONS_MIN, LeakVerdict, LiveGrowth, Undecided, leak_verdict};
pub use live::{LiveSize, live_sizes};
pub use log::{DamagedLine, EVENTS_MAX, GcLog, LineCounts, OTHER_CAUSE, Safepoints};
pub use reader::{GcLogReader, first_stamp, part_order};
pub use size::Sizes;
pub use stamp::LineStamp;
