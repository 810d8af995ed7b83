//! Errors and warnings of the parser, with their place in the script.

use crate::{Place, ScriptError};

/// A construct that JMeter accepts when it compiles the script, and that fails when it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// A description of the construct.
    pub what: String,
    /// Its place in the script.
    pub place: Place,
}

/// A syntax error at the byte `at` of the script.
pub(super) fn syntax(text: &str, at: usize, message: impl Into<String>) -> ScriptError {
    ScriptError::Syntax { message: message.into(), place: Place::of(text, at) }
}

/// An error for a construct at the byte `at` that this interpreter does not support.
pub(super) fn unsupported(text: &str, at: usize, what: impl Into<String>) -> ScriptError {
    ScriptError::Unsupported { what: what.into(), place: Place::of(text, at) }
}
