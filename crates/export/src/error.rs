//! What goes wrong on the way out.

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

/// Something could not be written or sent.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file or socket could not be written.
    #[error("cannot write to {target}")]
    Io {
        /// Where to.
        target: String,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// A server could not be reached, or did not answer.
    #[error("cannot send to {target}")]
    Http {
        /// Its address.
        target: String,
        /// Why.
        #[source]
        source: Box<ureq::Error>,
    },
    /// A server did not take it.
    #[error("{target} answered {status}: {answer}")]
    Refused {
        /// Its address.
        target: String,
        /// The status code.
        status: u16,
        /// The beginning of the response.
        answer: String,
    },
    /// A server took a part of it.
    #[error("{target} refused {rejected} of the values: {answer}")]
    Partly {
        /// Its address.
        target: String,
        /// How many it refused.
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
    /// The samples that were to be written cannot be read.
    #[error("cannot read the samples")]
    Samples(#[from] busyhour_results::ResultsError),
    /// A setting makes no sense.
    #[error("{0}")]
    Settings(String),
}
