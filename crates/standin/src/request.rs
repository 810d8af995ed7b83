//! Reads HTTP/1.x requests without changing their bytes.

use std::io::{self, BufRead, Read};

/// Maximum length of a request line or header line in bytes. It is large because the stand-in server only serves test plans.
const LINE_BYTES_MAX: usize = 1 << 20;

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The request line without its line end, for instance `GET /echo?a=1 HTTP/1.1`.
    pub line: Vec<u8>,
    /// The header lines without their line ends, in the order in which they were received.
    pub headers: Vec<Vec<u8>>,
    /// The body, without the chunked coding.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// Reads one request; returns `None` if the client closed the connection instead of sending another request.
    ///
    /// # Errors
    /// The connection fails within a request, or the request is not HTTP.
    pub fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(line) = read_line(from)? else { return Ok(None) };
        let mut headers = Vec::new();
        loop {
            let header = read_line(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            if header.is_empty() {
                break;
            }
            headers.push(header);
        }
        let mut request = Self { line, headers, body: Vec::new() };
        let chunked =
            request.header("transfer-encoding").is_some_and(|v| v.to_ascii_lowercase().contains("chunked"));
        if chunked {
            request.body = read_chunks(from)?;
        } else if let Some(length) = request.header("content-length") {
            let length: usize = length.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?;
            request.body = vec![0; length];
            from.read_exact(&mut request.body)?;
        }
        Ok(Some(request))
    }

    /// The method, for instance `GET`.
    #[must_use]
    pub fn method(&self) -> String {
        self.word(0)
    }

    /// The request target, for instance `/echo?a=1`.
    #[must_use]
    pub fn target(&self) -> String {
        self.word(1)
    }

    /// Whether the client uses HTTP/1.0.
    #[must_use]
    pub fn is_http_1_0(&self) -> bool {
        self.line.ends_with(b"HTTP/1.0")
    }

    /// The trimmed value of the first header with this name; `None` if there is none. The name is case-insensitive.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find_map(|line| {
            let text = String::from_utf8_lossy(line);
            let (key, value) = text.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }

    fn word(&self, index: usize) -> String {
        String::from_utf8_lossy(&self.line).split(' ').nth(index).unwrap_or_default().to_owned()
    }
}

/// Reads a line and removes its line end; `None` at the end of the stream.
fn read_line(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(Some(line))
}

fn read_chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = read_line(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let size = String::from_utf8_lossy(&size);
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
        if size == 0 {
            while read_line(from)?.is_some_and(|line| !line.is_empty()) {}
            return Ok(body);
        }
        from.take(size).read_to_end(&mut body)?;
        read_line(from)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_bodies_with_lengths_and_chunks_up_to_the_end() {
        let wire = b"POST /a?b=c HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc\
            PUT /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n1;q\r\nz\r\n0\r\n\r\n";
        let mut wire = &wire[..];
        let first = ReceivedRequest::read(&mut wire).unwrap().unwrap();
        assert_eq!((first.method().as_str(), first.target().as_str()), ("POST", "/a?b=c"));
        assert_eq!((first.header("HOST").as_deref(), first.body.as_slice()), (Some("h"), &b"abc"[..]));
        let second = ReceivedRequest::read(&mut wire).unwrap().unwrap();
        assert_eq!(second.body, b"xyz");
        assert!(ReceivedRequest::read(&mut wire).unwrap().is_none());
    }

    #[test]
    fn incomplete_requests_are_errors() {
        assert!(ReceivedRequest::read(&mut &b"GET / HTTP/1.1\r\nHost:"[..]).is_err());
        assert!(ReceivedRequest::read(&mut &b"GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab"[..]).is_err());
    }
}
