//! Errors and warnings of the parser, with their place in the script.

use crate::{Place, ScriptError};

/// Something in a script that JMeter accepts and that fails when it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is.
    pub what: String,
    /// Where it stands in the script.
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
