//! Encoding of names, values and paths, as Java's and HttpClient's encoders do it.

use std::fmt::Write as _;

/// Appends `text` as `java.net.URLEncoder` writes it for UTF-8: letters, digits and `.-*_` stay, space becomes `+`.
pub fn form(text: &str, out: &mut String) {
    for &byte in text.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// Decodes `%xx` and `+`; `None` when an escape is cut off or no number (Java throws there).
pub fn form_decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = text.get(at + 1..at + 3)?;
                out.push(u8::from_str_radix(digits, 16).ok()?);
                at += 2;
            }
            byte => out.push(byte),
        }
        at += 1;
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

fn stays_in_path(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*' | b'!' | b'~' | b'\'' | b'(' | b')'
        | b';' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' | b',')
}

/// Whether HttpClient's normalisation leaves the path as it is.
pub fn is_normal_path(path: &str) -> bool {
    let mut before = 0;
    for &byte in path.as_bytes() {
        if byte == b'/' {
            if before == b'/' {
                return false;
            }
        } else if !stays_in_path(byte) {
            return false;
        }
        before = byte;
    }
    true
}

/// Appends a path as HttpClient 4.5 sends it: empty segments but the last are dropped, every segment is decoded
/// and encoded again.
pub fn normal_path(path: &str, out: &mut String) {
    let mut segments = path.split('/').skip(usize::from(path.starts_with('/'))).peekable();
    while let Some(segment) = segments.next() {
        if segment.is_empty() && segments.peek().is_some() {
            continue;
        }
        out.push('/');
        let bytes = segment.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let escaped = (bytes[at] == b'%')
                .then(|| segment.get(at + 1..at + 3))
                .flatten()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let byte = match escaped {
                Some(byte) => {
                    at += 2;
                    byte
                }
                None => bytes[at],
            };
            at += 1;
            if stays_in_path(byte) {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
}

/// Looks for a character that `java.net.URI` does not take; gives its index in `url` (in characters) and the part it
/// lies in. `path_at` is where the path begins.
pub fn illegal(url: &str, path_at: usize) -> Option<(usize, &'static str)> {
    let query_at = url[path_at..].find('?').map(|at| path_at + at);
    let fragment_at = url[path_at..].find('#').map(|at| path_at + at);
    for (at, character) in url.char_indices().filter(|(at, _)| *at >= path_at) {
        let part = if fragment_at.is_some_and(|begin| at > begin) {
            "fragment"
        } else if query_at.is_some_and(|begin| at > begin) {
            "query"
        } else {
            "path"
        };
        let bad = match character {
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => true,
            '[' | ']' => part == "path",
            '#' => fragment_at != Some(at),
            '%' => {
                let digits = url.get(at + 1..at + 3);
                if digits.is_none_or(|digits| !digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
                    return Some((url[..at].chars().count(), "%"));
                }
                false
            }
            other => other.is_control(),
        };
        if bad {
            return Some((url[..at].chars().count(), part));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_encoding_is_javas() {
        let mut out = String::new();
        form("a b&c=ü/*~", &mut out);
        assert_eq!(out, "a+b%26c%3D%C3%BC%2F*%7E");
        assert_eq!(form_decode(&out).as_deref(), Some("a b&c=ü/*~"));
        assert_eq!(form_decode("%4"), None);
    }

    #[test]
    fn paths_are_normalised_as_by_httpclient() {
        for (path, sent) in
            [("/a//b/", "/a/b/"), ("/%7Ea/%2F", "/~a/%2F"), ("", "/"), ("/", "/"), ("/ü", "/%C3%BC")]
        {
            let mut out = String::new();
            normal_path(path, &mut out);
            assert_eq!(out, sent, "{path}");
        }
        assert!(is_normal_path("/rest/venues"));
        assert!(!is_normal_path("/a//b"));
    }

    #[test]
    fn illegal_characters_are_found() {
        assert_eq!(illegal("http://h/a b", 8), Some((10, "path")));
        assert_eq!(illegal("http://h/a?b={c}", 8), Some((13, "query")));
        assert_eq!(illegal("http://h/a?b=%zz", 8), Some((13, "%")));
        assert_eq!(illegal("http://h/a?b=[c]", 8), None);
    }
}
