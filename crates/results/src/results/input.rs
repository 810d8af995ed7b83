//! Inputs of results (files, run directories and streams), and the error if an input cannot be read.

use std::io::Read;
use std::path::PathBuf;

use crate::jtl_scan::LogError;

/// A file, run directory or stream.
pub struct ResultsInput {
    /// Its name in messages.
    pub name: String,
    /// Its location.
    pub from: ResultsFrom,
}

/// The location from which results are read.
pub enum ResultsFrom {
    /// A file or a run directory.
    Path(PathBuf),
    /// A stream, which can be read once.
    Stream(Box<dyn Read>),
}

impl ResultsInput {
    /// The file or run directory at `path`.
    #[must_use]
    pub fn path(path: impl Into<PathBuf>) -> ResultsInput {
        let path = path.into();
        ResultsInput { name: path.display().to_string(), from: ResultsFrom::Path(path) }
    }

    /// The same input for another reading; `None` for a stream, which can be read only once.
    #[must_use]
    pub fn try_clone(&self) -> Option<ResultsInput> {
        match &self.from {
            ResultsFrom::Path(path) => {
                Some(ResultsInput { name: self.name.clone(), from: ResultsFrom::Path(path.clone()) })
            }
            ResultsFrom::Stream(_) => None,
        }
    }

    /// The same inputs for another reading.
    ///
    /// # Errors
    /// An input is a stream, which can be read only once.
    pub fn try_clone_all(inputs: &[ResultsInput]) -> Result<Vec<ResultsInput>, ResultsError> {
        let cloned = |input: &ResultsInput| {
            input
                .try_clone()
                .ok_or_else(|| ResultsError { name: input.name.clone(), source: LogError::NoFile })
        };
        inputs.iter().map(cloned).collect()
    }
}

/// The error if an input cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{name}")]
pub struct ResultsError {
    /// The name of the input.
    pub name: String,
    /// The cause.
    #[source]
    pub source: LogError,
}
