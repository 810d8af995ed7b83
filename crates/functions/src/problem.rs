//! Problems of texts with functions.

use std::fmt;

/// Kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text may work in JMeter; it is not supported here.
    Unsupported,
    /// The text works in JMeter; running it needs a JVM.
    NeedsJava,
    /// The text is invalid in JMeter too.
    Invalid,
    /// A function that always throws: JMeter fails the sample if a request contains it, and does not start the test
    /// if another element does.
    FailsSample,
}

/// A problem in a text with functions because of which the plan cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// Description.
    pub message: String,
    /// What the user can do; may be empty.
    pub hint: String,
    /// Where: byte offset in the text, of the `${` of the innermost function.
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
