//! The error of commands.

use busyhour_capacity::CapacityError;
use busyhour_launch::UrlPlanError;
use busyhour_queueing::network::NotationError;

/// Why a command ends or refuses an argument.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// What is wrong, for the user: argument, file or combination of options.
    #[error("{0}")]
    Refused(String),
    /// A number or a time is not in the notation of its quantity.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// A file of measurements, a model or a parameter is wrong.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// No plan can be made for a URL.
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

/// Tests compare results, whose errors are equal if the user sees no difference.
#[cfg(test)]
impl PartialEq for CommandError {
    fn eq(&self, other: &CommandError) -> bool {
        self.to_string() == other.to_string()
    }
}
