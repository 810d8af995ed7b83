//! Judges the thresholds of a run from its record.

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::{Criterion, Judge, Meaning, RunMeasures, ThresholdResult};
use busyhour_record::{Manifest, RunDir};

use crate::{RecordReading, ResultsError, ResultsInput, read_snapshots};

/// Judges the run of `inputs` (a run directory, or result files), or the part of it that `reading` names, by `criteria`;
/// `summary` is of the same part.
///
/// # Errors
/// Its record cannot be read.
pub fn judge_record(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    summary: &Summary,
    criteria: Vec<Criterion>,
) -> Result<Vec<ThresholdResult>, ResultsError> {
    let stopper = criteria.iter().position(|criterion| summary.run.stopped_by == Some(criterion.portable()));
    let mut judge = Judge::new(criteria);
    read_snapshots(inputs, reading, |snapshot| {
        // The run is over: nothing can be stopped any more.
        let _ = judge.second(&snapshot);
    })?;
    let mut results = judge.finish(&run_measures(summary));
    for (at, result) in results.iter_mut().enumerate() {
        result.stopped_run = stopper == Some(at);
    }
    Ok(results)
}

/// The values of a summary that criteria refer to.
#[must_use]
pub fn run_measures(summary: &Summary) -> RunMeasures {
    // The verdict on all arrivals together; groups have their own.
    let verdict = summary.arrivals.iter().find(|verdict| verdict.of.is_none()).or(summary.arrivals.first());
    RunMeasures {
        span_s: (summary.total.samples > 0).then_some(summary.span_s),
        // Where gaps are too short for the clock of the stamps, their CoV is the clock's.
        arrivals_cov: verdict
            .filter(|verdict| !verdict.observed.is_too_coarse())
            .and_then(|verdict| verdict.observed.cov.as_ref())
            .map(|cov| cov.value),
    }
}

/// Judges the run in `dir` again by the thresholds of its manifest.
pub(crate) fn judge_manifest(
    dir: &RunDir,
    manifest: &Manifest,
    summary: &Summary,
) -> Result<Vec<ThresholdResult>, ResultsError> {
    // A criterion of a later version that cannot be read is left out.
    let read = |text: &String| Criterion::parse(text, Meaning::Require).ok();
    let criteria: Vec<_> = manifest.thresholds.iter().filter_map(read).collect();
    if criteria.is_empty() {
        return Ok(Vec::new());
    }
    judge_record(&[ResultsInput::path(dir.path())], &RecordReading::default(), summary, criteria)
}
