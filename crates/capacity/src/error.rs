//! The errors of this crate.

use busyhour_diagnostic::Diagnostic;
use busyhour_diagnostic::io_hints::{chain, with_hint};
use busyhour_queueing::network::NotationError;
use busyhour_results::{LogError, ReadRunError};

/// The error if a value or a file was rejected.
#[derive(Debug, thiserror::Error)]
pub enum CapacityError {
    /// A message for the user, with the position in the file if there is one.
    #[error("{0}")]
    Refused(String),
    /// A file cannot be read.
    #[error("cannot read {name}: {}", with_hint(source))]
    Unreadable {
        /// The path as given by the user.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A log with requests cannot be read.
    #[error("{}", chain(.0))]
    Log(#[source] Box<LogError>),
    /// A number or a time has invalid syntax.
    #[error(transparent)]
    Notation(#[from] NotationError),
}

impl From<LogError> for CapacityError {
    fn from(error: LogError) -> Self {
        CapacityError::Log(Box::new(error))
    }
}

impl From<String> for CapacityError {
    fn from(message: String) -> Self {
        CapacityError::Refused(message)
    }
}

impl From<&str> for CapacityError {
    fn from(message: &str) -> Self {
        CapacityError::Refused(message.to_owned())
    }
}

/// The error if a model file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// The file cannot be read.
    #[error("cannot read the model {name}: {source}")]
    Unreadable {
        /// The path as given by the user.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The model has at least one error.
    #[error("the model is invalid: {}", joined(.0))]
    Invalid(Vec<Diagnostic>),
}

fn joined(findings: &[Diagnostic]) -> String {
    findings.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}

/// The error if measurements cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeasurementsError {
    /// The inputs do not match each other.
    #[error("{0}")]
    Inputs(CapacityError),
    /// A file cannot be used.
    #[error("{0}")]
    File(CapacityError),
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] ReadRunError),
}

/// The error if a what-if analysis cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// There are too many combinations of values.
    #[error("there are more than {0} combinations")]
    TooMany(usize),
    /// A parameter cannot have this value.
    #[error("--vary {path}={value}: {source}")]
    Parameter {
        /// The path of the parameter.
        path: String,
        /// The value.
        value: String,
        /// The cause.
        source: CapacityError,
    },
    /// The model is invalid with some values.
    #[error("with {values} the model is invalid")]
    Invalid {
        /// The values of the parameters, for instance `class.web.users=0`.
        values: String,
        /// The errors in the model.
        findings: Vec<Diagnostic>,
    },
}
