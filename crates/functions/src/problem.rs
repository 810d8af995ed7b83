//! What is wrong with a text of the plan.

use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text may well work in JMeter, but not here.
    Unsupported,
    /// The text works in JMeter, and nothing but a Java machine could run it.
    NeedsJava,
    /// JMeter cannot make anything of the text either.
    Invalid,
    /// A function that throws each time: JMeter fails the sample whose request asks for it, and starts nothing elsewhere.
    FailsSample,
}

/// Something in a text with functions that keeps the plan from running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whose fault it is.
    pub kind: ProblemKind,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
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
