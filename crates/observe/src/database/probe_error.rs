//! The error of a probe of a database.

use std::error::Error;

use crate::probe::ProbeError;

/// The error with all causes in one line.
pub(super) fn probe_error(error: &dyn Error) -> ProbeError {
    let mut text = String::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        // The messages of the client library's errors can contain those of their causes.
        if !text.contains(&message) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&message);
        }
        cause = error.source();
    }
    ProbeError::Other { what: error.to_string(), source: text.into() }
}
