//! Errors of a search.

use busyhour_analysis::thresholds::CriterionError;
use busyhour_search::{ReportError, SettingsError};
use busyhour_trials::ExecuteError;

/// Why a search cannot be executed or read.
#[derive(Debug, thiserror::Error)]
pub enum LoadSearchError {
    /// The directory or its journal cannot be used.
    #[error(transparent)]
    Journal(#[from] ExecuteError),
    /// The directory has no search.
    #[error("{0} does not contain a search")]
    NoSearch(String),
    /// The directory belongs to another search.
    #[error("{dir} contains trials of another search: {differences} changed")]
    OtherSearch {
        /// The directory.
        dir: String,
        /// The settings that differ.
        differences: String,
    },
    /// The journal has another version.
    #[error(
        "the search in this directory was written by another version of Busyhour (journal version {version}), which chose its trials \
         and its answer by other rules; use another directory"
    )]
    OtherVersion {
        /// The version of the journal.
        version: u32,
    },
    /// The journal contains trials that the search did not request, for example because it was written by another version.
    #[error("trial {number} in the journal is not one that the search requested; use another directory")]
    OtherTrials {
        /// The number of the trial.
        number: u32,
    },
    /// A threshold is not valid.
    #[error(transparent)]
    Threshold(#[from] CriterionError),
    /// No search is possible with the settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The budget is spent by the light trials.
    #[error(
        "the budget of {budget_s:.0} s is too small: a trial of full length at the lowest load takes {full_s:.0} s"
    )]
    SmallBudget {
        /// The budget in seconds.
        budget_s: f64,
        /// The length of a trial in seconds.
        full_s: f64,
    },
    /// No light trial was valid.
    #[error("no trial at the lowest load {load} was valid: {reason}")]
    NoValidTrial {
        /// The load.
        load: f64,
        /// Why the last one was void.
        reason: String,
    },
    /// Trials failed one after the other.
    #[error("{count} trials in succession failed; the last one: {reason}\n  its files: {dir}")]
    Failing {
        /// Number of trials.
        count: u32,
        /// Why the last one failed.
        reason: String,
        /// Its directory.
        dir: String,
    },
    /// An outcome that the search does not take.
    #[error(transparent)]
    Report(#[from] ReportError),
}
