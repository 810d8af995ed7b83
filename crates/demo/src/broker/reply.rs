//! Responses of the broker.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::parameters::ParameterError;
use super::pool::PoolError;
use crate::http::response::append_date;

pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const JSON: &str = "application/json";

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) content_type: String,
    /// Whether the body is compressed.
    pub(super) is_gzip: bool,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn text(status: u16, text: impl Into<String>) -> Self {
        let body = text.into().into_bytes();
        Self { status, content_type: TEXT.to_owned(), is_gzip: false, body }
    }

    /// The response with records, or with the reason why there are none.
    pub(super) fn of_agent(result: Result<Vec<u8>, PoolError>, accepts_gzip: bool) -> Self {
        match result {
            Ok(body) => {
                let body = if accepts_gzip { compressed(&body) } else { body };
                Self { status: 200, content_type: JSON.to_owned(), is_gzip: accepts_gzip, body }
            }
            Err(PoolError::QueueFull) => Self::text(503, "all agents are busy, and the queue is full\n"),
            Err(PoolError::Closed) => Self::text(503, "the broker is closing\n"),
        }
    }

    pub(super) fn of_parameters(error: &ParameterError) -> Self {
        Self::text(400, format!("{error}\n"))
    }

    /// The head of the response in HTTP/1.1.
    pub(super) fn head(&self, keep_alive: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        let (status, reason) = (self.status, reason(self.status));
        // Writing to a vector cannot fail.
        let _ = write!(
            out,
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
            self.content_type,
            self.body.len()
        );
        if self.content_type == JSON {
            out.extend_from_slice(b"Vary: Accept-Encoding\r\n");
        }
        if self.is_gzip {
            out.extend_from_slice(b"Content-Encoding: gzip\r\n");
        }
        match status {
            405 => out.extend_from_slice(b"Allow: GET, HEAD\r\n"),
            503 => out.extend_from_slice(b"Retry-After: 1\r\n"),
            _ => {}
        }
        append_date(&mut out);
        if !keep_alive {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

fn compressed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::default());
    // Writing to a vector cannot fail.
    let _ = encoder.write_all(body);
    encoder.finish().unwrap_or_default()
}

/// Whether a client accepts gzip, by the value of `Accept-Encoding`.
pub(super) fn accepts_gzip(value: &str) -> bool {
    let accepted = |name: &str| {
        let mut parts = value.split(',');
        parts.find_map(|part| {
            let (coding, parameters) = part.split_once(';').unwrap_or((part, ""));
            let is_named = coding.trim().eq_ignore_ascii_case(name);
            is_named.then(|| {
                let weight = parameters.trim().strip_prefix("q=").and_then(|text| text.trim().parse().ok());
                weight.unwrap_or(1.0_f64) > 0.0
            })
        })
    };
    accepted("gzip").or_else(|| accepted("*")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_as_in_the_standard() {
        for (value, expected) in [
            ("gzip", true),
            ("gzip, deflate, br", true),
            ("deflate, GZIP;q=0.5", true),
            ("*", true),
            ("gzip;q=0, *", false),
            ("*;q=0", false),
            ("identity", false),
            ("", false),
        ] {
            assert_eq!(accepts_gzip(value), expected, "{value}");
        }
    }

    #[test]
    fn heads_have_the_fields_of_their_status() {
        let head = |reply: &Reply| String::from_utf8(reply.head(true)).unwrap();
        let full = head(&Reply::of_agent(Err(PoolError::QueueFull), true));
        assert!(full.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{full}");
        assert!(full.contains("\r\nRetry-After: 1\r\n") && !full.contains("gzip"), "{full}");
        let records = Reply::of_agent(Ok(vec![b'x'; 1_000]), true);
        let text = head(&records);
        assert!(text.contains("\r\nContent-Encoding: gzip\r\n") && text.contains("\r\nDate: "), "{text}");
        assert!(records.body.len() < 100 && text.ends_with("\r\n\r\n"), "{text}");
        let closing = String::from_utf8(records.head(false)).unwrap();
        assert!(closing.contains("\r\nConnection: close\r\n"), "{closing}");
    }
}
