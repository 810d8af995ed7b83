//! Why a run does not start.

use crate::exit::Exit;

/// The exit code and message of a run that does not start.
pub(crate) struct Refusal(pub(crate) Exit, pub(crate) String);

impl Refusal {
    /// A failure of the program or the system.
    pub(crate) fn internal(cause: impl std::fmt::Display) -> Self {
        Self(Exit::Internal, cause.to_string())
    }

    /// An error in the command line.
    pub(crate) fn usage(cause: impl std::fmt::Display) -> Self {
        Self(Exit::Usage, cause.to_string())
    }
}
