//! What ends a sample of a WebSocket sampler.

use std::io;

use crate::frame::Frame;

/// What ends a sample before its time.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The server's HTTP answer made it no WebSocket: its status or nothing, and why.
    Upgrade(String, String),
    /// An `IOException` with this message.
    Io(String),
    /// Nothing came for too long.
    TimedOut,
    /// A frame of another type than wanted.
    Unexpected(Frame),
    /// Another exception, as Java prints it.
    Thrown(String),
    /// The server exceeded a limit of the generator.
    Limited(String),
    /// What cannot be sent, and why.
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
