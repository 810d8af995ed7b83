//! The error if a run cannot be recorded.

use std::path::PathBuf;

/// A result file could not be opened, or the recorder's thread could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}")]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    #[source]
    pub source: std::io::Error,
}
