//! Failures of WebSocket samples.

use std::io;

use crate::frame::Frame;

/// A failure that ends a sample early.
#[derive(Debug)]
pub(crate) enum SampleFailure {
    /// The server rejected the upgrade: its status, if any, and the reason.
    Upgrade(String, String),
    /// An `IOException` with this message.
    Io(String),
    /// The read timeout expired.
    TimedOut,
    /// A frame of an unexpected type.
    Unexpected(Frame),
    /// Another exception, in Java's format.
    Thrown(String),
    /// The server exceeded a limit of the generator.
    Limited(String),
    /// The reason why the data cannot be sent.
    Unsendable(String),
}

impl From<io::Error> for SampleFailure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Io(busyhour_http::Failure::socket(&error).message),
        }
    }
}
