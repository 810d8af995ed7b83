//! Responses of the stand-in server.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use crate::request::ReceivedRequest;

/// The bytes of a response, and whether the connection is closed after it.
pub(crate) struct WireResponse {
    pub(crate) bytes: Vec<u8>,
    pub(crate) close: bool,
    pub(crate) delay: Option<Duration>,
}

/// A response under construction.
pub(crate) struct Response {
    code: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(code: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { code, headers: vec![("Content-Type".into(), kind.into())], body: body.into() }
    }

    /// A response without headers and body.
    pub(crate) fn empty(code: u16) -> Self {
        Self { code, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn text(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/plain; charset=utf-8", body)
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.code, reason(self.code));
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").expect("a string takes any text");
        }
        head
    }

    /// Encodes the response with a `Content-Length`. Almost all responses are encoded in this way.
    pub(crate) fn sized(self, request: &ReceivedRequest) -> WireResponse {
        let has_no_body = matches!(self.code, 204 | 304);
        let mut head = self.head();
        if !has_no_body {
            write!(head, "Content-Length: {}\r\n", self.body.len()).expect("a string takes any text");
        }
        let mut bytes = (head + "\r\n").into_bytes();
        if !has_no_body && request.method() != "HEAD" {
            bytes.extend_from_slice(&self.body);
        }
        WireResponse { bytes, close: closes(request), delay: None }
    }

    /// Encodes the response in chunks of seven bytes.
    pub(crate) fn chunked(self, request: &ReceivedRequest) -> WireResponse {
        let mut bytes = (self.with("Transfer-Encoding", "chunked")).into_chunks();
        bytes.extend_from_slice(b"0\r\n\r\n");
        WireResponse { bytes, close: closes(request), delay: None }
    }

    fn into_chunks(self) -> Vec<u8> {
        let mut bytes = (self.head() + "\r\n").into_bytes();
        for chunk in self.body.chunks(7) {
            write!(bytes, "{:x}\r\n", chunk.len()).expect("a vector takes any bytes");
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes
    }

    /// Encodes the response without a length. The body ends when the connection is closed.
    pub(crate) fn until_close(self) -> WireResponse {
        let mut bytes = (self.head() + "\r\n").into_bytes();
        bytes.extend_from_slice(&self.body);
        WireResponse { bytes, close: true, delay: None }
    }
}

fn closes(request: &ReceivedRequest) -> bool {
    let connection = request.header("connection").unwrap_or_default().to_ascii_lowercase();
    connection == "close" || (request.is_http_1_0() && connection != "keep-alive")
}

fn reason(code: u16) -> &'static str {
    match code {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        407 => "Proxy Authentication Required",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}

pub(crate) fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .flatten();
        out.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}
