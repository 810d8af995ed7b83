//! The error for an invalid setting.

/// An invalid property, option or table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The message.
    pub message: String,
}

impl SettingError {
    /// Creates an error with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl std::fmt::Display for SettingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SettingError {}
