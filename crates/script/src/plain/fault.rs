//! Errors of operations on values.

use crate::Value;

/// The error of an operation on values; the interpreter adds the place.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The operation fails in JMeter's engine too, or its result might be different here.
    Failed(String),
    /// The result exceeds a limit.
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

/// The value of an operation, or its error.
pub(crate) type Outcome = Result<Value, Fault>;
