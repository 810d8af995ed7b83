//! The settings for recording a run: its files, labels, names and observers.

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
    /// Only failed samples (`ResultCollector.error_logging`).
    Errors,
    /// Only successful samples (`ResultCollector.success_only_logging`).
    Successes,
}

/// One result file, CSV or XML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFileConfig {
    /// The path. Rows are appended to an existing file, without repeating the line of column names or the start of the XML.
    pub path: PathBuf,
    /// Its format and columns.
    pub config: SaveConfig,
    /// The samples that it contains. A sub-result is written if its parent is written.
    pub filter: SampleFilter,
}

/// The settings for recording a run.
#[derive(Debug, Clone)]
pub struct RecorderConfig {
    /// Directory for `samples.bhs` and `histograms.hlog`; `None` to compute only totals.
    pub dir: Option<PathBuf>,
    /// Names of thread groups, variables and the host, for the rows.
    pub names: RunNames,
    /// The labels, shared with the engine.
    pub labels: Labels,
    /// The run's start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// The main log (`-l`), which contains every sample.
    pub main: Option<ResultFileConfig>,
    /// The listeners' files.
    pub listeners: Vec<ResultFileConfig>,
    /// Sets of listeners, each a list of indices into `listeners`. [`busyhour_sample::Sample::listeners`] is an index into this
    /// list of sets, the first of which is empty.
    pub listener_sets: Vec<Vec<usize>>,
    /// Number of [`busyhour_sample::BatchWriter`]s; there is one per core.
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
    /// Lets the recorder stop waiting for readers of named pipes.
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
