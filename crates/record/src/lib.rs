//! What a run writes down: samples, labels, JTL, histograms and the run directory.
//!
//! The engine calls [`BatchWriter::record`] once per sample; a thread of the [`Recorder`]'s own adds up, writes the
//! full-fidelity `samples.bhs`, the histogram log and JMeter's CSV files.

mod batch;
mod book;
mod config;
mod csv_row;
mod date_format;
mod histogram_log;
mod labels;
mod live;
mod manifest;
mod output_file;
mod outputs;
mod recorder;
mod replay;
mod run_dir;
mod sample;
mod samples_file;
mod totals;
mod writer;

pub use batch::{BatchReader, CorruptBatch};
pub use config::{SaveConfig, SaveConfigError, TimestampFormat};
pub use labels::Labels;
pub use live::{IntervalCounts, Live, SecondPoint, SecondTimes};
pub use manifest::{
    CoreFacts, GeneratorFacts, MANIFEST_VERSION, Machine, Manifest, Outcome, PlanFile, PlanNote, RunEnd,
    plan_hash,
};
pub use recorder::{
    CsvOutput, GroupName, RecordError, Recorder, RecorderConfig, RecorderEvent, RunNames, Which,
};
pub use replay::Replay;
pub use run_dir::{RunDir, RunDirError};
pub use sample::{DataType, LabelId, Nanos, Sample, SampleFlags};
pub use samples_file::{FileNames, SAMPLES_VERSION, SamplesEnd, SamplesError, SamplesReader};
pub use totals::{
    Clock, ERROR_KINDS_MAX, ElapsedMs, ErrorKind, HISTOGRAM_DIGITS, LabelTotals, RunTotals, SampleKind,
    Totals,
};
pub use writer::{BatchWriter, Full};
