//! Series of measured values on the clock of a run, and `series.bho`, the file that contains them. Each reading is appended to
//! it, so that it is readable after a crash.
//!
//! `docs/series-file.md` describes the format completely. [`SeriesEncoder`] produces it, [`SeriesReader`] returns its frames one by
//! one, and [`read_series`] returns series with a bounded number of points, in which counters have become rates.

mod condense;
mod decoder;
mod encoder;
mod explained;
mod format;
mod latest;
mod mark;
mod metric;
mod program_names;
mod rates;
mod restarts;
mod series_set;
mod state;

pub use condense::{Condenser, SeriesPoint};
pub use decoder::{DamagedEnd, SeriesEvent, SeriesFileError, SeriesReader};
pub use encoder::SeriesEncoder;
pub use explained::EXPLAINED_METRICS;
pub use format::{
    DECLARED_SERIES_MAX, FRAME_BYTES_MAX, FileStart, LABEL_BYTES_MAX, LABELS_MAX, MARKS_PER_READING_MAX,
    REASON_BYTES_MAX, SERIES_FILE_NAME, SERIES_MAGIC, SERIES_MAX, SERIES_VERSION, SeriesInfo, StateChange,
    UnavailableInfo, shorten,
};
pub use latest::LatestValue;
pub use mark::{Mark, MarkKind};
pub use metric::{Metric, MetricKind};
pub use program_names::ProgramNames;
pub use rates::CounterIncreases;
pub use restarts::SourceRestarts;
pub use series_set::{SeriesData, SeriesQuery, SeriesSet, read_series};
pub use state::SourceState;
