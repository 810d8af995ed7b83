//! The errors of this crate.

use busyhour_diagnostic::Diagnostic;
use busyhour_queueing::network::NotationError;
use busyhour_results::ReadRunError;

busyhour_diagnostic::message_error! {
    /// Why a value or a file was rejected: the message for the user, with the position in the file.
    pub struct CapacityError;
}

impl From<NotationError> for CapacityError {
    fn from(error: NotationError) -> Self {
        error.to_string().into()
    }
}

/// Why a model file cannot be used.
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
    /// The model has errors: at least one.
    #[error("the model is invalid: {}", joined(.0))]
    Invalid(Vec<Diagnostic>),
}

fn joined(findings: &[Diagnostic]) -> String {
    findings.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}

/// Why there are no measurements.
#[derive(Debug, thiserror::Error)]
pub enum MeasurementsError {
    /// The inputs do not fit together.
    #[error("{0}")]
    Inputs(CapacityError),
    /// A file cannot be used.
    #[error("{0}")]
    File(CapacityError),
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] ReadRunError),
}

/// Why a what-if has no points.
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
        /// The values: `class.web.users=0`.
        values: String,
        /// The errors in the model.
        findings: Vec<Diagnostic>,
    },
}
