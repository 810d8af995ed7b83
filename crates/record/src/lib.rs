//! Records the samples of a run and reads them back: JTL files, the record, histograms and the run directory.
//!
//! The engine calls [`BatchWriter::record`] once per sample. The thread of the [`Recorder`] computes the totals and
//! writes the record `samples.bhs`, the histogram log and JMeter's result files. [`RunDir::replay`] computes the totals
//! of a record again; [`Results`] computes them from one or several files of JMeter or Busyhour.
//!
//! ```
//! use busyhour_record::{
//!     ResultFileConfig, GroupName, Labels, Machine, Manifest, Nanos, Outcome, PlanFile, Recorder, RecorderConfig, RunDir,
//!     RunNames, Sample, SampleFilter, SampleTimes, SaveConfig, plan_hash,
//! };
//!
//! # let temp = tempfile::tempdir()?;
//! # let (path, plan) = (temp.path().join("run"), b"<jmeterTestPlan/>");
//! let dir = RunDir::create(path)?;
//! let mut manifest = Manifest {
//!     version: busyhour_record::MANIFEST_VERSION,
//!     busyhour: "0.1.0".into(),
//!     plan: PlanFile { path: "plan.jmx".into(), name: "Test Plan".into(), sha256: plan_hash(plan), url: None },
//!     seed: 1,
//!     share: None,
//!     command_line: vec!["busyhour".into(), "run".into(), "plan.jmx".into()],
//!     properties: Default::default(),
//!     machine: Machine::this("host"),
//!     wall_anchor_ms: 1_700_000_000_000,
//!     notes: Vec::new(),
//!     rate_timers: Vec::new(),
//!     request_deadline: None,
//!     results_file: None,
//!     thresholds: Vec::new(),
//!     events: Vec::new(),
//!     outcome: None,
//! };
//! dir.write_manifest(&manifest)?;
//! std::fs::write(dir.plan_path(), plan)?;
//!
//! let labels = Labels::new();
//! let (recorder, writers) = Recorder::start(RecorderConfig {
//!     dir: Some(dir.path().to_owned()),
//!     names: RunNames { groups: vec![GroupName { name: "Users".into(), number: 1 }], ..RunNames::default() },
//!     labels: labels.clone(),
//!     wall_anchor_ms: manifest.wall_anchor_ms,
//!     main: Some(ResultFileConfig { path: dir.jtl_path(), config: SaveConfig::default(), filter: SampleFilter::All }),
//!     ..RecorderConfig::default()
//! })?;
//! for mut core in writers {
//!     let times = SampleTimes { end: Nanos::from_millis(3), ..SampleTimes::default() };
//!     let sample = Sample { label: labels.intern("home"), times, ..Sample::default() };
//!     core.record(&sample)?;
//! }
//! let totals = recorder.finish();
//! manifest.outcome = Some(Outcome { recorder_events: totals.events.clone(), ..Outcome::default() });
//! dir.write_manifest(&manifest)?;
//! assert_eq!(dir.replay()?.totals.total.samples, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregator;
mod apdex_limits;
mod arrival;
mod bands;
mod batch;
mod columns;
mod config;
mod control_event;
mod core_clocks;
mod csv_row;
mod date_format;
mod detail;
mod encoding;
mod error_kinds;
mod group_totals;
mod histogram_log;
mod jtl_cells;
mod jtl_scan;
mod label_rows;
mod labels;
mod live;
mod live_arrivals;
mod manifest;
mod output_file;
mod output_target;
mod outputs;
mod over_time;
mod pipe;
mod recorder;
mod recorder_config;
mod recorder_event;
mod replay;
mod replay_run;
mod results;
mod run_dir;
mod run_names;
mod run_totals;
mod sample;
mod samples_file;
mod second_point;
mod seconds;
mod slowest;
mod snapshot;
mod starts;
mod time_distribution;
mod time_histogram;
mod totals;
mod user_counts;
mod writer;
mod xml;

pub use apdex_limits::{ApdexLimits, ApdexPropertyError};
pub use arrival::{ArrivalCounts, ArrivalOutcome, ArrivalRecord};
pub use batch::{BatchReader, CorruptBatch};
pub use columns::ColumnsFile;
pub use config::{SaveConfig, SaveConfigError, TimestampFormat};
pub use control_event::{ChangedFrom, ControlEvent, LoadChange};
pub use detail::{AssertionResult, Detail, HttpDetail};
pub use error_kinds::{ERROR_KINDS_MAX, ErrorKind};
pub use group_totals::{GroupTotals, OTHER_GROUPS};
pub use jtl_scan::{
    BadRow, HELD_ROWS_MAX, Log, LogError, LogFacts, LogForm, LogLabels, LogRow, OutOfOrder, RowPlace,
};
pub use labels::{LABELS_MAX, Labels, OTHER_LABELS};
pub use live::{IntervalCounts, Live};
pub use live_arrivals::LiveArrivals;
pub use manifest::{
    AbandonedCore, CoreFacts, GeneratorFacts, MANIFEST_VERSION, Machine, Manifest, OpenFacts, Outcome,
    PlanFile, PlanNote, RequestDeadline, RunEnd, Stall, UrlPlanFacts, plan_hash,
};
pub use over_time::{HEAT_BANDS_PER_DECADE, Heat, LabelSeries, LabelSlice, LabelSlices, SlicePoint};
pub use pipe::PipeRelease;
pub use recorder::{LiveReader, Recorder};
pub use recorder_config::{RecorderConfig, ResultFileConfig, SampleFilter};
pub use recorder_event::{RecordError, RecorderEvent};
pub use replay::Replay;
pub use results::{
    AddUpSettings, BAD_ROWS_NAMED, InputFacts, Packing, ReadSettings, Results, ResultsEnd, ResultsError,
    ResultsFrom, ResultsInput, SampleObserver, add_up_inputs,
};
pub use run_dir::{RunDir, RunDirError};
pub use run_names::{GroupName, RunNames};
pub use run_totals::RunTotals;
pub use sample::{ActiveUsers, DataType, LabelId, Nanos, Sample, SampleFlags, SampleKind, SampleTimes};
pub use samples_file::{FileNames, SAMPLES_VERSION, SamplesEnd, SamplesError, SamplesReader};
pub use second_point::{SecondPoint, SecondTimes};
pub use slowest::{SLOWEST_MAX, SlowRequest};
pub use snapshot::{
    CODES_MAX, CodeCount, FailureCount, OTHER_CODES, OutcomeTimes, RecordReading, RunOver, SecondArrivals,
    SecondUsers, Snapshot, SnapshotReceiver, SnapshotRow, SnapshotSender, SnapshotSource, TimeCounts,
    read_snapshots, run_start_ms, snapshot_channel,
};
pub use starts::SecondCounts;
pub use time_distribution::{ElapsedMs, TimeDistribution};
pub use time_histogram::{HISTOGRAM_DIGITS, TimeHistogram};
pub use totals::{LabelTotals, OutsideWindow, Totals};
pub use user_counts::{UserChange, UsersOverTime};
pub use writer::{BatchWriter, Full};
