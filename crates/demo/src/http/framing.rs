//! Finds the requests in the received bytes.

use std::ops::Range;

use httparse::Status;

/// Maximum size of a head (request line and headers), in bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Maximum size of a body in bytes, the same as in TicketMonster's server.
pub(crate) const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
const HEADERS_MAX: usize = 100;

/// A parsed head; the ranges refer to the buffer from which it was parsed.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) method: Range<usize>,
    pub(crate) target: Range<usize>,
    pub(crate) host: Option<Range<usize>>,
    pub(crate) accept: Option<Range<usize>>,
    pub(crate) accept_encoding: Option<Range<usize>>,
    pub(crate) content_type: Option<Range<usize>>,
    /// Whether the connection stays open: the client uses HTTP/1.1 and did not send `Connection: close`. Other clients get
    /// no chunks, so the body must end with the connection.
    pub(crate) keep_alive: bool,
    pub(crate) expects_continue: bool,
    /// The length of the head in bytes.
    pub(crate) bytes: usize,
    pub(crate) length: BodyLength,
}

/// The framing of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Fixed(usize),
    Chunked,
}

/// The reason why the bytes are not a valid request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FramingError {
    /// The bytes are not HTTP/1.x.
    Malformed,
    /// The head or the body exceeds its maximum size.
    TooLarge,
    /// The transfer coding is not `chunked`.
    Coding,
}

/// Parses the head at the start of `buffer`; `None` if more bytes are needed.
pub(crate) fn parse_head(buffer: &[u8]) -> Result<Option<Head>, FramingError> {
    let mut slots = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut slots);
    let bytes = match request.parse(buffer) {
        Ok(Status::Complete(bytes)) => bytes,
        Ok(Status::Partial) if buffer.len() > HEAD_BYTES_MAX => return Err(FramingError::TooLarge),
        Ok(Status::Partial) => return Ok(None),
        Err(_) => return Err(FramingError::Malformed),
    };
    let place = |part: &[u8]| {
        // `part` is a slice of `buffer`, so the difference of the addresses is its offset.
        let start = part.as_ptr() as usize - buffer.as_ptr() as usize;
        start..start + part.len()
    };
    let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
        return Err(FramingError::Malformed);
    };
    let mut head = Head {
        method: place(method.as_bytes()),
        target: place(target.as_bytes()),
        host: None,
        accept: None,
        accept_encoding: None,
        content_type: None,
        keep_alive: version == 1,
        expects_continue: false,
        bytes,
        length: BodyLength::Fixed(0),
    };
    let mut fixed: Option<usize> = None;
    for header in request.headers.iter() {
        let value = header.value.trim_ascii();
        let named = |name: &str| header.name.eq_ignore_ascii_case(name);
        match header.name.len() {
            4 if named("Host") => head.host = Some(place(value)),
            6 if named("Accept") => head.accept = head.accept.or(Some(place(value))),
            6 if named("Expect") => head.expects_continue = value.eq_ignore_ascii_case(b"100-continue"),
            10 if named("Connection") => {
                let mut options = value.split(|byte| *byte == b',');
                if options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close")) {
                    head.keep_alive = false;
                }
            }
            12 if named("Content-Type") => head.content_type = Some(place(value)),
            14 if named("Content-Length") => {
                let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                let length: usize = length.ok_or(FramingError::Malformed)?;
                if fixed.is_some_and(|other| other != length) {
                    return Err(FramingError::Malformed);
                }
                fixed = Some(length);
            }
            15 if named("Accept-Encoding") => head.accept_encoding = Some(place(value)),
            17 if named("Transfer-Encoding") => {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(FramingError::Coding);
                }
                head.length = BodyLength::Chunked;
            }
            _ => {}
        }
    }
    if version == 1 && head.host.is_none() {
        return Err(FramingError::Malformed);
    }
    if let (BodyLength::Fixed(_), Some(length)) = (head.length, fixed) {
        if length > BODY_BYTES_MAX {
            return Err(FramingError::TooLarge);
        }
        head.length = BodyLength::Fixed(length);
    }
    Ok(Some(head))
}

/// Decodes the chunked body at the start of `buffer`. Returns the body and its encoded length; `None` if more bytes are
/// needed.
pub(crate) fn decode_chunked(buffer: &[u8]) -> Result<Option<(Vec<u8>, usize)>, FramingError> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let (line, size) = match httparse::parse_chunk_size(&buffer[at..]) {
            Ok(Status::Complete(found)) => found,
            Ok(Status::Partial) if buffer.len() > 2 * BODY_BYTES_MAX => return Err(FramingError::TooLarge),
            Ok(Status::Partial) => return Ok(None),
            Err(_) => return Err(FramingError::Malformed),
        };
        at += line;
        let size = usize::try_from(size).map_err(|_| FramingError::TooLarge)?;
        if body.len().saturating_add(size) > BODY_BYTES_MAX {
            return Err(FramingError::TooLarge);
        }
        if size == 0 {
            return Ok(trailers_end(&buffer[at..]).map(|bytes| (body, at + bytes)));
        }
        if buffer.len() < at + size + 2 {
            return Ok(None);
        }
        body.extend_from_slice(&buffer[at..at + size]);
        if &buffer[at + size..at + size + 2] != b"\r\n" {
            return Err(FramingError::Malformed);
        }
        at += size + 2;
    }
}

/// The length of the trailer section, including its empty last line.
fn trailers_end(buffer: &[u8]) -> Option<usize> {
    if buffer.starts_with(b"\r\n") {
        return Some(2);
    }
    buffer.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_head_is_parsed_only_when_it_is_complete() {
        let text = b"POST /x?y HTTP/1.1\r\nHost: h:1\r\nConnection: Close\r\ncontent-length: 3\r\n\r\nabcGET";
        for cut in 0..text.len() - 6 {
            assert!(parse_head(&text[..cut]).expect("still good").is_none(), "{cut}");
        }
        let head = parse_head(text).expect("good").expect("whole");
        assert_eq!(&text[head.target.clone()], b"/x?y");
        assert_eq!(&text[head.host.clone().expect("host")], b"h:1");
        assert!(!head.keep_alive);
        assert_eq!(head.length, BodyLength::Fixed(3));
        assert_eq!(head.bytes, text.len() - 6);
    }

    #[test]
    fn contradictory_headers_are_rejected() {
        let refused = |text: &[u8]| parse_head(text).expect_err("refused");
        assert_eq!(refused(b"GET / HTTP/1.1\r\n\r\n"), FramingError::Malformed);
        assert_eq!(
            refused(b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            FramingError::Malformed
        );
        assert_eq!(
            refused(b"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"),
            FramingError::Coding
        );
        assert_eq!(
            refused(b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\n"),
            FramingError::TooLarge
        );
        assert_eq!(refused(b"nonsense\r\n\r\n"), FramingError::Malformed);
    }

    #[test]
    fn only_http_1_1_keeps_the_connection_open() {
        let keeps = |text: &str| parse_head(text.as_bytes()).expect("good").expect("whole").keep_alive;
        assert!(keeps("GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"));
        assert!(!keeps("GET / HTTP/1.1\r\nHost: h\r\nConnection: TE, close\r\n\r\n"));
        assert!(!keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_parsed(bytes in prop::collection::vec(any::<u8>(), 0..200), start in 0_usize..4) {
            let starts = [&b""[..], b"GET / HTTP/1.1\r\nHost: h\r\n", b"POST / HTTP/1.1\r\nContent-Length: ", b"5\r\nabc"];
            let text = [starts[start], &bytes].concat();
            if let Ok(Some(head)) = parse_head(&text) {
                prop_assert!(head.bytes <= text.len());
            }
            if let Ok(Some((body, length))) = decode_chunked(&text) {
                prop_assert!(body.len() < length && length <= text.len());
            }
        }
    }

    #[test]
    fn chunks_are_joined() {
        let text = b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nGET";
        for cut in 0..text.len() - 3 {
            assert!(decode_chunked(&text[..cut]).expect("still good").is_none(), "{cut}");
        }
        assert_eq!(decode_chunked(text), Ok(Some((b"abcde".to_vec(), text.len() - 3))));
        assert_eq!(decode_chunked(b"1\r\nabc"), Err(FramingError::Malformed));
        assert_eq!(decode_chunked(b"0\r\nX: y\r\n\r\n"), Ok(Some((Vec::new(), 11))));
    }
}
