//! Exceptions of Java.

/// An exception of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// Its class in Java.
    pub class: &'static str,
    /// Its message.
    pub message: String,
}
