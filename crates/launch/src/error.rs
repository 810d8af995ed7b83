//! The reasons why a run does not start.

use std::io;
use std::path::PathBuf;

use busyhour_record::{RecordError, RunDirError, SaveConfigError};
use busyhour_sample::ApdexPropertyError;

use crate::properties::PropertiesError;
use crate::replay_times::ReplayError;

/// The reason why a run does not start.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A properties file cannot be read.
    #[error(transparent)]
    Properties(#[from] PropertiesError),
    /// The plan cannot be read.
    #[error("cannot read the plan {path}")]
    PlanUnreadable {
        /// The plan.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The plan has errors, which were reported as events.
    #[error("{plan} is refused because of {}; no request was sent", errors_text(*.errors))]
    PlanRefused {
        /// The plan's name.
        plan: String,
        /// Number of errors.
        errors: usize,
    },
    /// A plan that was generated for a URL is run again without the values of its request.
    #[error(
        "{plan} was generated for a URL and needs values that are not stored in it: {}\n  hint: add -J {}=VALUE, or put \
         them into a file for -q; --keep-secrets stores them",
        .missing.join(", "),
        .missing.first().map_or("", String::as_str)
    )]
    MissingRequestValues {
        /// The plan's name.
        plan: String,
        /// The names of the missing properties.
        missing: Vec<String>,
    },
    /// The users of a plan with a schedule were to be multiplied.
    #[error(
        "the rates or users of this plan follow a schedule, which cannot be multiplied; divide it among the agents \
         (without --users-per-agent), or change the schedule"
    )]
    ScheduledUsers,
    /// The replayed arrivals cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A property for result files has an invalid value.
    #[error(transparent)]
    SaveConfig(#[from] SaveConfigError),
    /// A property for the Application Performance Index has an invalid value.
    #[error(transparent)]
    Apdex(#[from] ApdexPropertyError),
    /// The results file is not empty, and the request does not allow that.
    #[error(
        "the results file {0} is not empty, so the report would mix old and new samples; use -f to overwrite it"
    )]
    ResultsNotEmpty(PathBuf),
    /// A file cannot be written or deleted.
    #[error("cannot {action} {path}")]
    File {
        /// The action that failed: `delete`, `write the log`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The run directory cannot be created or written.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// The recorder cannot open its files.
    #[error(transparent)]
    Recorder(#[from] RecordError),
    /// A stop was requested before the run started.
    #[error(transparent)]
    Stopped(RecordError),
    /// The server for metrics cannot listen on its address.
    #[error("cannot serve metrics to Prometheus: cannot listen at {address}")]
    MetricsServer {
        /// The address.
        address: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start the thread of {what}")]
    Thread {
        /// The purpose of the thread.
        what: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// The kind of a [`LaunchError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchErrorKind {
    /// The request is invalid.
    Request,
    /// The plan is rejected.
    Plan,
    /// A stop was requested.
    Stopped,
    /// The program or the system failed.
    System,
}

impl LaunchError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> LaunchErrorKind {
        match self {
            LaunchError::Properties(_)
            | LaunchError::Replay(_)
            | LaunchError::SaveConfig(_)
            | LaunchError::Apdex(_)
            | LaunchError::ResultsNotEmpty(_)
            | LaunchError::ScheduledUsers
            | LaunchError::MetricsServer { .. } => LaunchErrorKind::Request,
            LaunchError::PlanUnreadable { .. }
            | LaunchError::PlanRefused { .. }
            | LaunchError::MissingRequestValues { .. } => LaunchErrorKind::Plan,
            LaunchError::Stopped(_) => LaunchErrorKind::Stopped,
            LaunchError::File { .. }
            | LaunchError::RunDir(_)
            | LaunchError::Recorder(_)
            | LaunchError::Thread { .. } => LaunchErrorKind::System,
        }
    }
}

fn errors_text(errors: usize) -> String {
    if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") }
}
