//! Encodes names, values and paths by the rules of Java and HttpClient.

use std::fmt::Write as _;

/// Appends `text` encoded like `java.net.URLEncoder` with UTF-8: letters, digits and `.-*_` stay, a space becomes `+`.
pub fn form(text: &str, out: &mut String) {
    form_bytes(text.as_bytes(), out);
}

/// Encodes bytes of any charset.
pub fn form_bytes(bytes: &[u8], out: &mut String) {
    for &byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// Decodes `%xx` and `+`; `None` if an escape is truncated or not hexadecimal (Java throws an exception).
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

/// Whether a path or query is sent unchanged: it is ASCII, and a path has no empty segments.
pub fn is_sent_unchanged(text: &str) -> bool {
    let mut before = 0;
    text.bytes().all(|byte| {
        let fits = byte.is_ascii() && !(byte == b'/' && before == b'/');
        before = byte;
        fits
    })
}

/// Appends a text with non-ASCII characters encoded as UTF-8 (`URI.toASCIIString`).
pub fn ascii(text: &str, out: &mut String) {
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// Appends a path as HttpClient 4.5 sends it. If it contains empty segments other than the last, they are dropped, and every
/// segment is decoded and encoded again; otherwise the path is unchanged.
pub fn normal_path(path: &str, out: &mut String) {
    if !path.contains("//") {
        ascii(if path.is_empty() { "/" } else { path }, out);
        return;
    }
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
}

/// Appends a URL's path and query. Characters that `java.net.URI` does not accept, including percent signs, are quoted, as in
/// its constructor with several parts.
pub fn quote_illegal(text: &str, out: &mut String) {
    let mut in_query = false;
    for character in text.chars() {
        match character {
            '?' => {
                in_query = true;
                out.push('?');
            }
            '%' => out.push_str("%25"),
            '[' | ']' if in_query => out.push(character),
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' | '[' | ']' => {
                let _ = write!(out, "%{:02X}", u32::from(character));
            }
            other if other.is_ascii_control() => {
                let _ = write!(out, "%{:02X}", u32::from(other));
            }
            other => out.push(other),
        }
    }
}

/// Returns a URL that `java.net.URI` accepts: unchanged if possible, otherwise with illegal characters and escapes
/// quoted.
pub fn sanitized(url: String) -> String {
    let Ok(parts) = crate::url_parts::split(&url) else { return url };
    let path_at = url.len() - parts.rest.len();
    if illegal(&url, path_at).is_none() {
        return url;
    }
    let (prefix, rest) = url.split_at(path_at);
    let mut quoted = prefix.to_owned();
    quote_illegal(rest, &mut quoted);
    quoted
}

/// Finds a character that `java.net.URI` rejects; returns its index in `url` (in characters) and the part of the URL.
/// The path starts at `path_at`.
pub fn illegal(url: &str, path_at: usize) -> Option<(usize, &'static str)> {
    // Nearly every URL consists of these characters.
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/?=&.-_,;:+~".contains(byte);
    if url.as_bytes()[path_at..].iter().all(plain) {
        return None;
    }
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
    fn form_encoding_equals_that_of_java() {
        let mut out = String::new();
        form("a b&c=ü/*~", &mut out);
        assert_eq!(out, "a+b%26c%3D%C3%BC%2F*%7E");
        assert_eq!(form_decode(&out).as_deref(), Some("a b&c=ü/*~"));
        assert_eq!(form_decode("%4"), None);
    }

    #[test]
    fn paths_are_normalised_as_by_httpclient() {
        let paths = [
            ("/a//b/", "/a/b/"),
            ("//%7Ea/%2F", "/~a/%2F"),
            ("/%7Ea;b=%3B", "/%7Ea;b=%3B"),
            ("", "/"),
            ("/", "/"),
            ("/ü", "/%C3%BC"),
        ];
        for (path, sent) in paths {
            let mut out = String::new();
            normal_path(path, &mut out);
            assert_eq!(out, sent, "{path}");
        }
        assert!(
            is_sent_unchanged("/rest/venues?a=%20")
                && !is_sent_unchanged("/a//b")
                && !is_sent_unchanged("/ü")
        );
        let mut out = String::new();
        quote_illegal("/a b?c=%20|d[]", &mut out);
        assert_eq!(out, "/a%20b?c=%2520%7Cd[]");
    }

    #[test]
    fn illegal_characters_are_found() {
        assert_eq!(illegal("http://h/a b", 8), Some((10, "path")));
        assert_eq!(illegal("http://h/a?b={c}", 8), Some((13, "query")));
        assert_eq!(illegal("http://h/a?b=%zz", 8), Some((13, "%")));
        assert_eq!(illegal("http://h/a?b=[c]", 8), None);
    }
}
