//! The files of a comparison, and its errors.

use std::path::PathBuf;

use busyhour_logs::Zone;
use busyhour_serverlog::LogFormat;

use crate::error::ReadRunError;

/// Maximum number of requests of a run, and of lines during it, that are compared.
pub const COMPARED_MAX: usize = 3_000_000;

/// The access log of a server, and how it is read.
#[derive(Debug, Clone)]
pub struct ServerLogFiles {
    /// The files, such as the parts of a rotated log, in any order; compressed or not.
    pub files: Vec<PathBuf>,
    /// The format; `None` if it is detected from the first line.
    pub format: Option<LogFormat>,
    /// The zone of times without an offset.
    pub zone: Zone,
    /// The variable of the plan, one of `sample_variables`, with the identifier of each request.
    pub id_variable: Option<String>,
    /// Maximum offset between the clocks in s.
    pub offset_max_s: f64,
}

/// Why a run cannot be compared with the log of a server.
#[derive(Debug, thiserror::Error)]
pub enum ServerLogError {
    /// A file cannot be read.
    #[error("{}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] ReadRunError),
    /// The run has no requests with a URL.
    #[error("the run has no requests with a URL, which the lines of the log could be compared with")]
    NoRequests,
    /// The samples do not contain the variable.
    #[error(
        "the samples do not contain the variable {name}; name it in the property sample_variables when the plan runs (they contain: {known})"
    )]
    NoVariable {
        /// Its name.
        name: String,
        /// The variables that they contain.
        known: String,
    },
    /// There are too many requests or lines.
    #[error("more than {COMPARED_MAX} {what}; compare a part of the run with --window FROM,TO")]
    TooMany {
        /// Requests or lines.
        what: &'static str,
    },
    /// No line can be read.
    #[error(
        "no line of {} can be read as {format}: line {line}: {reason}; specify the format with --server-log-format", .file.display()
    )]
    Format {
        /// The first file.
        file: PathBuf,
        /// The format.
        format: String,
        /// The first line, from 1.
        line: u64,
        /// Why it cannot be read.
        reason: String,
    },
    /// The files have no lines.
    #[error("{} has no lines", .0.display())]
    Empty(PathBuf),
}
