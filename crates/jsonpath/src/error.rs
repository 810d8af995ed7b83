//! Errors of parsing and evaluating paths.

use crate::steps::STEPS_MAX;

/// Why a path cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Jayway rejects the path too. The message is Jayway's if it is known.
    #[error("{0}")]
    Invalid(String),
    /// Jayway may accept the path, but its results are not reproduced here.
    #[error("{0}")]
    Unsupported(String),
}

/// Why the evaluation of a path failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A definite path selects nothing. The message is Jayway's.
    #[error("{0}")]
    NotFound(String),
    /// The evaluation failed. The message is Jayway's.
    #[error("{0}")]
    Failed(String),
    /// The evaluation exceeds the limit of steps.
    #[error("the JSON path needs more than {STEPS_MAX} steps on this document")]
    Limit,
}

/// Why a function failed, with Jayway's message.
pub(crate) struct FunctionFailure(pub String);
