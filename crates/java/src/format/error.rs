//! The error of formatting.

busyhour_diagnostic::message_error! {
    /// The reason why a value cannot be formatted or parsed, or why a pattern is not supported.
    pub struct FormatError;
}
