//! Errors of scripts, with their place in the text.

use std::fmt;

/// A place in a script's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPlace {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl TextPlace {
    /// The place of a byte offset in `text`. An offset beyond the end means the end; an offset inside a character means the
    /// place after that character.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> TextPlace {
        let mut place = TextPlace { line: 1, column: 1 };
        for (at, character) in text.char_indices() {
            if at >= offset {
                break;
            }
            if character == '\n' {
                place.line += 1;
                place.column = 1;
            } else {
                place.column += 1;
            }
        }
        place
    }
}

impl fmt::Display for TextPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 1 {
            write!(f, "line {}, column {}", self.line, self.column)
        } else {
            write!(f, "column {}", self.column)
        }
    }
}

/// The reason why a script was rejected or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The text is not a script of its language; JMeter would fail on it too.
    #[error("{message} ({place})")]
    Syntax {
        /// A description of the error.
        message: String,
        /// Its place in the script.
        place: TextPlace,
    },
    /// The text may be a valid script of its language, but this crate does not guarantee the same result as JMeter.
    #[error("{what} is not supported ({place})")]
    Unsupported {
        /// The unsupported construct, as the subject of a sentence.
        what: String,
        /// Its place in the script.
        place: TextPlace,
    },
    /// The script ran and failed as in JMeter (or only here, if the message states that).
    #[error("{message} ({place})")]
    Evaluation {
        /// A description of the error.
        message: String,
        /// The place of the error in the script.
        place: TextPlace,
    },
    /// The script threw a `java.lang.Error`, which JMeter's elements do not catch: it ends the virtual user.
    #[error("{message} ({place})")]
    Fatal {
        /// A description of the error.
        message: String,
        /// The place of the error in the script.
        place: TextPlace,
    },
    /// There is no script to run. JMeter reports this, too.
    #[error("{message}")]
    Missing {
        /// JMeter's message.
        message: String,
    },
    /// The script exhausted its budget of time, steps or memory.
    #[error("the script was stopped because it reached a limit: {limit}")]
    LimitReached {
        /// The limit, with its unit.
        limit: String,
    },
}

impl ScriptError {
    /// The place in the text, if the error has one.
    #[must_use]
    pub fn place(&self) -> Option<TextPlace> {
        match self {
            ScriptError::Syntax { place, .. }
            | ScriptError::Unsupported { place, .. }
            | ScriptError::Evaluation { place, .. }
            | ScriptError::Fatal { place, .. } => Some(*place),
            ScriptError::Missing { .. } | ScriptError::LimitReached { .. } => None,
        }
    }

    /// Whether the script was rejected because of a limitation of this crate, not because of an error in the script.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self, ScriptError::Unsupported { .. })
    }
}

/// A syntax error at the byte `at` of the script.
pub(crate) fn syntax(text: &str, at: usize, message: impl Into<String>) -> ScriptError {
    ScriptError::Syntax { message: message.into(), place: TextPlace::of(text, at) }
}

/// An error for a construct at the byte `at` that this crate does not support.
pub(crate) fn unsupported(text: &str, at: usize, what: impl Into<String>) -> ScriptError {
    ScriptError::Unsupported { what: what.into(), place: TextPlace::of(text, at) }
}

/// The error for a regular expression with a construct that this crate does not support. The string names the construct.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UnsupportedPattern(pub(crate) String);
