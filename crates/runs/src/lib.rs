//! Reads run directories and result files and measures what is in them. It renders nothing: `busyhour-report` does.
//!
//! | function | reads | returns |
//! |---|---|---|
//! | [`summarise_results`], [`judge_results`], [`summarise`], [`summarise_jtl`] | files, streams, a run directory | a [`Summary`] |
//! | [`judge_arrivals`], [`add_arrivals`] | the record of a run | verdicts on its arrivals |
//! | [`judge_record`] | the record of a run | the results of its thresholds |
//! | [`measure_run`] | the results of a run | a run that comparisons and trends can use |
//! | [`measure_loads`] | the results of a run | the points of a capacity model |
//! | [`LogTally`] | the rows of a log | arrival statistics and a verdict |
//!
//! [`Summary`]: busyhour_analysis::Summary

mod error;
mod law_parts;
mod load_points;
mod load_precision;
mod log_arrivals;
mod measure_run;
mod run_arrivals;
mod start_order;
mod summarise;
mod thresholds;

pub use error::{ReadRunError, run_dir_hint};
pub use load_points::{MeasuredLoad, measure_loads};
pub use log_arrivals::{LogLoad, LogReport, LogTally};
pub use measure_run::{MeasureRunError, RunReading, measure_run};
pub use run_arrivals::{RunLoad, add_arrivals, judge_arrivals};
pub use summarise::{
    ResultsOptions, ResultsPart, judge_results, record_reading, summarise, summarise_jtl, summarise_results,
};
pub use thresholds::{judge_record, run_measures};
