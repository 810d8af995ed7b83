//! The request that turns an HTTP connection into a WebSocket, and its response.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest as _, Sha1};

/// Headers of the handshake; headers of the plan with these names are not sent.
const OWN: [&str; 5] = ["Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version"];

/// Why the connection is no WebSocket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The response refuses the WebSocket: its status if that is the reason, and the message.
    Upgrade(Option<u16>, String),
    /// The response is not HTTP, or missing.
    Protocol(&'static str),
}

/// The request; headers of the plan in the order in which they are sent.
pub(crate) fn request(authority: &str, path: &str, headers: &[(String, String)], key: &str) -> Vec<u8> {
    let mut text = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n");
    for (name, value) in headers {
        if !OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    text.push_str("Upgrade: websocket\r\nConnection: Upgrade\r\n");
    text.push_str(&format!("Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"));
    text.into_bytes()
}

/// Finds the end of a response that arrives in pieces, reading each byte once.
#[derive(Debug, Default)]
pub(crate) struct AnswerEnd {
    /// Start of the first incomplete line.
    line: usize,
    /// Number of searched bytes.
    searched: usize,
}

impl AnswerEnd {
    /// The length of the response, if it is complete. A response without a valid status line ends with that line.
    /// `ended`: the connection has ended.
    pub(crate) fn find(&mut self, bytes: &[u8], ended: bool) -> Option<usize> {
        while let Some(at) = bytes[self.searched..].iter().position(|byte| *byte == b'\n') {
            let end = self.searched + at;
            let (line, first) = (&bytes[self.line..end], self.line == 0);
            (self.line, self.searched) = (end + 1, end + 1);
            if first && status(line).is_none_or(|code| code != 101) {
                return Some(end + 1);
            }
            if line.iter().all(|byte| *byte <= b' ') {
                return Some(end + 1);
            }
        }
        self.searched = bytes.len();
        ended.then_some(bytes.len())
    }
}

/// The status of a status line.
fn status(line: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(line.get(..12)?).ok()?;
    let digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
    let shape = text.starts_with("HTTP/") && digit(5) && &text[6..7] == "." && digit(7) && &text[8..9] == " ";
    if !shape || !(9..12).all(digit) {
        return None;
    }
    text[9..12].parse().ok()
}

/// The headers of a complete response, by name, if the server accepts the WebSocket.
pub(crate) fn check(answer: &[u8], key: &str) -> Result<Vec<(String, String)>, Refused> {
    let text: String = answer
        .iter()
        .filter(|byte| **byte != b'\r')
        .map(|byte| if byte.is_ascii() { char::from(*byte) } else { '\u{fffd}' })
        .collect();
    let mut lines = text.split('\n');
    let Some(first) = lines.next().filter(|_| !answer.is_empty()) else {
        return Err(Refused::Protocol("Empty response; connection closed."));
    };
    match status(first.as_bytes()) {
        None => return Err(Refused::Protocol("Invalid status line")),
        Some(101) => {}
        Some(code) => {
            let why = format!("Got unexpected status {code} with statusLine:{first}");
            return Err(Refused::Upgrade(Some(code), why));
        }
    }
    // By name in lower case, each with its first spelling.
    let mut by_name: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match by_name.entry(name.to_ascii_lowercase()) {
            Entry::Occupied(mut known) => {
                let (_, all) = known.get_mut();
                all.push_str(", ");
                all.push_str(value);
            }
            Entry::Vacant(place) => {
                place.insert((name.to_owned(), value.to_owned()));
            }
        }
    }
    let headers: Vec<(String, String)> = by_name.into_values().collect();
    let get = |name: &str| {
        headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    };
    let wrong = |what: &str| Err(Refused::Upgrade(None, format!("Server response {what}")));
    if get("Upgrade").is_none_or(|value| !value.eq_ignore_ascii_case("websocket")) {
        return wrong("should contain 'Upgrade' header with value 'websocket'");
    }
    if get("Connection").is_none_or(|value| !value.eq_ignore_ascii_case("upgrade")) {
        return wrong("should contain 'Connection' header with value 'Upgrade'");
    }
    match get("Sec-WebSocket-Accept") {
        None => wrong("should contain 'Sec-WebSocket-Accept' header"),
        Some(value) if value != accept(key) => wrong("header 'Sec-WebSocket-Accept' has incorrect value."),
        Some(_) => Ok(headers),
    }
}

/// The accepting value for a key (RFC 6455, section 4.2.2).
fn accept(key: &str) -> String {
    const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    BASE64_STANDARD.encode(Sha1::digest(format!("{key}{MAGIC}")))
}

/// A key of these random bytes.
pub(crate) fn key(random: [u8; 16]) -> String {
    BASE64_STANDARD.encode(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
    const GOOD: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\nX: a\r\nx: b\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

    #[test]
    fn the_response_of_the_standards_example_is_accepted() {
        let headers = check(GOOD.as_bytes(), KEY).unwrap();
        assert_eq!(headers.last().unwrap(), &("X".to_owned(), "a, b".to_owned()));
        let end = |answer: &[u8]| AnswerEnd::default().find(answer, false);
        assert_eq!(end(format!("{GOOD}more").as_bytes()), Some(GOOD.len()));
        assert_eq!(end(&GOOD.as_bytes()[..GOOD.len() - 2]), None);
        // In pieces of any size.
        let mut pieces = AnswerEnd::default();
        let found = (1..=GOOD.len()).find_map(|length| pieces.find(&GOOD.as_bytes()[..length], false));
        assert_eq!(found, Some(GOOD.len()));
    }

    #[test]
    fn other_responses_are_refused() {
        let refused = |answer: &str| check(answer.as_bytes(), KEY).unwrap_err();
        assert_eq!(
            refused("HTTP/1.1 404 Not Found\r\n"),
            Refused::Upgrade(
                Some(404),
                "Got unexpected status 404 with statusLine:HTTP/1.1 404 Not Found".into()
            )
        );
        assert_eq!(refused(""), Refused::Protocol("Empty response; connection closed."));
        assert_eq!(refused("SSH-2.0\n"), Refused::Protocol("Invalid status line"));
        assert!(
            matches!(refused(&GOOD.replace("WebSocket\r", "h2c\r")), Refused::Upgrade(None, why) if why.contains("'Upgrade'"))
        );
        assert!(
            matches!(refused(&GOOD.replace("s3p", "S3p")), Refused::Upgrade(None, why) if why.ends_with("incorrect value."))
        );
    }

    #[test]
    fn headers_of_the_handshake_are_not_taken_from_the_plan() {
        let headers = [("host".to_owned(), "x".to_owned()), ("A".to_owned(), "b".to_owned())];
        let request = String::from_utf8(request("h:1", "/p", &headers, KEY)).unwrap();
        assert!(
            request.starts_with("GET /p HTTP/1.1\r\nHost: h:1\r\nA: b\r\nUpgrade: websocket\r\n"),
            "{request}"
        );
        assert!(request.ends_with("Sec-WebSocket-Version: 13\r\n\r\n"));
    }
}
