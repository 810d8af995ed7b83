//! Judges the thresholds of a run from its samples file or result files.

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::{Criterion, Judge, Meaning, RunMeasures, ThresholdResult};
use busyhour_record::{Manifest, RunDir};

use crate::{RecordReading, ResultsError, ResultsInput, read_snapshots};

/// Judges `criteria` for the run of `inputs` (a run directory or result files), or for the part of it that `reading` selects.
/// `summary` must cover the same part.
///
/// # Errors
/// The inputs cannot be read.
pub fn judge_record(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    summary: &Summary,
    criteria: Vec<Criterion>,
) -> Result<Vec<ThresholdResult>, ResultsError> {
    let stopper = criteria.iter().position(|criterion| summary.run.stopped_by == Some(criterion.portable()));
    let mut judge = Judge::new(criteria);
    read_snapshots(inputs, reading, |snapshot| {
        // The run is over, so a request to stop it is ignored.
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
    // Uses the verdict on all arrivals together, because groups have their own verdicts.
    let verdict = summary.arrivals.iter().find(|verdict| verdict.of.is_none()).or(summary.arrivals.first());
    RunMeasures {
        span_s: (summary.total.samples > 0).then_some(summary.span_s),
        // If gaps are too short for the resolution of the time stamps, the CoV is an effect of rounding and is not used.
        arrivals_cov: verdict
            .filter(|verdict| !verdict.observed.is_too_coarse())
            .and_then(|verdict| verdict.observed.cov.as_ref())
            .map(|cov| cov.value),
    }
}

/// Judges the thresholds in the manifest of the run in `dir` again.
pub(crate) fn judge_manifest(
    dir: &RunDir,
    manifest: &Manifest,
    summary: &Summary,
) -> Result<Vec<ThresholdResult>, ResultsError> {
    // Criteria of later versions that cannot be parsed are ignored.
    let read = |text: &String| Criterion::parse(text, Meaning::Require).ok();
    let criteria: Vec<_> = manifest.thresholds.iter().filter_map(read).collect();
    if criteria.is_empty() {
        return Ok(Vec::new());
    }
    judge_record(&[ResultsInput::path(dir.path())], &RecordReading::default(), summary, criteria)
}
