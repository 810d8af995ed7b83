//! One connection of the probe.

use std::io::{self, Read as _, Write as _};

use mio::net::TcpStream;

use super::request::{Front, parse_front};

/// The response to every request.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n";

/// The last response on a connection.
const LAST_ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";

/// The number of bytes that are read at once.
const READ_BYTES: usize = 16 * 1024;

/// The number of unsent response bytes after which a client is disconnected.
const UNSENT_BYTES_MAX: usize = 1 << 20;

/// Whether a connection stays open.
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

/// The requests that were found in received data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FoundRequests {
    /// Number of requests that started but have no stamp yet.
    pub(super) begun: u64,
    /// Number of complete requests.
    pub(super) complete: u64,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// The number of the connection, which is unique in the probe.
    pub(super) number: u64,
    /// Whether the request that is read next already has its stamp.
    pub(super) stamped: bool,
    inbound: Vec<u8>,
    unsent: Vec<u8>,
    /// Number of complete requests that have not been answered yet.
    unanswered: u64,
    /// Whether the client accepts no further responses or has disconnected.
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
            unanswered: 0,
            ending: false,
        }
    }

    /// Whether the next byte starts a request that has no stamp.
    pub(super) fn expects_request(&self) -> bool {
        self.inbound.is_empty() && !self.stamped && !self.ending
    }

    /// Sends responses that could not be sent before, then reads the received data.
    pub(super) fn read(&mut self) -> (FoundRequests, After) {
        let mut found = FoundRequests::default();
        let mut after = self.flush();
        let mut buffer = [0; READ_BYTES];
        while after == After::Stays && !self.ending {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.ending = true,
                Ok(length) => {
                    self.parse(&buffer[..length], &mut found);
                    // If more data arrives, it wakes the probe again.
                    if length < READ_BYTES {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => after = After::Closed,
            }
        }
        if self.ending && self.unanswered == 0 && self.unsent.is_empty() {
            after = After::Closed;
        }
        (found, after)
    }

    fn parse(&mut self, bytes: &[u8], found: &mut FoundRequests) {
        let mut begins = self.inbound.is_empty();
        self.inbound.extend_from_slice(bytes);
        let mut from = 0;
        while from < self.inbound.len() && !self.ending {
            if begins && !std::mem::take(&mut self.stamped) {
                found.begun += 1;
            }
            match parse_front(&self.inbound[from..]) {
                Front::Request { length, last } => {
                    from += length;
                    found.complete += 1;
                    self.unanswered += 1;
                    self.ending = last;
                    begins = true;
                }
                Front::Partial => break,
                Front::Broken => self.ending = true,
            }
        }
        self.inbound.drain(..from);
    }

    /// Answers up to this number of requests.
    pub(super) fn answer(&mut self, requests: u64) -> After {
        for _ in 0..requests.min(self.unanswered) {
            self.unanswered -= 1;
            let last = self.ending && self.unanswered == 0;
            self.unsent.extend_from_slice(if last { LAST_ANSWER } else { ANSWER });
        }
        let sent = self.flush();
        if self.ending && self.unanswered == 0 && self.unsent.is_empty() { After::Closed } else { sent }
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
