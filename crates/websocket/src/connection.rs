//! A WebSocket: its state, frames in and out.

use std::io::Cursor;
use std::time::Duration;

use busyhour_http::SharedHttp;
use busyhour_program::body_memory::BodyMemory;
use busyhour_program::clock::Clock;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::frame::{Frame, Kind, encode};
use crate::limits::{self, FRAME_BYTES_MAX, HEAD_BYTES_MAX};
use crate::stream::Stream;
pub(crate) use crate::trouble::Trouble;
use crate::upgrade::{self, AnswerEnd, Refused};

/// The states of the plugin's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Connected,
    ClosedClient,
    ClosedServer,
    Closed,
}

impl State {
    /// Java's name of it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Connected => "CONNECTED",
            Self::ClosedClient => "CLOSED_CLIENT",
            Self::ClosedServer => "CLOSED_SERVER",
            Self::Closed => "CLOSED",
        }
    }
}

/// The target of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) secure: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path and query, beginning with `/`.
    pub(crate) path: String,
}

impl Address {
    /// Builds the address from the plan's settings; a fragment (`#`) is never sent.
    pub(crate) fn new(secure: bool, host: &str, port: u16, path: &str) -> Self {
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{}", path.trim()) };
        Self { secure, host: host.to_owned(), port, path }
    }

    /// As the plugin shows it.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.secure { "wss" } else { "ws" };
        format!("{scheme}://{}:{}{}", self.host, self.port, self.path)
    }
}

/// A WebSocket of one user.
pub(crate) struct Connection {
    pub(crate) address: Address,
    pub(crate) state: State,
    stream: Option<Stream>,
    /// Received bytes; those from `taken` on are not parsed yet.
    buffer: Vec<u8>,
    taken: usize,
    /// The share of the buffer in the memory for all users' responses.
    memory: BodyMemory,
    /// The kind of an unfinished fragmented message.
    unfinished: Option<Kind>,
}

/// The result of the handshake.
pub(crate) struct Upgraded {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
}

impl Connection {
    /// Connects and performs the upgrade. `random` provides the key; without `read_timeout`, reads wait without limit.
    pub(crate) async fn open(
        address: Address,
        headers: &[(String, String)],
        timeouts: (Duration, Option<Duration>),
        random: [u8; 16],
        shared: &SharedHttp,
        clock: &Clock,
    ) -> Result<(Self, Upgraded), Trouble> {
        if headers.iter().any(|(name, value)| name.contains(['\r', '\n']) || value.contains(['\r', '\n'])) {
            return Err(Trouble::Thrown(
                "java.lang.IllegalArgumentException: Invalid header; contains new line.".into(),
            ));
        }
        let Address { host, port, secure, .. } = &address;
        let opened = Stream::open(host, *port, *secure, timeouts, shared, clock).await;
        let mut stream = opened.map_err(|failure| Trouble::Io(failure.message))?;
        let key = upgrade::key(random);
        let request = upgrade::request(&format!("{host}:{port}"), &address.path, headers, &key);
        stream.send(&request).await?;
        let mut buffer = Vec::new();
        let (mut answer_end, mut ended) = (AnswerEnd::default(), false);
        let end = loop {
            let end = answer_end.find(&buffer, ended);
            if end.unwrap_or(buffer.len()) > HEAD_BYTES_MAX {
                return Err(limits::head_too_long());
            }
            if let Some(end) = end {
                break end;
            }
            ended = stream.receive(&mut buffer, timeouts.1).await? == 0;
        };
        let answer: Vec<u8> = buffer.drain(..end).collect();
        let headers = upgrade::check(&answer, &key).map_err(|refused| match refused {
            Refused::Upgrade(status, why) => {
                Trouble::Upgrade(status.map(|status| status.to_string()).unwrap_or_default(), why)
            }
            Refused::Protocol(why) => Trouble::Io(why.into()),
        })?;
        let upgraded = Upgraded { headers, request_bytes: request.len() as u64, response_bytes: end as u64 };
        let connection = Self {
            address,
            state: State::Connected,
            stream: Some(stream),
            buffer,
            taken: 0,
            memory: BodyMemory::default(),
            unfinished: None,
        };
        Ok((connection, upgraded))
    }

    /// Sends a frame and returns its size.
    pub(crate) async fn send(&mut self, kind: Kind, payload: &[u8], mask: [u8; 4]) -> Result<u64, Trouble> {
        let may = match kind {
            Kind::Close => matches!(self.state, State::Connected | State::ClosedServer),
            _ => self.state == State::Connected,
        };
        let bytes = encode(kind, payload, mask);
        let stream = match &mut self.stream {
            Some(stream) if may => stream,
            _ => {
                let what = match kind {
                    Kind::Close => "close",
                    Kind::Ping => "send ping frame",
                    Kind::Pong => "send pong frame",
                    Kind::Text | Kind::Binary => "send data frame",
                };
                return Err(self.illegal(what));
            }
        };
        stream.send(&bytes).await?;
        if kind == Kind::Close {
            if self.state == State::Connected {
                self.state = State::ClosedClient;
            } else {
                self.dispose();
            }
        }
        Ok(bytes.len() as u64)
    }

    /// Receives the next frame. After a timeout, the bytes received so far are kept for the next call.
    pub(crate) async fn receive(&mut self, timeout: Option<Duration>) -> Result<Frame, Trouble> {
        if !matches!(self.state, State::Connected | State::ClosedClient) {
            return Err(self.illegal("receive data frame"));
        }
        let frame = loop {
            if let Some(frame) = self.parse()? {
                break frame;
            }
            let Some(stream) = &mut self.stream else { return Err(self.illegal("receive data frame")) };
            if stream.receive(&mut self.buffer, timeout).await? == 0 {
                return Err(self.cut_off());
            }
            if let Err(why) = self.memory.hold(self.buffer.capacity()) {
                self.dispose();
                return Err(limits::no_memory(why));
            }
        };
        if frame.is_data() {
            match self.unfinished {
                None if !frame.fin => self.unfinished = Some(frame.kind),
                Some(_) if frame.continuation && frame.fin => self.unfinished = None,
                Some(_) if !frame.continuation => {
                    return Err(Trouble::Io("missing continuation frame".into()));
                }
                _ => {}
            }
        }
        if frame.kind == Kind::Close {
            if self.state == State::Connected {
                self.state = State::ClosedServer;
            } else {
                self.dispose();
            }
        }
        Ok(frame)
    }

    /// Closes the connection without a frame.
    pub(crate) fn dispose(&mut self) {
        self.state = State::Closed;
        self.stream = None;
        (self.buffer, self.taken, self.memory) = (Vec::new(), 0, BodyMemory::default());
    }

    fn illegal(&self, what: &str) -> Trouble {
        let state = self.state.name();
        Trouble::Thrown(format!("java.lang.IllegalStateException: Cannot {what} when state is {state}"))
    }

    /// The plugin's error for a connection that ends within a frame.
    fn cut_off(&self) -> Trouble {
        let rest = &self.buffer[self.taken..];
        let mut cursor = Cursor::new(rest);
        let Ok(Some((_, length))) = FrameHeader::parse(&mut cursor) else {
            return Trouble::Io("end of stream".into());
        };
        let had = rest.len() as u64 - cursor.position();
        Trouble::Io(format!(
            "WebSocket protocol error: expected payload of length {length}, but can only read {had} bytes"
        ))
    }

    /// Removes bytes from the front of the buffer. The rest moves only when it is the smaller part, so that many small
    /// frames in a large buffer take time in proportion to their bytes.
    fn take(&mut self, bytes: usize) {
        self.taken += bytes;
        if self.taken * 2 >= self.buffer.len() {
            self.buffer.drain(..self.taken);
            self.taken = 0;
            if self.buffer.capacity() > 16 * 1024 {
                self.buffer.shrink_to(2 * self.buffer.len());
                self.memory = BodyMemory::default();
                // The buffer takes less than before.
                let _ = self.memory.hold(self.buffer.capacity());
            }
        }
    }

    /// Parses the next frame in the buffer, if it is complete.
    fn parse(&mut self) -> Result<Option<Frame>, Trouble> {
        let rest = &self.buffer[self.taken..];
        let mut cursor = Cursor::new(rest);
        let (header, length) = match FrameHeader::parse(&mut cursor) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => return Ok(None),
            Err(_) => {
                let code = rest.first().map_or(0, |byte| byte & 0x0f);
                return Err(Trouble::Thrown(format!(
                    "java.lang.RuntimeException: unsupported frame type: {code}"
                )));
            }
        };
        let Some(length) = i32::try_from(length).ok().and_then(|length| usize::try_from(length).ok()) else {
            return Err(Trouble::Thrown(
                "java.lang.RuntimeException: Frame too large; Java does not support arrays longer than 2147483647 \
                 bytes."
                    .into(),
            ));
        };
        let head = usize::try_from(cursor.position()).unwrap_or(usize::MAX);
        let end = head + length;
        if end as u64 > FRAME_BYTES_MAX {
            self.dispose();
            return Err(limits::frames_too_long());
        }
        if rest.len() < end {
            return Ok(None);
        }
        let mut memory = BodyMemory::default();
        if let Err(why) = memory.hold(length) {
            self.dispose();
            return Err(limits::no_memory(why));
        }
        let payload = rest[head..end].to_vec();
        self.take(end);
        let kind = match header.opcode {
            OpCode::Data(Data::Continue) => match self.unfinished {
                Some(kind) => kind,
                None => return Err(Trouble::Io("no continuation frame expected".into())),
            },
            OpCode::Data(Data::Text) => Kind::Text,
            OpCode::Control(Control::Close) => Kind::Close,
            OpCode::Control(Control::Ping) => Kind::Ping,
            OpCode::Control(_) => Kind::Pong,
            OpCode::Data(_) => Kind::Binary,
        };
        Ok(Some(Frame {
            kind,
            fin: header.is_final,
            continuation: header.opcode == OpCode::Data(Data::Continue),
            payload,
            memory,
            size: end as u64,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent(bytes: &[u8]) -> Connection {
        Connection {
            address: Address::new(false, "h", 80, ""),
            state: State::Connected,
            stream: None,
            buffer: bytes.to_vec(),
            taken: 0,
            memory: BodyMemory::default(),
            unfinished: None,
        }
    }

    #[test]
    fn addresses_are_shown_as_the_plugin_shows_them() {
        assert_eq!(Address::new(false, "h", 80, "").url(), "ws://h:80/");
        assert_eq!(Address::new(true, "h", 443, "a b?c=d#e").url(), "wss://h:443/a b?c=d");
    }

    #[test]
    fn frames_are_cut_out_of_what_has_come() {
        let mut connection = silent(&[0x01, 2, b'a', b'b', 0x80, 1, b'c', 0x89, 0, 0x82, 5, 1]);
        connection.unfinished = Some(Kind::Text);
        let first = connection.parse().unwrap().unwrap();
        assert_eq!((first.type_name(), first.size), ("non-final text", 4));
        assert_eq!(connection.parse().unwrap().unwrap().type_name(), "final continuation");
        assert_eq!(connection.parse().unwrap().unwrap().kind, Kind::Ping);
        assert!(connection.parse().unwrap().is_none());
        assert!(
            matches!(connection.cut_off(), Trouble::Io(why) if why.ends_with("length 5, but can only read 1 bytes"))
        );
    }

    #[test]
    fn what_is_no_frame_is_named() {
        let trouble = |bytes: &[u8]| silent(bytes).parse().unwrap_err();
        assert!(
            matches!(trouble(&[0x83, 0]), Trouble::Thrown(why) if why.ends_with("unsupported frame type: 3"))
        );
        assert!(matches!(trouble(&[0x80, 0]), Trouble::Io(why) if why == "no continuation frame expected"));
        let long = [0x82, 127, 0, 0, 0, 0, 0x04, 0, 0, 0];
        assert!(matches!(trouble(&long), Trouble::Limited(why) if why.contains("64 MiB")));
        let large = [0x82, 127, 0, 0, 0, 0, 0x80, 0, 0, 0];
        assert!(matches!(trouble(&large), Trouble::Thrown(why) if why.contains("Frame too large")));
        assert!(matches!(silent(&[0x82]).cut_off(), Trouble::Io(why) if why == "end of stream"));
    }
}
