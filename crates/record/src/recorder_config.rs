//! The settings of a recorder.

use std::path::PathBuf;

use crate::aggregator_settings::ApdexLimits;
use crate::config::SaveConfig;
use crate::labels::Labels;
use crate::pipe::PipeRelease;
use crate::run_names::RunNames;
use crate::snapshot::SnapshotSender;

/// Which samples a result file takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// All.
    #[default]
    All,
    /// Failed ones (`ResultCollector.error_logging`).
    Errors,
    /// Successful ones (`ResultCollector.success_only_logging`).
    Successes,
}

/// One result file, CSV or XML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOutput {
    /// Where. A file that exists is continued, without a second line of column names or second head.
    pub path: PathBuf,
    /// Its columns.
    pub config: SaveConfig,
    /// Its samples. A sub-result goes where its parent goes.
    pub which: Which,
}

/// How a run is recorded.
#[derive(Debug, Clone)]
pub struct RecorderConfig {
    /// Directory for `samples.bhs` and `histograms.hlog`; `None` keeps totals only.
    pub dir: Option<PathBuf>,
    /// Names for the rows.
    pub names: RunNames,
    /// The labels, shared with the engine.
    pub labels: Labels,
    /// The run's start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// The main log (`-l`): takes every sample.
    pub main: Option<CsvOutput>,
    /// The listeners' files.
    pub listeners: Vec<CsvOutput>,
    /// Sets of indices into `listeners`, by [`crate::Sample::listeners`]; the first is the empty set.
    pub listener_sets: Vec<Vec<usize>>,
    /// How many [`BatchWriter`]s: one per core.
    pub writers: usize,
    /// Size of a batch.
    pub batch_bytes: usize,
    /// Batches of each writer.
    pub batches: usize,
    /// Who follows the run second by second. They are told on the recorder's thread and never hold it up; the recorder
    /// drops them when it ends.
    pub observers: Vec<SnapshotSender>,
    /// What response times count for the Application Performance Index.
    pub apdex: ApdexLimits,
    /// Ends the waiting for readers of result files that are pipes.
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
