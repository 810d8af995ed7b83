//! The error type of commands.

use std::error::Error;
use std::ffi::OsString;

use busyhour_queueing::network::NotationError;

/// The reason why a command ends or rejects an argument.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A message for the user about an argument, a file or a combination of options.
    #[error("{0}")]
    Refused(String),
    /// A number or a time has invalid syntax.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// An error of the crate that does the work of the command.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl CommandError {
    /// The error of a command that ends because of `error`.
    pub fn of(error: impl Error + Send + Sync + 'static) -> Self {
        CommandError::Other(Box::new(error))
    }
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

/// Errors are equal if they show the same message to the user.
impl PartialEq for CommandError {
    fn eq(&self, other: &CommandError) -> bool {
        self.to_string() == other.to_string()
    }
}

/// Checks the words of a command line, from the name of the verb on, without executing it.
pub type CommandLineCheck = fn(Vec<OsString>) -> Result<(), CommandError>;
