//! Parses one HTTP/1.1 response incrementally as it arrives.

use std::mem::MaybeUninit;

use busyhour_limits::Limit;

use crate::failure::Failure;

/// The maximum size of a response head. HttpClient has no limit by default: a JVM runs out of memory instead.
pub const HEAD_BYTES_MAX: usize = 1 << 20;

/// The number of headers that are parsed without an allocation; longer heads use the slower parser.
const FEW_HEADERS: usize = 64;

/// The maximum number of headers of a response. HttpClient has no limit by default.
pub const HEADERS_MAX: usize = 65_536;

/// The maximum number of interim (`1xx`) responses before the final one.
pub const INTERIM_RESPONSES_MAX: u32 = 100;

/// The maximum size of the extension of one chunk.
pub const CHUNK_EXTENSION_BYTES_MAX: u32 = 16 * 1024;

/// The maximum size of the trailers after a chunked body.
pub const TRAILER_BYTES_MAX: u32 = 1 << 20;

/// A partial head up to this length is parsed again with each piece. Longer ones are parsed only when their length has
/// doubled and at their end; otherwise the time would grow with the square of the length.
const PARSED_EACH_TIME_BYTES: usize = 4096;

/// Receives the parts of a response.
pub trait Sink {
    /// Receives the head. Not called for interim responses (`1xx` except 101).
    ///
    /// # Errors
    /// If the sink stops reading the response: its reason.
    fn head(&mut self, head: &httparse::Response<'_, '_>) -> Result<(), Failure>;
    /// Receives a piece of the body, without chunk headers.
    ///
    /// # Errors
    /// If the sink stops reading the response: its reason.
    fn body(&mut self, piece: &[u8]) -> Result<(), Failure>;
    /// Whether the body is not needed, so that it does not have to be read into memory.
    fn ignores_body(&self) -> bool;
}

/// The progress of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseProgress {
    /// More bytes are needed.
    More,
    /// The response is complete.
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Sized(u64),
    UntilClose,
    ChunkSize { size: u64, digits: u8 },
    ChunkExtension { size: u64, bytes: u32 },
    ChunkData(u64),
    ChunkEnd,
    Trailer { empty: bool, bytes: u32 },
    Done,
}

/// The kind of request, as far as it determines whether the response has a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    /// HEAD: the response never has a body.
    Head,
    /// CONNECT: after a successful response the tunnel begins instead of a body.
    Connect,
    /// Any other request.
    Other,
}

/// Parses one response.
#[derive(Debug)]
pub struct ResponseReader {
    state: State,
    pending: Vec<u8>,
    /// The number of bytes at which an incomplete head is parsed again.
    parsed_again_at: usize,
    /// The number of bytes of line ends before the head, which are skipped.
    blank_bytes: usize,
    /// The number of interim responses so far.
    interim: u32,
    /// The kind of request.
    kind: RequestKind,
    /// Whether the response has a body, possibly empty.
    pub has_body: bool,
    /// The size of the head, including those of interim responses.
    pub head_bytes: u64,
    /// The size of the body on the wire, including chunk headers.
    pub body_bytes: u64,
    /// The Content-Length header.
    pub content_length: Option<u64>,
    /// Whether the connection can be used again.
    pub keeps_alive: bool,
    /// The number of seconds for which the server keeps the connection open (`Keep-Alive: timeout=`).
    pub keep_alive_s: Option<u64>,
}

impl ResponseReader {
    /// Creates a reader for the response to a request; `to_head_request`: the response to a HEAD request, which has no
    /// body.
    #[must_use]
    pub fn new(to_head_request: bool) -> Self {
        Self::new_for(if to_head_request { RequestKind::Head } else { RequestKind::Other })
    }

    /// Creates a reader for a proxy's response to a CONNECT request.
    #[must_use]
    pub fn to_connect() -> Self {
        Self::new_for(RequestKind::Connect)
    }

    fn new_for(kind: RequestKind) -> Self {
        Self {
            state: State::Head,
            pending: Vec::new(),
            parsed_again_at: 0,
            blank_bytes: 0,
            interim: 0,
            kind,
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

    /// The number of bytes that may be skipped unread: the rest of a body of known size.
    #[must_use]
    pub fn skippable(&self) -> u64 {
        match self.state {
            State::Sized(left) => left,
            _ => 0,
        }
    }

    /// Records skipped bytes; if bytes beyond the body were skipped, the connection cannot be reused.
    pub fn skipped(&mut self, bytes: u64) -> ResponseProgress {
        if let State::Sized(left) = &mut self.state {
            let own = bytes.min(*left);
            *left -= own;
            self.body_bytes += own;
            if *left == 0 {
                self.state = State::Done;
            }
            self.keeps_alive &= bytes == own;
        }
        if self.is_done() { ResponseProgress::Done } else { ResponseProgress::More }
    }

    /// Parses received bytes.
    ///
    /// # Errors
    /// If the bytes are not an HTTP response.
    pub fn feed(&mut self, mut bytes: &[u8], sink: &mut impl Sink) -> Result<ResponseProgress, Failure> {
        while !bytes.is_empty() {
            let used = match self.state {
                State::Head => match self.feed_head(bytes, sink)? {
                    Some(used) => used,
                    None => return Ok(ResponseProgress::More),
                },
                State::Done => {
                    // Unexpected bytes: the connection cannot be reused.
                    self.keeps_alive = false;
                    return Ok(ResponseProgress::Done);
                }
                _ => self.feed_body(bytes, sink)?,
            };
            bytes = &bytes[used..];
        }
        Ok(if self.is_done() { ResponseProgress::Done } else { ResponseProgress::More })
    }

    /// Ends the response when the server has closed the connection.
    ///
    /// # Errors
    /// If the response is incomplete; the message contains `authority` (`host:port`).
    pub fn end(&mut self, authority: &str) -> Result<(), Failure> {
        match self.state {
            State::Done => Ok(()),
            State::UntilClose => {
                self.state = State::Done;
                Ok(())
            }
            State::Head if self.pending.is_empty() && self.blank_bytes == 0 => {
                Err(Failure::no_response(authority))
            }
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

    /// Parses the head. Returns the number of bytes used, or `None` if the head is still incomplete.
    fn feed_head(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, Failure> {
        if self.pending.is_empty() {
            let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if blank > 0 {
                self.blank_bytes += blank;
                self.head_bytes += blank as u64;
                return self.check_head_length(0).map(|()| Some(blank));
            }
            return match self.parse(bytes, sink)? {
                Some(used) => Ok(Some(used)),
                None => {
                    self.pending.extend_from_slice(bytes);
                    self.parsed_again_at = 2 * bytes.len();
                    Ok(None)
                }
            };
        }
        let mut head = std::mem::take(&mut self.pending);
        let before = head.len();
        head.extend_from_slice(bytes);
        let is_due = head.len() <= PARSED_EACH_TIME_BYTES
            || head.len() >= self.parsed_again_at
            || contains_head_end(&head[before.saturating_sub(3)..]);
        if is_due {
            if let Some(used) = self.parse(&head, sink)? {
                return used.checked_sub(before).map(Some).ok_or_else(Failure::protocol);
            }
            self.parsed_again_at = 2 * head.len();
        }
        self.check_head_length(head.len())?;
        self.pending = head;
        Ok(None)
    }

    fn check_head_length(&self, pending: usize) -> Result<(), Failure> {
        if self.blank_bytes + pending > HEAD_BYTES_MAX {
            let what = "size of the response head";
            return Err(Failure::constraint(Limit::HeadBytes, what, HEAD_BYTES_MAX as u64));
        }
        Ok(())
    }

    fn parse(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, Failure> {
        use httparse::Error;
        let mut config = httparse::ParserConfig::default();
        config.allow_spaces_after_header_name_in_responses(true);
        config.allow_obsolete_multiline_headers_in_responses(true);
        let mut few = [const { MaybeUninit::uninit() }; FEW_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        match config.parse_response_with_uninit_headers(&mut response, bytes, &mut few) {
            Ok(httparse::Status::Complete(used)) => self.take_head(&response, used, sink).map(Some),
            Ok(httparse::Status::Partial) => Ok(None),
            Err(Error::TooManyHeaders | Error::HeaderName | Error::HeaderValue | Error::NewLine) => {
                self.parse_leniently(bytes, sink)
            }
            Err(Error::Status | Error::Token | Error::Version) => Err(Failure::protocol()),
        }
    }

    /// Parses a head with many headers, or with bytes that HTTP does not allow but HttpClient accepts. Lines without a
    /// colon are skipped.
    fn parse_leniently(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, Failure> {
        let mut at = 0;
        let Some(status_line) = next_line(bytes, &mut at) else { return Ok(None) };
        let status_line = [status_line, b"\r\n\r\n"].concat();
        let mut status = httparse::Response::new(&mut []);
        if !matches!(status.parse(&status_line), Ok(httparse::Status::Complete(_))) {
            return Err(Failure::protocol());
        }
        let mut headers: Vec<httparse::Header<'_>> = Vec::new();
        // The start and end of the value of the last header; `None` if the last line has no colon.
        let mut value: Option<(usize, usize)> = None;
        loop {
            let line_at = at;
            let Some(line) = next_line(bytes, &mut at) else { return Ok(None) };
            if line.first().is_some_and(|first| matches!(first, b' ' | b'\t')) {
                // A folded line continues the previous value.
                value = value.map(|(begin, _)| (begin, line_at + line.len()));
                continue;
            }
            // Trim only once per value, because it may begin with any number of blank lines.
            if let (Some((begin, end)), Some(last)) = (value.take(), headers.last_mut()) {
                last.value = bytes[begin..end].trim_ascii();
            }
            if line.is_empty() {
                break;
            }
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let Ok(name) = std::str::from_utf8(line[..colon].trim_ascii()) else { continue };
            if headers.len() == HEADERS_MAX {
                let most = HEADERS_MAX as u64;
                return Err(Failure::constraint(Limit::Headers, "header count", most));
            }
            value = Some((line_at + colon + 1, line_at + line.len()));
            headers.push(httparse::Header { name, value: b"" });
        }
        let mut response = httparse::Response::new(&mut headers);
        (response.version, response.code, response.reason) = (status.version, status.code, status.reason);
        self.take_head(&response, at, sink).map(Some)
    }

    fn take_head(
        &mut self,
        response: &httparse::Response<'_, '_>,
        used: usize,
        sink: &mut impl Sink,
    ) -> Result<usize, Failure> {
        self.head_bytes += used as u64;
        self.blank_bytes = 0;
        let status = response.code.unwrap_or(0);
        if (100..200).contains(&status) && status != 101 {
            self.interim += 1;
            if self.interim > INTERIM_RESPONSES_MAX {
                let what = "number of interim (1xx) responses";
                let most = u64::from(INTERIM_RESPONSES_MAX);
                return Err(Failure::constraint(Limit::InterimResponses, what, most));
            }
            return Ok(used);
        }
        let mut close = response.version == Some(0);
        let mut chunked = false;
        for header in &*response.headers {
            let name = header.name;
            // Lengths are compared first, because most headers match none of these.
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
                    // As in HttpClient, an invalid number is ignored; if there are several headers, the last valid one is used.
                    self.content_length = length.or(self.content_length);
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    chunked = contains_token(header.value, b"chunked");
                }
                _ => {}
            }
        }
        sink.head(response)?;
        self.keeps_alive = !close;
        let without_body = match self.kind {
            RequestKind::Head => true,
            RequestKind::Connect => status / 100 == 2,
            RequestKind::Other => false,
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
                sink.body(&bytes[..used])?;
                *left -= used as u64;
                if *left == 0 {
                    self.state = State::Done;
                }
                used
            }
            State::UntilClose => {
                sink.body(bytes)?;
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
                    None => self.state = State::ChunkExtension { size: *size, bytes: 0 },
                }
                1
            }
            State::ChunkExtension { size, bytes: seen } => {
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let used = end.map_or(bytes.len(), |at| at + 1);
                *seen = seen.saturating_add(u32::try_from(used).unwrap_or(u32::MAX));
                if *seen > CHUNK_EXTENSION_BYTES_MAX {
                    let most = u64::from(CHUNK_EXTENSION_BYTES_MAX);
                    let limit = Limit::ChunkExtensionBytes;
                    return Err(Failure::constraint(limit, "size of a chunk extension", most));
                }
                if end.is_some() {
                    self.state = after_size(*size);
                }
                used
            }
            State::ChunkData(left) => {
                let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                sink.body(&bytes[..used])?;
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
            State::Trailer { empty, bytes: seen } => {
                *seen += 1;
                if *seen > TRAILER_BYTES_MAX {
                    let most = u64::from(TRAILER_BYTES_MAX);
                    return Err(Failure::constraint(Limit::TrailerBytes, "size of the trailers", most));
                }
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
    if size == 0 { State::Trailer { empty: true, bytes: 0 } } else { State::ChunkData(size) }
}

/// Returns the next line without its end; `None` if its end has not arrived.
fn next_line<'b>(bytes: &'b [u8], at: &mut usize) -> Option<&'b [u8]> {
    let rest = bytes.get(*at..)?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    *at += end + 1;
    let line = &rest[..end];
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Whether these bytes contain the empty line at the end of a head.
fn contains_head_end(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|two| two == b"\n\n") || bytes.windows(3).any(|three| three == b"\n\r\n")
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

/// Formats a number with commas between groups of three digits, like Java's `%,d`.
pub(crate) fn grouped(number: u64) -> String {
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
mod tests;
