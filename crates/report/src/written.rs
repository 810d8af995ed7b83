//! Writes the reports of a run into its directory.

use std::path::PathBuf;

use busyhour_analysis::Summary;
use busyhour_record::{RunDir, RunDirError};
use busyhour_results::SystemRecord;

use crate::claims::summary_json;
use crate::page::html_report_with_system;

/// Writes `summary.json` and `report.html` into `dir` and returns their paths. If the directory contains observations
/// of the system, the page contains them, too.
///
/// # Errors
/// If a file cannot be written.
pub fn write_reports(dir: &RunDir, summary: &Summary) -> Result<[PathBuf; 2], RunDirError> {
    let (json, html) = (dir.summary_path(), dir.report_path());
    RunDir::write_whole(&json, summary_json(summary).as_bytes())?;
    let system = SystemRecord::of_summary(dir, summary);
    RunDir::write_whole(&html, html_report_with_system(summary, system.as_ref()).as_bytes())?;
    Ok([json, html])
}
