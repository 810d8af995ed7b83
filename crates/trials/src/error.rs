//! Errors of trials and experiments.

/// Why a trial could not be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrialError {
    /// A stop was requested.
    Stopped,
    /// The trial failed, with the reason.
    Failed(String),
}

/// Why an experiment cannot be executed or read.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// A file of the experiment's directory cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Another process executes the experiment.
    #[error("{0} is in use by another process")]
    InUse(String),
    /// The directory belongs to another experiment.
    #[error(
        "{dir} contains trials of another experiment, or the file was changed after its first trial in a way that changes trials"
    )]
    OtherExperiment {
        /// The directory.
        dir: String,
    },
    /// A line of the journal is not valid.
    #[error("{path}, line {line}: {reason}")]
    Journal {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// Trials failed one after the other.
    #[error("{count} trials in succession failed; the last one is {trial}: {reason}\n  its files: {dir}")]
    Failing {
        /// Number of trials.
        count: u32,
        /// The last trial.
        trial: String,
        /// Why it failed.
        reason: String,
        /// Its directory.
        dir: String,
    },
    /// A treatment could not be undone.
    #[error(
        "the trial {trial} was not undone completely: {reasons}
  its log: {log}
  hint: remove the cause, then run `busyhour experiment restore {dir}`"
    )]
    NotUndone {
        /// The trial.
        trial: String,
        /// The treatments or files, and why.
        reasons: String,
        /// The log of the trial.
        log: String,
        /// The directory of the experiment.
        dir: String,
    },
}

impl ExecuteError {
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> ExecuteError {
        let path = path.display().to_string();
        move |source| ExecuteError::File { path, source }
    }
}
