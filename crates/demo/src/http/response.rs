//! A response and its encoding.

use std::cell::RefCell;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

/// The size of the output buffer of TicketMonster's server, which limits the size of a chunk.
const CHUNK_BYTES_MAX: usize = 8192;

/// Bodies up to this size are copied into the output buffer after their head; larger bodies are written without a copy.
const COPIED_BYTES_MAX: usize = 96 * 1024;

/// The response to one request.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    /// The status code.
    pub(crate) status: u16,
    /// The absolute URL of the created entity, or of the target of a redirect.
    pub(crate) location: Option<String>,
    /// The methods that are allowed.
    pub(crate) allow: Option<&'static str>,
    /// The body.
    pub(crate) body: Body,
}

/// The body of a response, which determines its framing.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// No body and no length (204).
    Absent,
    /// `Content-Length: 0`.
    Empty,
    /// `application/json`: chunked, unless the connection is to be closed after it.
    Json(Bytes),
    /// JSON with the parameter `charset=utf-8`.
    JsonUtf8(Bytes),
    /// A body with this media type and a `Content-Length`.
    Sized(&'static str, Bytes),
}

impl Response {
    /// Creates a response without location and allowed methods.
    pub(crate) fn new(status: u16, body: Body) -> Self {
        Self { status, location: None, allow: None, body }
    }

    /// Creates a response with status 200 and a JSON body.
    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self::new(200, Body::Json(body.into()))
    }

    /// Creates a response with status 201 and the URL of the created entity.
    pub(crate) fn created(location: String) -> Self {
        Self { location: Some(location), ..Self::new(201, Body::Empty) }
    }

    /// Creates a response with status 302 and the target URL.
    pub(crate) fn moved(location: String) -> Self {
        Self { location: Some(location), ..Self::new(302, Body::Empty) }
    }

    /// Creates a response with status 204.
    pub(crate) fn no_content() -> Self {
        Self::new(204, Body::Absent)
    }

    /// Whether TicketMonster's server closes the connection after a response with this status, regardless of the request.
    fn drops_connection(&self) -> bool {
        matches!(self.status, 400 | 408 | 411 | 413 | 414 | 500 | 501 | 503)
    }
}

/// The options for encoding one response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseOptions {
    /// Whether the client can read chunks: HTTP/1.1 and no `Connection: close`.
    pub(crate) keep_alive: bool,
    /// Whether only the head is sent (`HEAD`).
    pub(crate) head_only: bool,
}

/// Appends the response to `out`. Returns whether the connection stays open, and the body if it is large; the caller writes
/// such a body after `out` without copying it.
pub(crate) fn write(
    response: &Response,
    options: ResponseOptions,
    out: &mut Vec<u8>,
) -> (bool, Option<Bytes>) {
    let stays = options.keep_alive && !response.drops_connection();
    out.extend_from_slice(status_line(response.status));
    out.extend_from_slice(b"Server: Apache-Coyote/1.1\r\n");
    if let Some(allow) = response.allow {
        header(out, b"Allow: ", allow);
    }
    if let Some(location) = &response.location {
        header(out, b"Location: ", location);
    }
    let mut chunked = false;
    match &response.body {
        Body::Absent => {}
        Body::Empty => out.extend_from_slice(b"Content-Length: 0\r\n"),
        Body::Json(_) | Body::JsonUtf8(_) => {
            out.extend_from_slice(match response.body {
                Body::JsonUtf8(_) => b"Content-Type: application/json;charset=utf-8\r\n",
                _ => b"Content-Type: application/json\r\n".as_slice(),
            });
            // TicketMonster selects chunked encoding by the headers of the *request*, before it checks the status.
            chunked = options.keep_alive;
            if chunked {
                out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            }
        }
        Body::Sized(content_type, bytes) => {
            header(out, b"Content-Type: ", content_type);
            let _ = write!(out, "Content-Length: {}\r\n", bytes.len());
        }
    }
    append_date(out);
    if !stays {
        out.extend_from_slice(b"Connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
    if options.head_only {
        return (stays, None);
    }
    match &response.body {
        Body::Json(bytes) | Body::JsonUtf8(bytes) if chunked => append_chunks(out, bytes),
        Body::Json(bytes) | Body::JsonUtf8(bytes) | Body::Sized(_, bytes) => {
            if bytes.len() > COPIED_BYTES_MAX {
                return (stays, Some(bytes.clone()));
            }
            out.extend_from_slice(bytes);
        }
        Body::Absent | Body::Empty => {}
    }
    (stays, None)
}

fn header(out: &mut Vec<u8>, name: &[u8], value: &str) {
    out.extend_from_slice(name);
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn append_chunks(out: &mut Vec<u8>, body: &[u8]) {
    for chunk in body.chunks(CHUNK_BYTES_MAX) {
        let _ = write!(out, "{:x}\r\n", chunk.len());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

/// Appends the header `Date`.
pub(crate) fn append_date(out: &mut Vec<u8>) {
    thread_local! {
        /// The cached `Date` header line, and the second for which it is valid.
        static LINE: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
    }
    let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    LINE.with_borrow_mut(|(cached_second, line)| {
        if *cached_second != second {
            *cached_second = second;
            let stamp =
                i64::try_from(second).ok().and_then(|second| jiff::Timestamp::from_second(second).ok());
            let text = stamp
                .and_then(|stamp| {
                    jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&stamp).ok()
                })
                .unwrap_or_default();
            *line = format!("Date: {text}\r\n");
        }
        out.extend_from_slice(line.as_bytes());
    });
}

fn status_line(status: u16) -> &'static [u8] {
    match status {
        200 => b"HTTP/1.1 200 OK\r\n",
        201 => b"HTTP/1.1 201 Created\r\n",
        204 => b"HTTP/1.1 204 No Content\r\n",
        302 => b"HTTP/1.1 302 Moved Temporarily\r\n",
        400 => b"HTTP/1.1 400 Bad Request\r\n",
        404 => b"HTTP/1.1 404 Not Found\r\n",
        405 => b"HTTP/1.1 405 Method Not Allowed\r\n",
        406 => b"HTTP/1.1 406 Not Acceptable\r\n",
        409 => b"HTTP/1.1 409 Conflict\r\n",
        413 => b"HTTP/1.1 413 Request Entity Too Large\r\n",
        415 => b"HTTP/1.1 415 Unsupported Media Type\r\n",
        501 => b"HTTP/1.1 501 Not Implemented\r\n",
        _ => b"HTTP/1.1 500 Internal Server Error\r\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: ResponseOptions = ResponseOptions { keep_alive: true, head_only: false };
    const CLOSE: ResponseOptions = ResponseOptions { keep_alive: false, head_only: false };

    fn sent(response: &Response, options: ResponseOptions) -> (String, usize) {
        let mut out = Vec::new();
        write(response, options, &mut out);
        let head_bytes = out.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
        (String::from_utf8(out).expect("text"), head_bytes)
    }

    #[test]
    fn a_chunked_json_head_has_143_bytes() {
        let (text, head_bytes) = sent(&Response::json("[]"), OPEN);
        assert_eq!(head_bytes, 143);
        let names: Vec<&str> =
            text[..head_bytes].lines().skip(1).filter_map(|l| l.split(": ").next()).collect();
        assert_eq!(names, ["Server", "Content-Type", "Transfer-Encoding", "Date", ""]);
        assert!(text.ends_with("2\r\n[]\r\n0\r\n\r\n"), "{text}");
    }

    #[test]
    fn a_closing_json_head_has_134_bytes_and_no_chunks() {
        let (text, head_bytes) = sent(&Response::json("[]"), CLOSE);
        assert_eq!(head_bytes, 134);
        assert!(text.ends_with("GMT\r\nConnection: close\r\n\r\n[]"), "{text}");
    }

    #[test]
    fn chunks_contain_at_most_8192_bytes() {
        let (text, head_bytes) = sent(&Response::json("x".repeat(8192 * 2 + 617)), OPEN);
        let body = &text[head_bytes..];
        assert!(body.starts_with("2000\r\nx"));
        assert_eq!(body.len(), 8192 * 2 + 617 + 2 * 8 + 7 + 5);
        assert_eq!(body.matches("2000\r\n").count(), 2);
        assert!(body.contains("\r\n269\r\nx"));
    }

    #[test]
    fn created_and_no_content_have_no_body() {
        let (text, head_bytes) = sent(&Response::created("http://h/1".into()), OPEN);
        assert_eq!(head_bytes, text.len());
        assert!(text.starts_with(
            "HTTP/1.1 201 Created\r\nServer: Apache-Coyote/1.1\r\nLocation: http://h/1\r\nContent-Length: 0\r\nDate: "
        ));
        let (text, head_bytes) = sent(&Response::no_content(), OPEN);
        assert_eq!(head_bytes, text.len());
        assert!(!text.contains("Content-Length") && !text.contains("Transfer-Encoding"), "{text}");
    }

    #[test]
    fn bad_requests_close_the_connection_and_missing_entities_do_not() {
        for (status, stays) in
            [(400, false), (500, false), (404, true), (405, true), (406, true), (415, true)]
        {
            let mut out = Vec::new();
            let (open, _) =
                write(&Response::new(status, Body::Json(Bytes::from_static(b"{}"))), OPEN, &mut out);
            assert_eq!(open, stays, "{status}");
            assert_eq!(!stays, String::from_utf8_lossy(&out).contains("Connection: close\r\n"), "{status}");
        }
    }
}
