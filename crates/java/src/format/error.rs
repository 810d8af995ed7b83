//! The error of formatting.

busyhour_diagnostic::message_error! {
    /// Why a value has no text in a format, or a pattern is not supported.
    pub struct FormatError;
}
