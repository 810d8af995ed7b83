//! Separates the requests in the received bytes.

/// The result of parsing the start of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// A complete request.
    Request {
        /// The length of the request, including its body.
        length: usize,
        /// Whether the client accepts no further responses on this connection.
        last: bool,
    },
    /// The beginning of a request.
    Partial,
    /// Bytes that are not a valid request.
    Broken,
}

/// The maximum length of a head, and of a body.
const LENGTH_MAX: usize = 1 << 20;

/// The maximum number of header fields.
const FIELDS_MAX: usize = 100;

/// Parses the start of the received bytes. A body requires a `Content-Length`; chunked bodies are invalid here.
pub(super) fn parse_front(bytes: &[u8]) -> Front {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut request = httparse::Request::new(&mut fields);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) if bytes.len() <= LENGTH_MAX => return Front::Partial,
        _ => return Front::Broken,
    };
    let mut body = 0_usize;
    let mut last = request.version == Some(0);
    for field in request.headers.iter() {
        let value = field.value.trim_ascii();
        if field.name.eq_ignore_ascii_case("content-length") {
            match std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()) {
                Some(length) if length <= LENGTH_MAX => body = length,
                _ => return Front::Broken,
            }
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Front::Broken;
        } else if field.name.eq_ignore_ascii_case("connection") {
            last = if value.eq_ignore_ascii_case(b"keep-alive") {
                false
            } else {
                last || value.eq_ignore_ascii_case(b"close")
            };
        }
    }
    let length = head + body;
    if bytes.len() < length { Front::Partial } else { Front::Request { length, last } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_are_distinguished() {
        let get = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(parse_front(get), Front::Request { length: get.len(), last: false });
        assert_eq!(parse_front(&get[..10]), Front::Partial);
        assert_eq!(parse_front(b""), Front::Partial);
        let two = [&get[..], b"GET"].concat();
        assert_eq!(parse_front(&two), Front::Request { length: get.len(), last: false });
        let post = b"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc";
        assert_eq!(parse_front(post), Front::Request { length: post.len(), last: false });
        assert_eq!(parse_front(&post[..post.len() - 1]), Front::Partial);
    }

    #[test]
    fn the_client_marks_its_last_request() {
        let last = |text: &str| matches!(parse_front(text.as_bytes()), Front::Request { last: true, .. });
        assert!(last("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assert!(last("GET / HTTP/1.0\r\n\r\n"));
        assert!(!last("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
        assert!(!last("GET / HTTP/1.1\r\n\r\n"));
    }

    #[test]
    fn invalid_requests_are_recognized() {
        for text in [
            "\0\0\0 hello\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        ] {
            assert_eq!(parse_front(text.as_bytes()), Front::Broken, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_parsed(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Front::Request { length, .. } = parse_front(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
