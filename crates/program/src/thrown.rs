//! Java exceptions thrown by functions.

/// A Java exception that JMeter's implementation of a function throws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// Name of its class in Java.
    pub class: &'static str,
    /// Its message.
    pub message: String,
}
