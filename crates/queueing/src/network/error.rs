//! The error of the notation.

busyhour_diagnostic::message_error! {
    /// Why a value in the notation of model files was refused.
    pub struct NotationError;
}
