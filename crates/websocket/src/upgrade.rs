//! The request that upgrades an HTTP connection to a WebSocket, and its response.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest as _, Sha1};

/// The headers of the handshake; headers of the plan with these names are not sent.
const HANDSHAKE_HEADERS: [&str; 5] =
    ["Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version"];

/// The reason why the upgrade failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UpgradeError {
    /// The response rejects the WebSocket. Contains its status, if that is the reason, and the message.
    Upgrade(Option<u16>, String),
    /// The response is missing or is not HTTP.
    Protocol(&'static str),
}

/// Builds the request, with the headers of the plan in the order in which they are sent.
pub(crate) fn request(authority: &str, path: &str, headers: &[(String, String)], key: &str) -> Vec<u8> {
    let mut text = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n");
    for (name, value) in headers {
        if !HANDSHAKE_HEADERS.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    text.push_str("Upgrade: websocket\r\nConnection: Upgrade\r\n");
    text.push_str(&format!("Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"));
    text.into_bytes()
}

/// Finds the end of a response that arrives in pieces; reads each byte once.
#[derive(Debug, Default)]
pub(crate) struct ResponseEnd {
    /// The start of the first incomplete line.
    line: usize,
    /// The number of bytes that were already searched.
    searched: usize,
}

impl ResponseEnd {
    /// The length of the response, if it is complete. A response without a valid status line ends with that line.
    /// `ended`: whether the connection is closed.
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

/// Returns the headers of a complete response, by name, if the server accepts the WebSocket.
pub(crate) fn check(response: &[u8], key: &str) -> Result<Vec<(String, String)>, UpgradeError> {
    let text: String = response
        .iter()
        .filter(|byte| **byte != b'\r')
        .map(|byte| if byte.is_ascii() { char::from(*byte) } else { '\u{fffd}' })
        .collect();
    let mut lines = text.split('\n');
    let Some(first) = lines.next().filter(|_| !response.is_empty()) else {
        return Err(UpgradeError::Protocol("Empty response; connection closed."));
    };
    match status(first.as_bytes()) {
        None => return Err(UpgradeError::Protocol("Invalid status line")),
        Some(101) => {}
        Some(code) => {
            let why = format!("Got unexpected status {code} with statusLine:{first}");
            return Err(UpgradeError::Upgrade(Some(code), why));
        }
    }
    // The key is the name in lower case; the value contains its first spelling.
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
    let invalid = |what: &str| Err(UpgradeError::Upgrade(None, format!("Server response {what}")));
    if get("Upgrade").is_none_or(|value| !value.eq_ignore_ascii_case("websocket")) {
        return invalid("should contain 'Upgrade' header with value 'websocket'");
    }
    if get("Connection").is_none_or(|value| !value.eq_ignore_ascii_case("upgrade")) {
        return invalid("should contain 'Connection' header with value 'Upgrade'");
    }
    match get("Sec-WebSocket-Accept") {
        None => invalid("should contain 'Sec-WebSocket-Accept' header"),
        Some(value) if value != accept(key) => invalid("header 'Sec-WebSocket-Accept' has incorrect value."),
        Some(_) => Ok(headers),
    }
}

/// The value of `Sec-WebSocket-Accept` for a key (RFC 6455, section 4.2.2).
fn accept(key: &str) -> String {
    const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    BASE64_STANDARD.encode(Sha1::digest(format!("{key}{MAGIC}")))
}

/// Encodes random bytes as a key.
pub(crate) fn key(random: [u8; 16]) -> String {
    BASE64_STANDARD.encode(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
    const ACCEPTED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\nX: a\r\nx: b\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

    #[test]
    fn the_response_of_the_standards_example_is_accepted() {
        let headers = check(ACCEPTED.as_bytes(), KEY).unwrap();
        assert_eq!(headers.last().unwrap(), &("X".to_owned(), "a, b".to_owned()));
        let end = |response: &[u8]| ResponseEnd::default().find(response, false);
        assert_eq!(end(format!("{ACCEPTED}more").as_bytes()), Some(ACCEPTED.len()));
        assert_eq!(end(&ACCEPTED.as_bytes()[..ACCEPTED.len() - 2]), None);
        // The response arrives in pieces of one byte.
        let mut pieces = ResponseEnd::default();
        let found =
            (1..=ACCEPTED.len()).find_map(|length| pieces.find(&ACCEPTED.as_bytes()[..length], false));
        assert_eq!(found, Some(ACCEPTED.len()));
    }

    #[test]
    fn other_responses_are_rejected() {
        let rejection = |response: &str| check(response.as_bytes(), KEY).unwrap_err();
        assert_eq!(
            rejection("HTTP/1.1 404 Not Found\r\n"),
            UpgradeError::Upgrade(
                Some(404),
                "Got unexpected status 404 with statusLine:HTTP/1.1 404 Not Found".into()
            )
        );
        assert_eq!(rejection(""), UpgradeError::Protocol("Empty response; connection closed."));
        assert_eq!(rejection("SSH-2.0\n"), UpgradeError::Protocol("Invalid status line"));
        assert!(
            matches!(rejection(&ACCEPTED.replace("WebSocket\r", "h2c\r")), UpgradeError::Upgrade(None, why) if why.contains("'Upgrade'"))
        );
        assert!(
            matches!(rejection(&ACCEPTED.replace("s3p", "S3p")), UpgradeError::Upgrade(None, why) if why.ends_with("incorrect value."))
        );
    }

    #[test]
    fn handshake_headers_of_the_plan_are_not_sent() {
        let headers = [("host".to_owned(), "x".to_owned()), ("A".to_owned(), "b".to_owned())];
        let request = String::from_utf8(request("h:1", "/p", &headers, KEY)).unwrap();
        assert!(
            request.starts_with("GET /p HTTP/1.1\r\nHost: h:1\r\nA: b\r\nUpgrade: websocket\r\n"),
            "{request}"
        );
        assert!(request.ends_with("Sec-WebSocket-Version: 13\r\n\r\n"));
    }
}
