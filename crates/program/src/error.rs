//! The error of elements and functions.

busyhour_diagnostic::message_error! {
    /// Why an element or a function could not do its work: the message of the sample, the assertion or the log.
    pub struct ElementError;
}
