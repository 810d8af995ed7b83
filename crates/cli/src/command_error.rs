//! The error type of commands.

use busyhour_capacity::CapacityError;
use busyhour_launch::UrlPlanError;
use busyhour_queueing::network::NotationError;

/// The reason why a command ends or rejects an argument.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// A message for the user about an argument, a file or a combination of options.
    #[error("{0}")]
    Refused(String),
    /// A number or a time has invalid syntax.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// A file of measurements, a model or a parameter is invalid.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// No plan can be generated for a URL.
    #[error(transparent)]
    UrlPlan(#[from] UrlPlanError),
}

impl From<String> for CommandError {
    fn from(message: String) -> Self {
        CommandError::Refused(message)
    }
}

impl From<&str> for CommandError {
    fn from(message: &str) -> Self {
        CommandError::Refused(message.to_owned())
    }
}

/// For tests: errors are equal if they show the same message to the user.
#[cfg(test)]
impl PartialEq for CommandError {
    fn eq(&self, other: &CommandError) -> bool {
        self.to_string() == other.to_string()
    }
}
