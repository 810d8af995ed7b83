//! Errors of the recorder that are reported at the end of a run.

use serde::{Deserialize, Serialize};

/// An error while recording, reported once per file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecorderEvent {
    /// A file could not be written completely. Other outputs and the totals are not affected.
    LostOutput {
        /// Name of the file.
        file: String,
        /// Error message of the operating system.
        error: String,
        /// Number of rows or samples that are missing in the file at the end of the run.
        lost: u64,
    },
    /// A listener's file could not be opened; its rows are missing. As in JMeter, the run continues.
    NotOpened {
        /// Name of the file.
        file: String,
        /// Error message of the operating system.
        error: String,
    },
    /// The recorder failed; figures of the run are incomplete.
    Failed {
        /// Error message.
        error: String,
    },
}
