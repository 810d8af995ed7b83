//! What ends a sample of a WebSocket sampler.

use std::io;

use crate::frame::Frame;

/// A failure that ends a sample early.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The server refused the upgrade: its status, if any, and the reason.
    Upgrade(String, String),
    /// An `IOException` with this message.
    Io(String),
    /// The read timeout expired.
    TimedOut,
    /// A frame of an unexpected type.
    Unexpected(Frame),
    /// Another exception, as Java prints it.
    Thrown(String),
    /// The server exceeded a limit of the generator.
    Limited(String),
    /// The data cannot be sent; the reason.
    Unsendable(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Io(busyhour_http::Failure::socket(&error).message),
        }
    }
}
