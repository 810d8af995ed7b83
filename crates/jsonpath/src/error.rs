//! Errors of parsing and evaluating paths.

use crate::steps::STEPS_MAX;

/// Why a text was not accepted as a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Jayway refuses it too; with its message where that is known.
    #[error("{0}")]
    Invalid(String),
    /// Jayway may accept it, but its results are not reproduced here.
    #[error("{0}")]
    Unsupported(String),
}

/// Why a path gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A definite path found nothing; Jayway's message.
    #[error("{0}")]
    NotFound(String),
    /// The evaluation failed; Jayway's message.
    #[error("{0}")]
    Failed(String),
    /// The evaluation takes too many steps.
    #[error("the JSON path needs more than {STEPS_MAX} steps on this document")]
    Limit,
}

/// Why a function has no value; Jayway's message.
pub(crate) struct FunctionFailure(pub String);
