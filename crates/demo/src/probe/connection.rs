//! One connection of the probe.

use std::io::{self, Read as _, Write as _};

use mio::net::TcpStream;

use super::request::{Front, front};

/// What every request is answered with.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n";

/// The last answer of a connection.
const LAST_ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";

/// Bytes taken from the system at once.
const READ_BYTES: usize = 16 * 1024;

/// Unread responses after which a client is disconnected.
const UNSENT_BYTES_MAX: usize = 1 << 20;

/// Whether a connection stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Stays,
    Closed,
}

impl After {
    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::Closed { self } else { other }
    }
}

/// What a reading found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Requests that began and have no stamp yet.
    pub(super) begun: u64,
    /// Requests that are whole.
    pub(super) complete: u64,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// Which connection of the probe it is.
    pub(super) number: u64,
    /// The request whose first bytes come next has its stamp.
    pub(super) stamped: bool,
    inbound: Vec<u8>,
    unsent: Vec<u8>,
    /// Whole requests that were not answered yet.
    owed: u64,
    /// The client accepts no further responses, or has disconnected.
    ending: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, number: u64) -> Self {
        Self {
            stream,
            number,
            stamped: false,
            inbound: Vec::new(),
            unsent: Vec::new(),
            owed: 0,
            ending: false,
        }
    }

    /// Whether the next byte begins a request that has no stamp.
    pub(super) fn expects_request(&self) -> bool {
        self.inbound.is_empty() && !self.stamped && !self.ending
    }

    /// Takes what has come, after what could not be sent before.
    pub(super) fn read(&mut self) -> (Seen, After) {
        let mut seen = Seen::default();
        let mut after = self.flush();
        let mut buffer = [0; READ_BYTES];
        while after == After::Stays && !self.ending {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.ending = true,
                Ok(length) => {
                    self.take(&buffer[..length], &mut seen);
                    // More would wake the probe again.
                    if length < READ_BYTES {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => after = After::Closed,
            }
        }
        if self.ending && self.owed == 0 && self.unsent.is_empty() {
            after = After::Closed;
        }
        (seen, after)
    }

    fn take(&mut self, bytes: &[u8], seen: &mut Seen) {
        let mut begins = self.inbound.is_empty();
        self.inbound.extend_from_slice(bytes);
        let mut from = 0;
        while from < self.inbound.len() && !self.ending {
            if begins && !std::mem::take(&mut self.stamped) {
                seen.begun += 1;
            }
            match front(&self.inbound[from..]) {
                Front::Request { length, last } => {
                    from += length;
                    seen.complete += 1;
                    self.owed += 1;
                    self.ending = last;
                    begins = true;
                }
                Front::Partial => break,
                Front::Broken => self.ending = true,
            }
        }
        self.inbound.drain(..from);
    }

    /// Answers so many requests.
    pub(super) fn answer(&mut self, requests: u64) -> After {
        for _ in 0..requests.min(self.owed) {
            self.owed -= 1;
            let last = self.ending && self.owed == 0;
            self.unsent.extend_from_slice(if last { LAST_ANSWER } else { ANSWER });
        }
        let sent = self.flush();
        if self.ending && self.owed == 0 && self.unsent.is_empty() { After::Closed } else { sent }
    }

    fn flush(&mut self) -> After {
        let mut from = 0;
        while from < self.unsent.len() {
            match self.stream.write(&self.unsent[from..]) {
                Ok(length) => from += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return After::Closed,
            }
        }
        self.unsent.drain(..from);
        if self.unsent.len() > UNSENT_BYTES_MAX { After::Closed } else { After::Stays }
    }
}
