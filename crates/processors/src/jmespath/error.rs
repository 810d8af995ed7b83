//! The error of JMESPath.

use busyhour_program::ElementError;

busyhour_diagnostic::message_error! {
    /// Why a path cannot be compiled, or a document cannot be parsed or searched. The message is that of jmespath-java.
    pub(crate) struct JmesPathError;
}

impl From<JmesPathError> for ElementError {
    fn from(error: JmesPathError) -> Self {
        ElementError::caused_by(error)
    }
}
