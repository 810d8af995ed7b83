//! Errors of recording.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A result file could not be opened, or the recorder's thread not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}")]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: std::io::Error,
}

/// Something that went wrong while recording, said once per file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecorderEvent {
    /// A file could not be written further. The other outputs and the totals go on.
    LostOutput {
        /// The file.
        file: String,
        /// The system's words.
        error: String,
        /// Rows or segments that are missing in it by the end of the run.
        lost: u64,
    },
    /// A listener's file could not be opened; its rows are missing. As in JMeter, the run goes on.
    NotOpened {
        /// The file.
        file: String,
        /// The system's words.
        error: String,
    },
    /// The recorder itself failed; numbers of the run are missing.
    Failed {
        /// What is known.
        error: String,
    },
}
