//! The error if results or a run directory cannot be read.

use busyhour_record::{RunDirError, SamplesError};

use crate::{LogError, ResultsError};

/// Results or a run directory cannot be read.
#[derive(Debug)]
pub enum ReadRunError {
    /// The run directory cannot be used.
    RunDir(RunDirError),
    /// The samples file of the run cannot be read.
    Samples(SamplesError),
    /// The samples of the run cannot be sorted by start.
    Log(LogError),
    /// Results cannot be read.
    Results(ResultsError),
    /// The results would have to be read a second time, but they are a stream, which can be read only once.
    Stream,
}

impl ReadRunError {
    /// Advice for the user; empty if there is none.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            ReadRunError::Log(error) => error.hint(),
            ReadRunError::Results(error) => error.source.hint(),
            ReadRunError::RunDir(error) => run_dir_hint(error),
            ReadRunError::Samples(_) | ReadRunError::Stream => "",
        }
    }
}

/// Advice about a run directory that cannot be used; empty if there is none.
#[must_use]
pub fn run_dir_hint(error: &RunDirError) -> &'static str {
    match error {
        RunDirError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            "a run directory contains run.json and samples.bhs: check that it was copied completely. To read a result file (.jtl, \
             .csv, .xml), pass the path of the file"
        }
        RunDirError::Manifest { .. } => {
            "without its manifest, only the result file of a run can be read: pass the path of its samples.jtl"
        }
        _ => "",
    }
}

impl std::fmt::Display for ReadRunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadRunError::RunDir(error) => error.fmt(f),
            ReadRunError::Samples(_) | ReadRunError::Log(_) => {
                f.write_str("cannot read the run's record")
            }
            ReadRunError::Results(error) => write!(f, "cannot read {}", error.name),
            ReadRunError::Stream => f.write_str(
                "standard input can be read only once, but this part of the results requires a second reading: write the \
                 results to a file first",
            ),
        }
    }
}

impl std::error::Error for ReadRunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadRunError::RunDir(error) => std::error::Error::source(error),
            ReadRunError::Stream => None,
            ReadRunError::Samples(error) => Some(error),
            ReadRunError::Log(error) => Some(error),
            ReadRunError::Results(error) => Some(&error.source),
        }
    }
}

impl From<RunDirError> for ReadRunError {
    fn from(error: RunDirError) -> ReadRunError {
        ReadRunError::RunDir(error)
    }
}

impl From<ResultsError> for ReadRunError {
    fn from(error: ResultsError) -> ReadRunError {
        ReadRunError::Results(error)
    }
}
