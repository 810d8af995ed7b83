//! Errors of operations on values.

use crate::Value;

/// Why an operation on values failed; the interpreter adds the place.
#[derive(Debug)]
pub(crate) enum Fault {
    /// JMeter's engine fails here too, or the result would not be certain to be the same.
    Failed(String),
    /// Too long.
    Limit(String),
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault::Failed(message.into())
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Fault {
        Fault::Failed(message.to_owned())
    }
}

/// A value, or why there is none.
pub(crate) type Outcome = Result<Value, Fault>;
