//! A WebSocket connection: its state, and the frames that it sends and receives.

use std::io::Cursor;
use std::time::Duration;

use busyhour_http::SharedHttp;
use busyhour_program::body_memory::BodyMemory;
use busyhour_program::clock::Clock;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

pub(crate) use crate::failure::SampleFailure;
use crate::frame::{Frame, Kind, encode};
use crate::limits::{self, FRAME_BYTES_MAX, HEAD_BYTES_MAX};
use crate::stream::Stream;
use crate::upgrade::{self, ResponseEnd, UpgradeError};

/// The states of the plugin's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Connected,
    ClosedClient,
    ClosedServer,
    Closed,
}

impl State {
    /// The name of the state in the plugin.
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

    /// The URL in the plugin's format.
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
    /// Received bytes; the first `parsed` of them are already parsed.
    buffer: Vec<u8>,
    parsed: usize,
    /// The part of the memory for the responses of all users that the buffer uses.
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
    /// Connects and performs the upgrade. The key is generated from `random`; without `read_timeout`, reads have no time limit.
    pub(crate) async fn open(
        address: Address,
        headers: &[(String, String)],
        timeouts: (Duration, Option<Duration>),
        random: [u8; 16],
        shared: &SharedHttp,
        clock: &Clock,
    ) -> Result<(Self, Upgraded), SampleFailure> {
        if headers.iter().any(|(name, value)| name.contains(['\r', '\n']) || value.contains(['\r', '\n'])) {
            return Err(SampleFailure::Thrown(
                "java.lang.IllegalArgumentException: Invalid header; contains new line.".into(),
            ));
        }
        let Address { host, port, secure, .. } = &address;
        let opened = Stream::open(host, *port, *secure, timeouts, shared, clock).await;
        let mut stream = opened.map_err(|failure| SampleFailure::Io(failure.message))?;
        let key = upgrade::key(random);
        let request = upgrade::request(&format!("{host}:{port}"), &address.path, headers, &key);
        stream.send(&request).await?;
        let mut buffer = Vec::new();
        let (mut response_end, mut ended) = (ResponseEnd::default(), false);
        let end = loop {
            let end = response_end.find(&buffer, ended);
            if end.unwrap_or(buffer.len()) > HEAD_BYTES_MAX {
                return Err(limits::head_too_long());
            }
            if let Some(end) = end {
                break end;
            }
            ended = stream.receive(&mut buffer, timeouts.1).await? == 0;
        };
        let response: Vec<u8> = buffer.drain(..end).collect();
        let headers = upgrade::check(&response, &key).map_err(|error| match error {
            UpgradeError::Upgrade(status, why) => {
                SampleFailure::Upgrade(status.map(|status| status.to_string()).unwrap_or_default(), why)
            }
            UpgradeError::Protocol(why) => SampleFailure::Io(why.into()),
        })?;
        let upgraded = Upgraded { headers, request_bytes: request.len() as u64, response_bytes: end as u64 };
        let connection = Self {
            address,
            state: State::Connected,
            stream: Some(stream),
            buffer,
            parsed: 0,
            memory: BodyMemory::default(),
            unfinished: None,
        };
        Ok((connection, upgraded))
    }

    /// Sends a frame and returns its size.
    pub(crate) async fn send(
        &mut self,
        kind: Kind,
        payload: &[u8],
        mask: [u8; 4],
    ) -> Result<u64, SampleFailure> {
        let is_allowed = match kind {
            Kind::Close => matches!(self.state, State::Connected | State::ClosedServer),
            _ => self.state == State::Connected,
        };
        let bytes = encode(kind, payload, mask);
        let stream = match &mut self.stream {
            Some(stream) if is_allowed => stream,
            _ => {
                let what = match kind {
                    Kind::Close => "close",
                    Kind::Ping => "send ping frame",
                    Kind::Pong => "send pong frame",
                    Kind::Text | Kind::Binary => "send data frame",
                };
                return Err(self.illegal_state_error(what));
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

    /// Receives the next frame. After a timeout, the bytes received so far remain in the buffer for the next call.
    pub(crate) async fn receive(&mut self, timeout: Option<Duration>) -> Result<Frame, SampleFailure> {
        if !matches!(self.state, State::Connected | State::ClosedClient) {
            return Err(self.illegal_state_error("receive data frame"));
        }
        let frame = loop {
            if let Some(frame) = self.parse()? {
                break frame;
            }
            let Some(stream) = &mut self.stream else {
                return Err(self.illegal_state_error("receive data frame"));
            };
            if stream.receive(&mut self.buffer, timeout).await? == 0 {
                return Err(self.incomplete_frame_error());
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
                    return Err(SampleFailure::Io("missing continuation frame".into()));
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
        (self.buffer, self.parsed, self.memory) = (Vec::new(), 0, BodyMemory::default());
    }

    fn illegal_state_error(&self, what: &str) -> SampleFailure {
        let state = self.state.name();
        SampleFailure::Thrown(format!("java.lang.IllegalStateException: Cannot {what} when state is {state}"))
    }

    /// The plugin's error for a connection that ends within a frame.
    fn incomplete_frame_error(&self) -> SampleFailure {
        let rest = &self.buffer[self.parsed..];
        let mut cursor = Cursor::new(rest);
        let Ok(Some((_, length))) = FrameHeader::parse(&mut cursor) else {
            return SampleFailure::Io("end of stream".into());
        };
        let available = rest.len() as u64 - cursor.position();
        SampleFailure::Io(format!(
            "WebSocket protocol error: expected payload of length {length}, but can only read {available} bytes"
        ))
    }

    /// Removes bytes from the front of the buffer. The remaining bytes are moved only if they are the smaller part, so
    /// that many small frames in a large buffer take time proportional to their bytes.
    fn consume(&mut self, bytes: usize) {
        self.parsed += bytes;
        if self.parsed * 2 >= self.buffer.len() {
            self.buffer.drain(..self.parsed);
            self.parsed = 0;
            if self.buffer.capacity() > 16 * 1024 {
                self.buffer.shrink_to(2 * self.buffer.len());
                self.memory = BodyMemory::default();
                // This cannot fail, because the buffer uses less memory than before.
                let _ = self.memory.hold(self.buffer.capacity());
            }
        }
    }

    /// Parses the next frame in the buffer, if it is complete.
    fn parse(&mut self) -> Result<Option<Frame>, SampleFailure> {
        let rest = &self.buffer[self.parsed..];
        let mut cursor = Cursor::new(rest);
        let (header, length) = match FrameHeader::parse(&mut cursor) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => return Ok(None),
            Err(_) => {
                let code = rest.first().map_or(0, |byte| byte & 0x0f);
                return Err(SampleFailure::Thrown(format!(
                    "java.lang.RuntimeException: unsupported frame type: {code}"
                )));
            }
        };
        let Some(length) = i32::try_from(length).ok().and_then(|length| usize::try_from(length).ok()) else {
            return Err(SampleFailure::Thrown(
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
        self.consume(end);
        let kind = match header.opcode {
            OpCode::Data(Data::Continue) => match self.unfinished {
                Some(kind) => kind,
                None => return Err(SampleFailure::Io("no continuation frame expected".into())),
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

    fn connection_with(bytes: &[u8]) -> Connection {
        Connection {
            address: Address::new(false, "h", 80, ""),
            state: State::Connected,
            stream: None,
            buffer: bytes.to_vec(),
            parsed: 0,
            memory: BodyMemory::default(),
            unfinished: None,
        }
    }

    #[test]
    fn addresses_are_formatted_as_in_the_plugin() {
        assert_eq!(Address::new(false, "h", 80, "").url(), "ws://h:80/");
        assert_eq!(Address::new(true, "h", 443, "a b?c=d#e").url(), "wss://h:443/a b?c=d");
    }

    #[test]
    fn frames_are_parsed_from_the_buffer() {
        let mut connection = connection_with(&[0x01, 2, b'a', b'b', 0x80, 1, b'c', 0x89, 0, 0x82, 5, 1]);
        connection.unfinished = Some(Kind::Text);
        let first = connection.parse().unwrap().unwrap();
        assert_eq!((first.type_name(), first.size), ("non-final text", 4));
        assert_eq!(connection.parse().unwrap().unwrap().type_name(), "final continuation");
        assert_eq!(connection.parse().unwrap().unwrap().kind, Kind::Ping);
        assert!(connection.parse().unwrap().is_none());
        assert!(
            matches!(connection.incomplete_frame_error(), SampleFailure::Io(why) if why.ends_with("length 5, but can only read 1 bytes"))
        );
    }

    #[test]
    fn invalid_frames_are_reported() {
        let failure = |bytes: &[u8]| connection_with(bytes).parse().unwrap_err();
        assert!(
            matches!(failure(&[0x83, 0]), SampleFailure::Thrown(why) if why.ends_with("unsupported frame type: 3"))
        );
        assert!(
            matches!(failure(&[0x80, 0]), SampleFailure::Io(why) if why == "no continuation frame expected")
        );
        let long = [0x82, 127, 0, 0, 0, 0, 0x04, 0, 0, 0];
        assert!(matches!(failure(&long), SampleFailure::Limited(why) if why.contains("64 MiB")));
        let large = [0x82, 127, 0, 0, 0, 0, 0x80, 0, 0, 0];
        assert!(matches!(failure(&large), SampleFailure::Thrown(why) if why.contains("Frame too large")));
        assert!(
            matches!(connection_with(&[0x82]).incomplete_frame_error(), SampleFailure::Io(why) if why == "end of stream")
        );
    }
}
