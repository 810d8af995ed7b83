//! Computes the totals of a run directory.

use std::io;

use busyhour_record::{RunDir, RunDirError, SamplesError};

use crate::jtl_scan::LogError;
use crate::replay::ReplayedRun;
use crate::results::{AggregateSettings, ReadSettings, ResultsInput, aggregate_inputs};

/// Computes the totals of the samples file in a run directory.
///
/// # Errors
/// The samples file cannot be read. A truncated file is not an error; see [`ReplayedRun::end`].
pub fn replay_run(dir: &RunDir) -> Result<ReplayedRun, RunDirError> {
    let (inputs, settings) = (vec![ResultsInput::path(dir.path())], AggregateSettings::default());
    let added = aggregate_inputs(inputs, &ReadSettings::default(), &settings, &mut |_| (), &mut |_| {});
    added.map(|(replay, ())| replay).map_err(|error| {
        let source = match error.source {
            LogError::Samples(source) => source,
            LogError::Io(source) => SamplesError::Io(source),
            other => SamplesError::Io(io::Error::other(other)),
        };
        RunDirError::Samples { path: dir.samples_path(), source }
    })
}
