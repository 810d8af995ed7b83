//! Why an element of a plan is not taken.

use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The element is fine in JMeter, but the same result is not promised here.
    Unsupported,
    /// The element is fine in JMeter, and nothing but a Java machine could run it.
    NeedsJava,
    /// A file that the element needs is not there.
    MissingFile,
    /// The element cannot work in JMeter either.
    Invalid,
}

/// Why an element is refused; the text is the end of a sentence about the element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Whose fault it is.
    pub kind: RefusalKind,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub hint: Option<&'static str>,
}

impl Refusal {
    /// What is not supported here.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Unsupported, message: message.into(), hint: None }
    }

    /// What only a Java machine can run.
    pub fn needs_java(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::NeedsJava, message: message.into(), hint: None }
    }

    /// What needs a file that is not there.
    pub fn missing_file(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::MissingFile, message: message.into(), hint: None }
    }

    /// What is wrong anywhere.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Invalid, message: message.into(), hint: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RefusalKind::Unsupported => "unsupported",
            RefusalKind::NeedsJava => "in need of Java",
            RefusalKind::MissingFile => "without its file",
            RefusalKind::Invalid => "invalid",
        })
    }
}
