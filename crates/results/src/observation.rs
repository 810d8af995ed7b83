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
    let window = SystemWindow { from_s: 0.0, to_s: record.last_s, requests_between: &|_, _| 0.0 };
    let facts = RunFacts { source: dir.display().to_string(), ..RunFacts::default() };
    let mut summary = Summary::new(facts, &RunTotals::empty());
    summary.system = Some(run_system_figures(&run, &dir.join(SERIES_FILE_NAME), window));
    add_neighbours(dir, &mut summary);
    Some(SystemObservation { record, summary })
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::system::{FigureKind, SubjectKind};
    use busyhour_sample::Nanos;
    use busyhour_series::{FileStart, Metric, SeriesEncoder};

    use super::*;

    #[test]
    fn the_observed_part_ends_with_the_last_value() {
        let (mut encoder, mut bytes) = (SeriesEncoder::default(), Vec::new());
        encoder.start(&mut bytes, &FileStart::default());
        let source = encoder.source(&mut bytes, "process:7");
        let cpu = encoder.series(&mut bytes, source, &Metric::counter("process_cpu_seconds_total", ""), &[]);
        for at_ms in [50, 1_050, 2_050] {
            encoder.values(&mut bytes, &[(Nanos(at_ms * 1_000_000), cpu, at_ms as f64 / 1e3)]);
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(SERIES_FILE_NAME), &bytes).unwrap();
        let system = read_observation(dir.path()).unwrap().summary.system.unwrap();
        assert_eq!((system.from_s, system.to_s), (0.0, 2.05));
        let process = system.of_kind(SubjectKind::Process).next().unwrap();
        assert_eq!(process.value(FigureKind::CpuSeconds), Some(2.0));
    }
}
