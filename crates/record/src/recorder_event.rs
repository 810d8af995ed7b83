//! Errors of the recorder: those that prevent its start, and those that are reported at the end of a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A result file cannot be opened, or the recorder's thread cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}")]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    #[source]
    pub source: std::io::Error,
}

/// An error while recording, reported once per file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecorderEvent {
    /// A file could not be written. Other outputs and the totals are not affected.
    LostOutput {
        /// The file.
        file: String,
        /// The system's message.
        error: String,
        /// Rows or samples that are missing in the file at the end of the run.
        lost: u64,
    },
    /// A listener's file could not be opened; its rows are missing. As in JMeter, the run continues.
    NotOpened {
        /// The file.
        file: String,
        /// The system's message.
        error: String,
    },
    /// The recorder failed; figures of the run are missing.
    Failed {
        /// The message.
        error: String,
    },
}
