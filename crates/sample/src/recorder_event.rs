//! Errors of the recorder that are reported at the end of a run.

use serde::{Deserialize, Serialize};

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
