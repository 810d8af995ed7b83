//! Problems of texts with functions.

use std::fmt;

/// Kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text may work in JMeter but is not supported here.
    Unsupported,
    /// The text works in JMeter, but running it requires a JVM.
    NeedsJava,
    /// The text is also invalid in JMeter.
    Invalid,
    /// A function that always throws. If a request contains it, JMeter fails the sample; if another element contains it,
    /// JMeter does not start the test.
    FailsSample,
}

/// A problem of a text with functions. It prevents the plan from running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// Description.
    pub message: String,
    /// Advice for the user; may be empty.
    pub hint: String,
    /// Byte offset in the text of the `${` of the innermost function.
    pub offset: usize,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, " ({})", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
