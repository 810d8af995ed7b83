//! The error type of the notation.

busyhour_diagnostic::message_error! {
    /// Why a value in a model file was rejected.
    pub struct NotationError;
}
