//! The error of commands.

use busyhour_capacity::CapacityError;
use busyhour_launch::UrlPlanError;
use busyhour_queueing::network::NotationError;

busyhour_diagnostic::message_error! {
    /// Why a command ends or refuses an argument: the message for the user.
    pub(crate) struct CommandError;
}

impl From<NotationError> for CommandError {
    fn from(error: NotationError) -> Self {
        error.to_string().into()
    }
}

impl From<CapacityError> for CommandError {
    fn from(error: CapacityError) -> Self {
        String::from(error).into()
    }
}

impl From<UrlPlanError> for CommandError {
    fn from(error: UrlPlanError) -> Self {
        String::from(error).into()
    }
}
