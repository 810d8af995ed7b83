//! The status of a watch, for live views.

use std::sync::Arc;

use busyhour_sample::Nanos;
use busyhour_series::{Mark, SourceState};

/// The state of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStatus {
    /// The name of the source.
    pub source: Arc<str>,
    /// The state.
    pub state: SourceState,
    /// Time at which this state began, in ns since the start of the run.
    pub since: Nanos,
    /// Whether the source has been read at least once without a failure.
    pub was_read: bool,
}

/// A change that a source is reported with, at most once each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceChange {
    /// The source could not be read, for the first time.
    Failed {
        /// Why.
        reason: String,
        /// Whether it had been read before.
        was_read: bool,
    },
    /// The source was read for the first time.
    Read,
}

/// A metric without values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnavailableMetric {
    /// The name of the source.
    pub source: Arc<str>,
    /// The name of the metric.
    pub metric: String,
    /// Why there are no values.
    pub reason: String,
    /// When this was noticed, in ns since the start of the run.
    pub time: Nanos,
}

/// A mark with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMark {
    /// The name of the source.
    pub source: Arc<str>,
    /// The mark.
    pub mark: Mark,
}

/// The state of a watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchStatus {
    /// Each source, in the order in which they were added.
    pub sources: Vec<SourceStatus>,
    /// Metrics without values, in the order in which they were noticed.
    pub unavailable: Vec<UnavailableMetric>,
    /// The number of declared series.
    pub series: usize,
    /// Declarations of series that were refused, because there were too many. A series may be refused more than once.
    pub series_refused: u64,
    /// Marks that were discarded, because a reading had too many.
    pub marks_discarded: u64,
    /// Reasons for missing metrics that were discarded, because there were too many.
    pub reasons_discarded: u64,
    /// Why the file is incomplete: an error of writing. Later readings are not in the file.
    pub file_error: Option<String>,
}
