//! From a run directory or a result file to a summary, and from a summary to files.

use std::path::{Path, PathBuf};

use busyhour_analysis::thresholds::{Criterion, Meaning};
use busyhour_analysis::{RunFacts, Summary};
use busyhour_record::{LogError, Replay, RunDir, RunDirError, SamplesError, SnapshotError};

use crate::page::html_report;
use crate::run_arrivals::{RunLoad, judge_arrivals};
use crate::statistics::statistics_json;
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
    /// The seconds of the run cannot be read.
    Seconds(SnapshotError),
    /// The record of samples cannot be put in order.
    Log(LogError),
    /// The result file cannot be read.
    Jtl {
        /// Which.
        path: PathBuf,
        /// Why.
        source: busyhour_record::JtlError,
    },
}

impl std::fmt::Display for ReportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReportError::RunDir(error) => error.fmt(f),
            ReportError::NotEmpty(path) => {
                write!(f, "cannot write a report into {}: the folder is not empty", path.display())
            }
            ReportError::Samples(_) | ReportError::Seconds(_) | ReportError::Log(_) => {
                f.write_str("cannot read the run's record")
            }
            ReportError::Jtl { path, .. } => write!(f, "cannot read {}", path.display()),
        }
    }
}

impl std::error::Error for ReportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReportError::RunDir(error) => std::error::Error::source(error),
            ReportError::NotEmpty(_) => None,
            ReportError::Samples(error) => Some(error),
            ReportError::Seconds(error) => Some(error),
            ReportError::Log(error) => Some(error),
            ReportError::Jtl { source, .. } => Some(source),
        }
    }
}

impl From<RunDirError> for ReportError {
    fn from(error: RunDirError) -> ReportError {
        ReportError::RunDir(error)
    }
}

/// The summary of the run in `dir`, made again from its manifest and its record of samples; the thresholds it was judged
/// by are judged again.
///
/// # Errors
/// One of the two cannot be read.
pub fn summarise(dir: &RunDir) -> Result<Summary, ReportError> {
    let manifest = dir.read_manifest()?;
    let mut facts = RunFacts::from_manifest(&manifest);
    let replay = dir.replay()?;
    facts.record_cut = replay.end.cut_at.is_some();
    let mut summary = Summary::new(facts, &replay.totals);
    add_arrivals(dir, &mut summary)?;
    // A criterion of a later version that cannot be read is left out.
    let read = |text: &String| Criterion::parse(text, Meaning::Require).ok();
    let criteria: Vec<_> = manifest.thresholds.iter().filter_map(read).collect();
    if !criteria.is_empty() {
        summary.thresholds = judge_record(dir.path(), &summary, criteria).map_err(ReportError::Seconds)?;
    }
    Ok(summary)
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

/// The summary of a result file that JMeter wrote.
///
/// # Errors
/// It cannot be read, or is neither CSV with column names nor XML.
pub fn summarise_jtl(path: &Path) -> Result<Summary, ReportError> {
    let replay = Replay::of_jtl(path).map_err(|source| ReportError::Jtl { path: path.to_owned(), source })?;
    Ok(Summary::new(RunFacts::from_jtl(path.display().to_string(), &replay), &replay.totals))
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

/// Checks that a dashboard can be written into `dir` (JMeter's `-e -o DIR`): it must be missing, or empty as JMeter
/// wants it. To be called before the run, so that its end brings no surprise.
///
/// # Errors
/// The directory holds something, is no directory, or cannot be made.
pub fn prepare_dashboard(dir: &Path) -> Result<(), ReportError> {
    let io = |source| RunDirError::Io { path: dir.to_owned(), source };
    std::fs::create_dir_all(dir).map_err(io)?;
    match std::fs::read_dir(dir).map_err(io)?.next() {
        None => Ok(()),
        Some(_) => Err(ReportError::NotEmpty(dir.to_owned())),
    }
}

/// Writes JMeter's dashboard files into `dir`: `index.html` and `statistics.json`; gives their paths.
///
/// # Errors
/// The system's.
pub fn write_dashboard(dir: &Path, summary: &Summary) -> Result<[PathBuf; 2], ReportError> {
    let io = |source| RunDirError::Io { path: dir.to_owned(), source };
    std::fs::create_dir_all(dir).map_err(io)?;
    let (html, json) = (dir.join("index.html"), dir.join("statistics.json"));
    RunDir::write_whole(&html, html_report(summary).as_bytes())?;
    RunDir::write_whole(&json, statistics_json(summary).as_bytes())?;
    Ok([html, json])
}
