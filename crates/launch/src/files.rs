//! Files of a run: checks before it starts, and permissions.

use std::path::Path;

use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;

use crate::error::LaunchError;
use crate::request::ExistingResults;

/// Restricts plans, logs and results to their owner, because they may contain secrets; returns a warning if that fails.
pub(crate) fn make_private(dir: &RunDir) -> Option<String> {
    let error = dir.make_files_private().err()?;
    Some(format!("other users may be able to read the run directory: {}", chain(&error)))
}

/// Deletes a results file that is not empty, or returns an error, as requested.
pub(crate) fn check_results_file(path: &Path, existing: ExistingResults) -> Result<(), LaunchError> {
    let length = std::fs::metadata(path).map_or(0, |file| file.len());
    match existing {
        _ if length == 0 => Ok(()),
        ExistingResults::Append => Ok(()),
        ExistingResults::Refuse => Err(LaunchError::ResultsNotEmpty(path.to_owned())),
        ExistingResults::Overwrite => std::fs::remove_file(path).map_err(|source| LaunchError::File {
            action: "delete",
            path: path.to_owned(),
            source,
        }),
    }
}
