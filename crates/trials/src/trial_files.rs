//! The files of a trial.

use std::path::{Path, PathBuf};

use busyhour_experiment::TrialId;

/// The log of the system under test, and of all commands, in the directory of a trial.
pub(crate) const SYSTEM_LOG: &str = "system.log";

/// The directory of a trial.
pub(crate) fn trial_dir(dir: &Path, trial: TrialId) -> PathBuf {
    dir.join("trials").join(trial.to_string())
}
