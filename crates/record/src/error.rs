//! Why a run cannot be recorded.

use std::path::PathBuf;

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
