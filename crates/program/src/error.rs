//! The error of elements and functions.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why an element or a function failed. The text is the message of the sample, the assertion or the log; in most cases, it
/// is JMeter's message.
#[derive(Clone, Debug)]
pub enum ElementError {
    /// The error of the element itself.
    Message(String),
    /// Another error prevented the element from doing its work.
    Caused {
        /// The message of the element.
        message: String,
        /// The other error.
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl ElementError {
    /// An error whose message is that of its cause.
    pub fn caused_by(source: impl Error + Send + Sync + 'static) -> Self {
        Self::with_cause(source.to_string(), source)
    }

    /// An error with a message of its own and a cause.
    pub fn with_cause(message: impl Into<String>, source: impl Error + Send + Sync + 'static) -> Self {
        Self::Caused { message: message.into(), source: Arc::new(source) }
    }

    /// The message.
    pub fn message(&self) -> &str {
        match self {
            Self::Message(message) | Self::Caused { message, .. } => message,
        }
    }
}

impl fmt::Display for ElementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl Error for ElementError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Message(_) => None,
            Self::Caused { source, .. } => Some(&**source),
        }
    }
}

impl PartialEq for ElementError {
    /// Errors with the same message are equal, because a plan cannot distinguish them.
    fn eq(&self, other: &Self) -> bool {
        self.message() == other.message()
    }
}

impl Eq for ElementError {}

impl From<String> for ElementError {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for ElementError {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<ElementError> for String {
    fn from(error: ElementError) -> Self {
        match error {
            ElementError::Message(message) | ElementError::Caused { message, .. } => message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_sources_and_the_message_is_the_elements() {
        let cause = std::io::Error::other("no such host");
        let error = ElementError::caused_by(cause);
        assert_eq!(error.to_string(), "no such host");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("no such host"));
        let cause = std::io::Error::other("no such host");
        let error = ElementError::with_cause("the file is missing", cause);
        assert_eq!((error.message(), error.source().is_some()), ("the file is missing", true));
        assert!(ElementError::from("text").source().is_none());
    }
}
