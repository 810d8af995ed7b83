//! Records the samples of a run: writes JTL files, `samples.bhs`, histograms and the run directory.
//!
//! The engine calls [`BatchWriter::record`](busyhour_sample::BatchWriter::record) once per sample. The thread of the
//! [`Recorder`] computes the totals and writes the file `samples.bhs`, the histogram log and JMeter's result files.
//! [`SamplesReader`] reads `samples.bhs`; the crate `busyhour-results` computes totals from it and from JMeter's files.
//!
//! ```
//! use busyhour_record::{ResultFileConfig, Machine, Manifest, RunOutcome, PlanFile, Recorder, RecorderConfig, RunDir, SampleFilter, SaveConfig, plan_hash};
//! use busyhour_sample::{GroupName, Labels, Nanos, RunNames, Sample, SampleTimes};
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
//!     parts: Vec::new(),
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
//! manifest.outcome = Some(RunOutcome { recorder_events: totals.events.clone(), ..RunOutcome::default() });
//! dir.write_manifest(&manifest)?;
//! assert_eq!(totals.total.samples, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod config;
mod core_clocks;
mod csv_row;
mod date_format;
mod encoding;
mod error;
mod histogram_log;
mod jtl_columns;
mod live_figures;
mod manifest;
mod output_file;
mod output_target;
mod outputs;
mod part;
mod pipe;
mod recorder;
mod recorder_config;
mod run_dir;
mod samples_file;
mod value_file;
mod xml;

pub use busyhour_sample::SAMPLES_VERSION;
pub use columns::CustomColumns;
pub use config::{SaveConfig, SaveConfigError, TimestampFormat};
pub use error::RecordError;
pub use jtl_columns::{JtlColumn, JtlColumns, ValueRow};
pub use live_figures::LiveFigures;
pub use manifest::{
    MANIFEST_VERSION, Machine, Manifest, OpenFacts, PlanFile, PlanNote, RequestDeadline, RunOutcome,
    UrlPlanFacts, plan_hash,
};
pub use part::RunPart;
pub use pipe::PipeRelease;
pub use recorder::Recorder;
pub use recorder_config::{RecorderConfig, ResultFileConfig, SampleFilter};
pub use run_dir::{RunDir, RunDirError};
pub use samples_file::{FileNames, SAMPLES_MAGIC, SamplesEnd, SamplesError, SamplesReader};
pub use value_file::ValueFile;
