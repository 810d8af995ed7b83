//! The reasons for refusing an element of a plan.

use std::fmt;

/// Kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The element works in JMeter, but the same result is not guaranteed here.
    Unsupported,
    /// The element works in JMeter, but running it requires a JVM.
    NeedsJava,
    /// A file that the element needs does not exist.
    MissingFile,
    /// The element is also invalid in JMeter.
    Invalid,
}

/// Why an element is refused. The message completes a sentence whose subject is the element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Kind of the refusal.
    pub kind: RefusalKind,
    /// Description.
    pub message: String,
    /// Advice for the user.
    pub hint: Option<&'static str>,
}

impl Refusal {
    /// A refusal of an element that is not supported.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Unsupported, message: message.into(), hint: None }
    }

    /// A refusal of an element that needs a JVM.
    pub fn needs_java(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::NeedsJava, message: message.into(), hint: None }
    }

    /// A refusal of an element whose file does not exist.
    pub fn missing_file(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::MissingFile, message: message.into(), hint: None }
    }

    /// A refusal of an element that is also invalid in JMeter.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Invalid, message: message.into(), hint: None }
    }

    /// Adds advice for the user.
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
