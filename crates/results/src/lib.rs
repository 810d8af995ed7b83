//! Reads run directories and result files and computes figures from them. Rendering is done by `busyhour-report`.
//!
//! [`Results`] reads any result file or run directory as one stream of samples, and computes totals with the aggregators of the
//! recorder. [`Log`] reads only the columns that arrival statistics need. [`read_snapshots`] computes the snapshots of a run.
//!
//! | function | reads | returns |
//! |---|---|---|
//! | [`summarise_results`], [`judge_results`], [`summarise`], [`summarise_jtl`] | files, streams, a run directory | a [`Summary`] |
//! | [`judge_arrivals`], [`add_arrivals`] | the samples file of a run | verdicts on its arrivals |
//! | [`judge_record`] | the samples file of a run | the results of its thresholds |
//! | [`add_observed`], [`read_system_figures`] | the series file of a run | the key figures of the system under test |
//! | [`add_observed`] | the samples file and the series file of a run | the observed cause of slow requests |
//! | [`add_server_log`] | the samples file of a run, access logs | which requests arrived at the server, and when |
//! | [`measure_run`] | the results of a run | a run that comparisons and trends can use |
//! | [`measure_loads`] | the results of a run | the points of a capacity model |
//! | [`SystemRecord::read`] | the series file of a run | the observations of the system, limited in size |
//! | [`read_percentiles`] | a file of another tool without samples | its percentiles |
//! | [`LogTally`] | the rows of a log | arrival statistics and a verdict |
//!
//! [`Summary`]: busyhour_analysis::Summary

mod agents;
mod error;
mod explanation;
mod imported;
mod input_facts;
mod jtl_cells;
mod jtl_scan;
mod law_parts;
mod load_points;
mod load_precision;
mod log_arrivals;
mod measure_run;
mod neighbours;
mod observation;
mod observed;
mod percentiles;
mod read_snapshots;
mod replay;
mod replay_run;
mod results;
mod run_arrivals;
mod run_facts;
mod server_log;
mod stacks;
mod start_order;
mod summarise;
mod system_figures;
mod system_record;
mod thresholds;
mod unpack;

pub use error::{ReadRunError, run_dir_hint};
pub use explanation::resource_utilizations;
pub use input_facts::{BAD_ROWS_LISTED_MAX, InputFacts};
pub use jtl_scan::{
    BadRow, HELD_ROWS_MAX, Log, LogError, LogFacts, LogForm, LogLabels, OutOfOrder, RowPlace,
};
pub use load_points::{MeasuredLoad, measure_loads};
pub use log_arrivals::{LogLoad, LogReport, LogTally};
pub use measure_run::{MeasureRunError, RunReading, measure_run};
pub use observation::{SystemObservation, is_observation, read_observation};
pub use observed::add_observed;
pub use percentiles::read_percentiles;
pub use read_snapshots::{RecordReading, SnapshotSource, read_snapshots, run_start_ms};
pub use replay::ReplayedRun;
pub use replay_run::replay_run;
pub use results::{
    AggregateSettings, ReadSettings, Results, ResultsEnd, ResultsError, ResultsFrom, ResultsInput,
    SampleObserver, aggregate_inputs,
};
pub use run_arrivals::{RunLoad, add_arrivals, judge_arrivals};
pub use run_facts::{facts_of_inputs, facts_of_results};
pub use server_log::{COMPARED_MAX, ServerLogError, ServerLogFiles, add_server_log};
pub use summarise::{
    ResultsOptions, ResultsPart, judge_results, record_reading, summarise, summarise_jtl, summarise_results,
};
pub use system_figures::{SystemWindow, read_system_figures, series_path, system_figures};
pub use system_record::{
    Aspect, LineFigures, LogRecord, LogTemplate, MarkCount, OmittedMetric, Panel, PanelLine, PanelName,
    ProcessRates, Resource, SourceOutcome, SourceRow, SystemMark, SystemRecord, TimeAxis, Unavailable, Unit,
};
pub use thresholds::{judge_record, run_measures};
pub use unpack::Packing;
