//! From a run directory or a result file to a summary, and from a summary to files.

use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::{Criterion, Meaning};
use busyhour_record::{
    LogError, Manifest, RecordReading, ResultsError, ResultsInput, RunDir, RunDirError, SamplesError,
};

use crate::page::html_report;
use crate::results::{ResultsOptions, summarise_results};
use crate::run_arrivals::{RunLoad, judge_arrivals};
use crate::thresholds::judge_record;

/// A report cannot be made.
#[derive(Debug)]
pub enum ReportError {
    /// The run directory cannot be used.
    RunDir(RunDirError),
    /// The directory for a dashboard holds something already.
    NotEmpty(PathBuf),
    /// The record of samples cannot be read.
    Samples(SamplesError),
    /// The record of samples cannot be put in order.
    Log(LogError),
    /// Results cannot be read.
    Results(ResultsError),
    /// They would have to be read a second time, and are a stream.
    Stream,
}

impl ReportError {
    /// What to do about it; empty when nothing is to be advised.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            ReportError::Log(error) => error.hint(),
            ReportError::Results(error) => error.source.hint(),
            ReportError::RunDir(error) => run_dir_hint(error),
            _ => "",
        }
    }
}

/// What to do about a run directory that cannot be used; empty when nothing is to be advised.
#[must_use]
pub fn run_dir_hint(error: &RunDirError) -> &'static str {
    match error {
        RunDirError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            "a run directory holds run.json and samples.bhs: was it copied whole? Result files (.jtl, .csv, .xml) are read by \
             themselves: name the file"
        }
        RunDirError::Manifest { .. } => {
            "what of the run can be read without its manifest is its result file: name its samples.jtl"
        }
        _ => "",
    }
}

impl std::fmt::Display for ReportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReportError::RunDir(error) => error.fmt(f),
            ReportError::NotEmpty(path) => {
                write!(f, "cannot write a report into {}: the folder is not empty", path.display())
            }
            ReportError::Samples(_) | ReportError::Log(_) => {
                f.write_str("cannot read the run's record")
            }
            ReportError::Results(error) => write!(f, "cannot read {}", error.name),
            ReportError::Stream => f.write_str(
                "what comes from standard input can be read once, and would have to be read again for this part of it: write \
                 it to a file first",
            ),
        }
    }
}

impl std::error::Error for ReportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReportError::RunDir(error) => std::error::Error::source(error),
            ReportError::NotEmpty(_) | ReportError::Stream => None,
            ReportError::Samples(error) => Some(error),
            ReportError::Log(error) => Some(error),
            ReportError::Results(error) => Some(&error.source),
        }
    }
}

impl From<RunDirError> for ReportError {
    fn from(error: RunDirError) -> ReportError {
        ReportError::RunDir(error)
    }
}

impl From<ResultsError> for ReportError {
    fn from(error: ResultsError) -> ReportError {
        ReportError::Results(error)
    }
}

/// The summary of the run in `dir`, made again from its manifest and its record of samples; the thresholds it was judged
/// by are judged again.
///
/// # Errors
/// One of the two cannot be read.
pub fn summarise(dir: &RunDir) -> Result<Summary, ReportError> {
    summarise_results(vec![ResultsInput::path(dir.path())], &ResultsOptions::default(), &mut |_, _| {})
}

/// Judges the run in `dir` by the thresholds of its manifest again.
pub(crate) fn add_thresholds(
    dir: &RunDir,
    manifest: &Manifest,
    summary: &mut Summary,
) -> Result<(), ReportError> {
    // A criterion of a later version that cannot be read is left out.
    let read = |text: &String| Criterion::parse(text, Meaning::Require).ok();
    let criteria: Vec<_> = manifest.thresholds.iter().filter_map(read).collect();
    if !criteria.is_empty() {
        let inputs = [ResultsInput::path(dir.path())];
        summary.thresholds = judge_record(&inputs, &RecordReading::default(), summary, criteria)?;
    }
    Ok(())
}

/// Judges the arrivals of the run in `dir` and adds the verdicts, and their doubts, to its summary.
///
/// # Errors
/// The record cannot be read.
pub fn add_arrivals(dir: &RunDir, summary: &mut Summary) -> Result<(), ReportError> {
    let service = &summary.total.service;
    let load = RunLoad {
        facts: &summary.run,
        users_max: summary.users_max,
        service_mean_s: (summary.total.samples > 0).then_some(service.mean / 1e3),
    };
    let verdicts = judge_arrivals(dir, &load)?;
    summary.add_arrivals(verdicts);
    Ok(())
}

/// The summary of a result file that JMeter wrote, as it is read without options.
///
/// # Errors
/// It cannot be read, or is neither CSV nor XML of JMeter's.
pub fn summarise_jtl(path: &Path) -> Result<Summary, ReportError> {
    summarise_results(vec![ResultsInput::path(path)], &ResultsOptions::default(), &mut |_, _| {})
}

/// Writes `summary.json` and `report.html` into `dir`; gives their paths.
///
/// # Errors
/// The system's.
pub fn write_reports(dir: &RunDir, summary: &Summary) -> Result<[PathBuf; 2], ReportError> {
    let (json, html) = (dir.summary_path(), dir.report_path());
    RunDir::write_whole(&json, summary.to_json().as_bytes())?;
    RunDir::write_whole(&html, html_report(summary).as_bytes())?;
    Ok([json, html])
}
