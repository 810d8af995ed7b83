//! Reading one HTTP/1.1 response, piece by piece as it arrives.

use std::mem::MaybeUninit;

use crate::failure::Failure;

/// A response head larger than this is endless as far as a load test is concerned.
pub const HEAD_BYTES_MAX: usize = 1 << 20;

/// Headers parsed without an allocation; longer heads take a detour.
const FEW_HEADERS: usize = 64;

/// Headers a response may have at most.
const MANY_HEADERS: usize = 4096;

/// Who is told of the parts of a response.
pub trait Sink {
    /// The head is there (not called for `1xx`).
    fn head(&mut self, head: &httparse::Response<'_, '_>);
    /// A piece of the body, without chunk headers.
    fn body(&mut self, piece: &[u8]);
    /// Whether pieces of the body are of no interest, so that they need not even be read into memory.
    fn ignores_body(&self) -> bool;
}

/// How far a response has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// It is complete.
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Sized(u64),
    UntilClose,
    ChunkSize { size: u64, digits: u8 },
    ChunkExtension { size: u64 },
    ChunkData(u64),
    ChunkEnd,
    Trailer { empty: bool },
    Done,
}

/// Requests whose responses have no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    /// HEAD: none has.
    Head,
    /// CONNECT: a tunnel begins where the body of a successful one would.
    Connect,
    /// Any other.
    Other,
}

/// Reads one response.
#[derive(Debug)]
pub struct ResponseReader {
    state: State,
    pending: Vec<u8>,
    /// What the request was, as far as it matters.
    to: To,
    /// A body belongs to the response, even if it may be an empty one.
    pub has_body: bool,
    /// Bytes of the head(s).
    pub head_bytes: u64,
    /// Bytes of the body on the wire, chunk headers included.
    pub body_bytes: u64,
    /// Content-Length as the response says it.
    pub content_length: Option<u64>,
    /// Whether the connection can be used again.
    pub keeps_alive: bool,
    /// Seconds the server promises to keep the connection (`Keep-Alive: timeout=`).
    pub keep_alive_s: Option<u64>,
}

impl ResponseReader {
    /// A reader of the response to a request; `to_head_request`: to a HEAD request, whose response has no body.
    #[must_use]
    pub fn new(to_head_request: bool) -> Self {
        Self::of(if to_head_request { To::Head } else { To::Other })
    }

    /// A reader of a proxy's response to a request for a tunnel.
    #[must_use]
    pub fn to_connect() -> Self {
        Self::of(To::Connect)
    }

    fn of(to: To) -> Self {
        Self {
            state: State::Head,
            pending: Vec::new(),
            to,
            has_body: false,
            head_bytes: 0,
            body_bytes: 0,
            content_length: None,
            keeps_alive: false,
            keep_alive_s: None,
        }
    }

    /// Whether nothing of the response has arrived yet.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.head_bytes == 0 && self.pending.is_empty()
    }

    /// Whether the response is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// How many bytes may be skipped unseen: the rest of a body of known size.
    #[must_use]
    pub fn skippable(&self) -> u64 {
        match self.state {
            State::Sized(left) => left,
            _ => 0,
        }
    }

    /// Bytes were skipped unseen; those beyond the body are of nobody's asking, and end the connection.
    pub fn skipped(&mut self, bytes: u64) -> Progress {
        if let State::Sized(left) = &mut self.state {
            let own = bytes.min(*left);
            *left -= own;
            self.body_bytes += own;
            if *left == 0 {
                self.state = State::Done;
            }
            self.keeps_alive &= bytes == own;
        }
        if self.is_done() { Progress::Done } else { Progress::More }
    }

    /// Takes what has arrived.
    ///
    /// # Errors
    /// The bytes are no HTTP response.
    pub fn feed(&mut self, mut bytes: &[u8], sink: &mut impl Sink) -> Result<Progress, Failure> {
        while !bytes.is_empty() {
            let used = match self.state {
                State::Head => match self.feed_head(bytes, sink)? {
                    Some(used) => used,
                    None => return Ok(Progress::More),
                },
                State::Done => {
                    // Bytes nobody asked for: the connection is of no more use.
                    self.keeps_alive = false;
                    return Ok(Progress::Done);
                }
                _ => self.feed_body(bytes, sink)?,
            };
            bytes = &bytes[used..];
        }
        Ok(if self.is_done() { Progress::Done } else { Progress::More })
    }

    /// The other side has closed the connection.
    ///
    /// # Errors
    /// The response is not complete; `authority` (`host:port`) goes into the message.
    pub fn end(&mut self, authority: &str) -> Result<(), Failure> {
        match self.state {
            State::Done => Ok(()),
            State::UntilClose => {
                self.state = State::Done;
                Ok(())
            }
            State::Head if self.pending.is_empty() => Err(Failure::no_response(authority)),
            State::Head => Err(Failure::protocol()),
            State::Sized(left) => {
                let expected = self.content_length.unwrap_or(left);
                let message = format!(
                    "Premature end of Content-Length delimited message body (expected: {}; received: {})",
                    grouped(expected),
                    grouped(expected - left)
                );
                Err(Failure::new("org.apache.http.ConnectionClosedException", message))
            }
            State::ChunkData(left) => {
                let message = format!("Truncated chunk (missing: {} bytes)", grouped(left));
                Err(Failure::new("org.apache.http.TruncatedChunkException", message))
            }
            _ => Err(Failure::new(
                "org.apache.http.ConnectionClosedException",
                "Premature end of chunk coded message body: closing chunk expected",
            )),
        }
    }

    /// Bytes used, or `None` when the head is still in pieces.
    fn feed_head(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, Failure> {
        if self.pending.is_empty() {
            return match self.parse(bytes, sink)? {
                Some(used) => Ok(Some(used)),
                None => {
                    self.pending.extend_from_slice(bytes);
                    Ok(None)
                }
            };
        }
        let mut head = std::mem::take(&mut self.pending);
        let before = head.len();
        head.extend_from_slice(bytes);
        match self.parse(&head, sink)? {
            Some(used) => Ok(Some(used - before)),
            None if head.len() > HEAD_BYTES_MAX => Err(Failure::new(
                "org.apache.http.MessageConstraintException",
                format!(
                    "Maximum size of the response head exceeded ({} bytes)",
                    grouped(HEAD_BYTES_MAX as u64)
                ),
            )),
            None => {
                self.pending = head;
                Ok(None)
            }
        }
    }

    fn parse(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, Failure> {
        let mut config = httparse::ParserConfig::default();
        config.allow_spaces_after_header_name_in_responses(true);
        config.allow_obsolete_multiline_headers_in_responses(true);
        config.ignore_invalid_headers_in_responses(true);
        let mut few = [const { MaybeUninit::uninit() }; FEW_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        match config.parse_response_with_uninit_headers(&mut response, bytes, &mut few) {
            Ok(httparse::Status::Complete(used)) => self.take_head(&response, used, sink).map(Some),
            Ok(httparse::Status::Partial) => Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                let mut many = vec![httparse::EMPTY_HEADER; MANY_HEADERS];
                let mut response = httparse::Response::new(&mut many);
                match config.parse_response(&mut response, bytes) {
                    Ok(httparse::Status::Complete(used)) => self.take_head(&response, used, sink).map(Some),
                    Ok(httparse::Status::Partial) => Ok(None),
                    Err(_) => Err(Failure::protocol()),
                }
            }
            Err(_) => Err(Failure::protocol()),
        }
    }

    fn take_head(
        &mut self,
        response: &httparse::Response<'_, '_>,
        used: usize,
        sink: &mut impl Sink,
    ) -> Result<usize, Failure> {
        self.head_bytes += used as u64;
        let status = response.code.unwrap_or(0);
        if (100..200).contains(&status) && status != 101 {
            return Ok(used);
        }
        let mut close = response.version == Some(0);
        let mut chunked = false;
        for header in &*response.headers {
            let name = header.name;
            // Lengths first: most headers are none of these.
            match name.len() {
                10 if name.eq_ignore_ascii_case("connection") => {
                    if header.value == b"keep-alive" {
                        close = false;
                    } else if contains_token(header.value, b"close") {
                        close = true;
                    } else if contains_token(header.value, b"keep-alive") {
                        close = false;
                    }
                }
                10 if name.eq_ignore_ascii_case("keep-alive") => {
                    self.keep_alive_s = keep_alive_timeout(header.value)
                }
                14 if name.eq_ignore_ascii_case("content-length") => {
                    let length =
                        std::str::from_utf8(header.value).ok().and_then(|text| text.trim().parse().ok());
                    // As HttpClient: what is no number does not count; of several, the last that is one does.
                    self.content_length = length.or(self.content_length);
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    chunked = contains_token(header.value, b"chunked");
                }
                _ => {}
            }
        }
        sink.head(response);
        self.keeps_alive = !close;
        let without_body = match self.to {
            To::Head => true,
            To::Connect => status / 100 == 2,
            To::Other => false,
        };
        self.state = if without_body || status == 204 || status == 304 || status == 205 {
            State::Done
        } else if chunked {
            State::ChunkSize { size: 0, digits: 0 }
        } else {
            match self.content_length {
                Some(0) => State::Done,
                Some(length) => State::Sized(length),
                None => {
                    self.keeps_alive = false;
                    State::UntilClose
                }
            }
        };
        self.has_body = self.state != State::Done;
        Ok(used)
    }

    fn feed_body(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<usize, Failure> {
        let bad_chunk = || Failure::new("org.apache.http.MalformedChunkCodingException", "Bad chunk header");
        let used = match &mut self.state {
            State::Sized(left) => {
                let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                sink.body(&bytes[..used]);
                *left -= used as u64;
                if *left == 0 {
                    self.state = State::Done;
                }
                used
            }
            State::UntilClose => {
                sink.body(bytes);
                bytes.len()
            }
            State::ChunkSize { size, digits } => {
                let byte = bytes[0];
                match char::from(byte).to_digit(16) {
                    Some(digit) if *digits < 15 => {
                        *size = *size << 4 | u64::from(digit);
                        *digits += 1;
                    }
                    Some(_) => return Err(bad_chunk()),
                    None if *digits == 0 => return Err(bad_chunk()),
                    None if byte == b'\n' => self.state = after_size(*size),
                    None => self.state = State::ChunkExtension { size: *size },
                }
                1
            }
            State::ChunkExtension { size } => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    self.state = after_size(*size);
                    at + 1
                }
                None => bytes.len(),
            },
            State::ChunkData(left) => {
                let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                sink.body(&bytes[..used]);
                *left -= used as u64;
                if *left == 0 {
                    self.state = State::ChunkEnd;
                }
                used
            }
            State::ChunkEnd => {
                match bytes[0] {
                    b'\r' => {}
                    b'\n' => self.state = State::ChunkSize { size: 0, digits: 0 },
                    _ => {
                        return Err(Failure::new(
                            "org.apache.http.MalformedChunkCodingException",
                            "CRLF expected at end of chunk",
                        ));
                    }
                }
                1
            }
            State::Trailer { empty } => {
                match bytes[0] {
                    b'\n' if *empty => self.state = State::Done,
                    b'\n' => *empty = true,
                    b'\r' => {}
                    _ => *empty = false,
                }
                1
            }
            State::Head | State::Done => 0,
        };
        self.body_bytes += used as u64;
        Ok(used)
    }
}

fn after_size(size: u64) -> State {
    if size == 0 { State::Trailer { empty: true } } else { State::ChunkData(size) }
}

fn contains_token(value: &[u8], token: &[u8]) -> bool {
    if value == token {
        return true;
    }
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

fn keep_alive_timeout(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let part = text.split(',').map(str::trim).find_map(|part| part.strip_prefix("timeout="))?;
    part.trim().parse().ok()
}

/// A number with commas between groups of three digits, as Java's `%,d` writes it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Collect {
        status: u16,
        body: Vec<u8>,
    }

    impl Sink for Collect {
        fn head(&mut self, head: &httparse::Response<'_, '_>) {
            self.status = head.code.unwrap_or(0);
        }
        fn body(&mut self, piece: &[u8]) {
            self.body.extend_from_slice(piece);
        }
        fn ignores_body(&self) -> bool {
            false
        }
    }

    fn read(bytes: &[u8], piece: usize) -> (Result<Progress, Failure>, Collect, ResponseReader) {
        let mut reader = ResponseReader::new(false);
        let mut sink = Collect::default();
        let mut last = Ok(Progress::More);
        for part in bytes.chunks(piece.max(1)) {
            last = reader.feed(part, &mut sink);
            if last != Ok(Progress::More) {
                break;
            }
        }
        (last, sink, reader)
    }

    const CHUNKED: &[u8] =
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: 1\r\n\r\n";

    #[test]
    fn pieces_of_any_size_give_the_same() {
        for piece in 1..CHUNKED.len() + 1 {
            let (end, sink, reader) = read(CHUNKED, piece);
            assert_eq!(end, Ok(Progress::Done), "{piece}");
            assert_eq!(sink.body, b"hello world");
            assert_eq!(sink.status, 200);
            assert!(reader.keeps_alive);
            assert_eq!(reader.head_bytes + reader.body_bytes, CHUNKED.len() as u64);
        }
    }

    #[test]
    fn sized_bodies_and_their_premature_end() {
        let (end, sink, mut reader) = read(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\nabc", 4096);
        assert_eq!(end, Ok(Progress::More));
        assert_eq!(sink.body, b"abc");
        assert_eq!(reader.skippable(), 1231);
        let failure = reader.end("h:80").unwrap_err();
        assert_eq!(
            failure.message,
            "Premature end of Content-Length delimited message body (expected: 1,234; received: 3)"
        );
        assert_eq!(reader.skipped(1000), Progress::More);
        assert_eq!(reader.skipped(231), Progress::Done);
        assert!(reader.keeps_alive);
        let (_, _, mut reader) = read(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\nabc", 4096);
        assert_eq!(reader.skipped(1232), Progress::Done);
        assert!(!reader.keeps_alive && reader.body_bytes == 1234);
    }

    #[test]
    fn what_ends_a_connection() {
        let (_, _, mut reader) = read(b"HTTP/1.0 200 OK\r\n\r\nabc", 7);
        assert!(!reader.keeps_alive);
        reader.end("h:80").unwrap();
        let (_, _, reader) = read(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 99);
        assert!(reader.is_done() && !reader.keeps_alive);
        let (_, _, reader) = read(b"HTTP/1.1 204 No\r\nKeep-Alive: timeout=5, max=3\r\n\r\n", 99);
        assert!(reader.is_done() && reader.keeps_alive);
        assert_eq!(reader.keep_alive_s, Some(5));
        assert_eq!(ResponseReader::new(false).end("h:80").unwrap_err(), Failure::no_response("h:80"));
    }

    #[test]
    fn endless_heads_are_given_up() {
        let mut reader = ResponseReader::new(false);
        let mut sink = Collect::default();
        let mut end = reader.feed(b"HTTP/1.1 200 OK\r\n", &mut sink);
        let line = [b"X-A: ".as_slice(), &[b'a'; 8000], b"\r\n"].concat();
        for _ in 0..300 {
            if end.is_err() {
                break;
            }
            end = reader.feed(&line, &mut sink);
        }
        assert!(end.is_err());
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400), piece in 1usize..50) {
            let (_, _, mut reader) = read(&bytes, piece);
            let _ = reader.end("h:80");
        }

        #[test]
        fn damaged_responses_never_panic(at in 0usize..120, byte in any::<u8>(), piece in 1usize..50) {
            let mut bytes = CHUNKED.to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            let (_, _, mut reader) = read(&bytes, piece);
            let _ = reader.end("h:80");
        }
    }
}
