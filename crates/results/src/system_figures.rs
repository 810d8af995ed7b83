//! Computes the key figures of the system under test from the series file of a run. Needs one pass, and memory
//! proportional to the number of series.

mod figures;
mod gc_logs;
mod metrics;
mod subjects;
mod tally;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_analysis::system::SystemFigures;
use busyhour_record::{Manifest, RunDir};
use busyhour_series::{ProgramNames, SERIES_FILE_NAME, SeriesFileError, SeriesReader};

use self::figures::Requests;
use self::subjects::Subjects;
use self::tally::Part;
use crate::system_record::source_list;

/// The part of a run for which figures are computed.
#[derive(Clone, Copy)]
pub struct SystemWindow<'w> {
    /// Start in seconds from the start of the run.
    pub from_s: f64,
    /// End in seconds from the start of the run.
    pub to_s: f64,
    /// Requests that were completed between two times, in seconds from the start of the run.
    pub requests_between: &'w dyn Fn(f64, f64) -> f64,
}

impl std::fmt::Debug for SystemWindow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemWindow")
            .field("from_s", &self.from_s)
            .field("to_s", &self.to_s)
            .finish_non_exhaustive()
    }
}

/// The series file of a run; `None` if the run was not observed. A run that was killed may lack the entry in its manifest.
#[must_use]
pub fn series_path(dir: &RunDir, manifest: Option<&Manifest>) -> Option<PathBuf> {
    let part = manifest.and_then(|manifest| manifest.part("series"));
    let path = dir.path().join(part.map_or(SERIES_FILE_NAME, |part| part.file.as_str()));
    path.is_file().then_some(path)
}

/// Adds the figures of the system under test to the summary of a run, for the part that the summary measures. If the
/// series file cannot be read, the figures contain the reason.
pub(crate) fn add_system(dir: &RunDir, manifest: Option<&Manifest>, summary: &mut Summary) {
    let Some(path) = series_path(dir, manifest) else { return };
    let (from_s, to_s) = match (summary.total.samples, summary.run.duration_s) {
        (0, Some(duration_s)) => (0.0, duration_s),
        _ => summary.measured_s(),
    };
    let requests_between = |from_s, to_s| summary.series.requests_between(from_s, to_s);
    let window = SystemWindow { from_s, to_s, requests_between: &requests_between };
    summary.system = Some(run_system_figures(dir, &path, window));
}

/// The figures of a run, with the names of programs from its list of sources.
pub(crate) fn run_system_figures(dir: &RunDir, path: &Path, window: SystemWindow<'_>) -> SystemFigures {
    read_named(path, window, source_list::programs(&source_list::read(dir.path()).unwrap_or_default()))
}

/// The figures of a series file. If it cannot be read to its end, [`SystemFigures::incomplete`] states the reason.
#[must_use]
pub fn read_system_figures(path: &Path, window: SystemWindow<'_>) -> SystemFigures {
    read_named(path, window, ProgramNames::default())
}

fn read_named(path: &Path, window: SystemWindow<'_>, programs: ProgramNames) -> SystemFigures {
    match File::open(path) {
        Ok(file) => named_figures(BufReader::with_capacity(1 << 16, file), window, programs),
        Err(error) => without_subjects(window, format!("cannot open {}: {error}", path.display())),
    }
}

fn without_subjects(window: SystemWindow<'_>, reason: String) -> SystemFigures {
    let requests = (window.requests_between)(window.from_s, window.to_s).round() as u64;
    SystemFigures {
        from_s: window.from_s,
        to_s: window.to_s,
        requests,
        subjects: Vec::new(),
        incomplete: Some(reason),
    }
}

/// The figures of a series file that is read from `input`, as by [`read_system_figures`].
pub fn system_figures(input: impl Read, window: SystemWindow<'_>) -> SystemFigures {
    named_figures(input, window, ProgramNames::default())
}

fn named_figures(input: impl Read, window: SystemWindow<'_>, programs: ProgramNames) -> SystemFigures {
    let ns = |seconds: f64| (seconds.max(0.0) * 1e9).round() as u64;
    let mut subjects = Subjects::new(Part { from: ns(window.from_s), to: ns(window.to_s) }, programs);
    let result = SeriesReader::new(input).and_then(|mut reader| {
        while let Some(event) = reader.next_event()? {
            subjects.add(event);
        }
        Ok(reader.damaged_end())
    });
    let incomplete = match result {
        Ok(None) => None,
        Ok(Some(end)) => Some(format!("the series file is damaged from byte {}", end.at)),
        Err(error) => Some(describe(&error)),
    };
    let requests = Requests::new(window.requests_between);
    SystemFigures {
        from_s: window.from_s,
        to_s: window.to_s,
        requests: requests.between(window.from_s, window.to_s).round() as u64,
        subjects: figures::figures(&subjects, &requests),
        incomplete,
    }
}

/// An error with its cause in one line.
fn describe(error: &SeriesFileError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
