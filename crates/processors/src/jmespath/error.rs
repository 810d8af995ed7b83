//! The error of JMESPath.

use busyhour_program::ElementError;

busyhour_diagnostic::message_error! {
    /// Why a path was not compiled, or a document not read or searched; with the message of jmespath-java.
    pub(crate) struct JmesPathError;
}

impl From<JmesPathError> for ElementError {
    fn from(error: JmesPathError) -> Self {
        String::from(error).into()
    }
}
