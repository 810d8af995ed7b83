//! Errors of controls.

use std::io;
use std::path::PathBuf;

use crate::mask::AllocationError;

/// A control is not available on this machine, or a change failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The control is not available to this user on this machine.
    #[error("not available: {reason}; {remedy}")]
    Unavailable {
        /// The reason.
        reason: String,
        /// How to provide it.
        remedy: String,
    },
    /// A setting of the control is wrong.
    #[error("{what}")]
    Invalid {
        /// The setting, and why it is wrong.
        what: String,
    },
    /// A cache mask or a bandwidth does not fit the hardware.
    #[error("cannot allocate {line}")]
    Allocation {
        /// The line for `schemata`.
        line: String,
        /// The cause.
        #[source]
        source: AllocationError,
    },
    /// A file or directory cannot be read or changed.
    #[error("cannot {action} {}{}", path.display(), reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default())]
    File {
        /// The operation: `read`, `write "50000" to`.
        action: String,
        /// The file.
        path: PathBuf,
        /// The reason that the kernel gives in `last_cmd_status`.
        reason: Option<String>,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A program cannot be started.
    #[error("cannot run `{command}`")]
    Start {
        /// The command line.
        command: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A program reported a failure.
    #[error("`{command}` failed: {message}")]
    Command {
        /// The command line.
        command: String,
        /// Its output.
        message: String,
    },
    /// The process ended, or another process has its number.
    #[error("process {pid} has ended")]
    ProcessEnded {
        /// Its number.
        pid: u32,
    },
    /// The processes of a group start others faster than they can be moved, or do not finish ending.
    #[error("cannot empty {}: processes in it keep starting others or do not finish ending; end them, then repeat", path.display())]
    KeepsGrowing {
        /// The group.
        path: PathBuf,
    },
    /// The journal cannot be written.
    #[error("cannot write the journal {}; nothing was changed without an entry", path.display())]
    Journal {
        /// Its file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A control failed while it was applied, and undoing its changes failed too.
    #[error("{source}; undoing it also failed: {undo}")]
    Rollback {
        /// Why it could not be applied.
        #[source]
        source: Box<ControlError>,
        /// Why it could not be undone.
        undo: Box<ControlError>,
    },
}

impl ControlError {
    /// An error of a file without a reason from the kernel.
    pub(crate) fn file(action: impl Into<String>, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::File { action: action.into(), path: path.into(), reason: None, source }
    }

    /// An error of a setting.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// A missing requirement and its remedy.
    pub(crate) fn unavailable(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), remedy: remedy.into() }
    }
}
