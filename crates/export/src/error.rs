//! Errors of exports.

use std::io;

impl ExportError {
    /// Advice for the user; empty if there is none.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            ExportError::Samples(error) => error.source.hint(),
            _ => "",
        }
    }
}

/// An error while writing or sending data.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file or socket could not be written.
    #[error("cannot write to {target}")]
    Io {
        /// The file or the address.
        target: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A server could not be reached or did not respond.
    #[error("cannot send to {target}")]
    Http {
        /// Address of the server.
        target: String,
        /// The cause.
        #[source]
        source: Box<ureq::Error>,
    },
    /// A server rejected the request.
    #[error("{target} answered {status}: {answer}")]
    Refused {
        /// Address of the server.
        target: String,
        /// The status code.
        status: u16,
        /// The beginning of the response.
        answer: String,
    },
    /// A server accepted only a part of the data.
    #[error("{target} refused {rejected} of the values: {answer}")]
    Partly {
        /// Address of the server.
        target: String,
        /// Number of rejected values.
        rejected: i64,
        /// The beginning of the response.
        answer: String,
    },
    /// This program was built without the format.
    #[error("this program was built without {format} files; build it with the feature {feature}")]
    NotBuilt {
        /// The format.
        format: &'static str,
        /// The feature of the build that contains it.
        feature: &'static str,
    },
    /// The samples to be written cannot be read.
    #[error("cannot read the samples")]
    Samples(#[from] busyhour_results::ResultsError),
    /// The observed series cannot be read.
    #[error("cannot read the series")]
    Series(#[source] busyhour_series::SeriesFileError),
    /// A setting is invalid.
    #[error("{0}")]
    Settings(String),
}
