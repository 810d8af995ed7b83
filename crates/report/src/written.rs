//! Writes the reports of a run into its directory.

use std::path::PathBuf;

use busyhour_analysis::Summary;
use busyhour_record::{RunDir, RunDirError};

use crate::page::html_report;

/// Writes `summary.json` and `report.html` into `dir` and returns their paths.
///
/// # Errors
/// If a file cannot be written.
pub fn write_reports(dir: &RunDir, summary: &Summary) -> Result<[PathBuf; 2], RunDirError> {
    let (json, html) = (dir.summary_path(), dir.report_path());
    RunDir::write_whole(&json, summary.to_json().as_bytes())?;
    RunDir::write_whole(&html, html_report(summary).as_bytes())?;
    Ok([json, html])
}
