//! Error types that contain only a message.

/// Declares an error type that consists of its message, for failures that are only shown to the user or compared with
/// the message of JMeter. Errors that callers have to distinguish are enums.
///
/// ```
/// busyhour_diagnostic::message_error! {
///     /// The reason why a page was rejected.
///     pub struct PageError;
/// }
///
/// fn page(text: &str) -> Result<u32, PageError> {
///     text.parse().map_err(|_| format!("{text} is not a page").into())
/// }
///
/// assert_eq!(page("one").unwrap_err().to_string(), "one is not a page");
/// ```
#[macro_export]
macro_rules! message_error {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident;) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $visibility struct $name(String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::error::Error for $name {}

        impl std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, message: &&str) -> bool {
                self.0 == *message
            }
        }

        impl From<String> for $name {
            fn from(message: String) -> Self {
                Self(message)
            }
        }

        impl From<&str> for $name {
            fn from(message: &str) -> Self {
                Self(message.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(error: $name) -> Self {
                error.0
            }
        }
    };
}
