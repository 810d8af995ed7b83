//! Files of a run: checks before it starts, and permissions.

use std::path::Path;

use busyhour_record::RunDir;

use crate::exit::{Exit, say};
use crate::io_hints::{self, chain};
use crate::run::refusal::Refusal;
use crate::run_request::RunRequest;

/// Restricts plans, logs and results to their owner, because they may contain secrets.
pub(crate) fn make_private(dir: &RunDir) {
    if let Err(error) = dir.make_files_private() {
        say(&format!("warning: other users may be able to read the run directory: {}", chain(&error)));
    }
}

/// Removes the directory of an old report, as JMeter's `-f` does. Other directories are not removed.
pub(crate) fn remove_dashboard(dir: &Path) -> Result<(), Refusal> {
    if !dir.join("statistics.json").is_file() {
        return Ok(());
    }
    std::fs::remove_dir_all(dir).map_err(|error| {
        Refusal(
            Exit::Internal,
            format!("cannot remove the old report {}: {}", dir.display(), io_hints::with_hint(&error)),
        )
    })
}

/// Refuses to append to a results file when a report is requested; deletes the file with `-f`.
pub(crate) fn check_results_file(request: &RunRequest, path: &Path) -> Result<(), Refusal> {
    let length = std::fs::metadata(path).map_or(0, |file| file.len());
    if length == 0 {
        return Ok(());
    }
    if request.force {
        return std::fs::remove_file(path).map_err(|error| {
            Refusal(
                Exit::Internal,
                format!("cannot delete {}: {}", path.display(), io_hints::with_hint(&error)),
            )
        });
    }
    if request.dashboard.is_some() {
        let text = format!(
            "the results file {} is not empty, so the report would mix old and new samples; use -f to overwrite it",
            path.display()
        );
        return Err(Refusal(Exit::Usage, text));
    }
    Ok(())
}
