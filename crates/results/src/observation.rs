//! Reads an observation without a run: a directory of `busyhour observe`.

use std::path::Path;

use busyhour_analysis::{RunFacts, Summary};
use busyhour_record::RunDir;
use busyhour_sample::RunTotals;
use busyhour_series::SERIES_FILE_NAME;

use crate::neighbours::add_neighbours;
use crate::system_figures::{SystemWindow, run_system_figures};
use crate::system_record::SystemRecord;

/// An observation without a run.
#[derive(Debug)]
pub struct SystemObservation {
    /// The time axis, panels, marks and sources.
    pub record: SystemRecord,
    /// A summary without requests, which has the figures of the system.
    pub summary: Summary,
}

/// Whether a directory was written by an observation without a run.
#[must_use]
pub fn is_observation(dir: &Path) -> bool {
    let run = RunDir::open(dir);
    dir.join(SERIES_FILE_NAME).is_file() && !run.samples_path().exists() && !run.manifest_path().exists()
}

/// Reads an observation without a run; `None` if the directory contains no series file. Damage of files is described in
/// the record.
#[must_use]
pub fn read_observation(dir: &Path) -> Option<SystemObservation> {
    let run = RunDir::open(dir);
    let record = SystemRecord::read(&run, None)?;
    let to_s = record.axis.from_s + record.axis.step_s * record.axis.count as f64;
    let window = SystemWindow { from_s: 0.0, to_s, requests_between: &|_, _| 0.0 };
    let facts = RunFacts { source: dir.display().to_string(), ..RunFacts::default() };
    let mut summary = Summary::new(facts, &RunTotals::empty());
    summary.system = Some(run_system_figures(&run, &dir.join(SERIES_FILE_NAME), window));
    add_neighbours(dir, &mut summary);
    Some(SystemObservation { record, summary })
}
