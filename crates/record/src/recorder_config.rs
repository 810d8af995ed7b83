//! How a run is recorded: its files, labels, names and observers.

use std::path::PathBuf;

use busyhour_sample::{ApdexLimits, Labels, RunNames, SnapshotSender};

use crate::config::SaveConfig;
use crate::pipe::PipeRelease;

/// The samples that a result file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleFilter {
    /// All samples.
    #[default]
    All,
    /// Failed samples (`ResultCollector.error_logging`).
    Errors,
    /// Successful samples (`ResultCollector.success_only_logging`).
    Successes,
}

/// One result file, CSV or XML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFileConfig {
    /// The path. An existing file is continued, without repeating the line of column names or the XML head.
    pub path: PathBuf,
    /// Its format and columns.
    pub config: SaveConfig,
    /// Its samples. A sub-result is written if its parent is.
    pub filter: SampleFilter,
}

/// How a run is recorded.
#[derive(Debug, Clone)]
pub struct RecorderConfig {
    /// Directory for `samples.bhs` and `histograms.hlog`; `None` to compute only totals.
    pub dir: Option<PathBuf>,
    /// Names for rows.
    pub names: RunNames,
    /// The labels, shared with the engine.
    pub labels: Labels,
    /// The run's start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// The main log (`-l`), which contains every sample.
    pub main: Option<ResultFileConfig>,
    /// The listeners' files.
    pub listeners: Vec<ResultFileConfig>,
    /// Sets of indices into `listeners`, by [`crate::Sample::listeners`]; the first is the empty set.
    pub listener_sets: Vec<Vec<usize>>,
    /// Number of [`busyhour_sample::BatchWriter`]s: one per core.
    pub writers: usize,
    /// Size of a batch in bytes.
    pub batch_bytes: usize,
    /// Number of batches of each writer.
    pub batches: usize,
    /// Observers that receive a snapshot of every second. Sending never blocks the recorder's thread, which drops the
    /// senders when it ends.
    pub observers: Vec<SnapshotSender>,
    /// The limits of the Application Performance Index.
    pub apdex: ApdexLimits,
    /// Ends the waiting for readers of named pipes.
    pub pipes: PipeRelease,
}

impl Default for RecorderConfig {
    fn default() -> Self {
        RecorderConfig {
            dir: None,
            names: RunNames::default(),
            labels: Labels::new(),
            wall_anchor_ms: 0,
            main: None,
            listeners: Vec::new(),
            listener_sets: vec![Vec::new()],
            writers: 1,
            batch_bytes: 96 << 10,
            batches: 48,
            observers: Vec::new(),
            apdex: ApdexLimits::default(),
            pipes: PipeRelease::default(),
        }
    }
}
