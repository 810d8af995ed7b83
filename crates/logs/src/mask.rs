//! Masks the parts of a message that are values: numbers, addresses, identifiers, paths, quantities.
//!
//! The rules are the same for all logs. A value becomes `<*>`:
//!
//! - numbers, and groups of them (`10.0.0.1:8080`, `12:30:05`, `1,024`), also inside of words: `node-<*>`, `blk_<*>`
//! - UUIDs, `0x…`, words of at least six hexadecimal digits that contain both letters and digits
//! - hosts with a port (`db.example.org:5432`)
//! - absolute paths of at least two parts
//! - the unit after a number (`5 ms`, `12 KB`), and a number in parentheses after a number: `2048 bytes (2 KB)` is one `<*>`

/// The placeholder for a value.
pub(crate) const WILDCARD: &str = "<*>";
const WILD: &[u8] = WILDCARD.as_bytes();

/// Maximum number of tokens of a message. Further tokens are ignored.
pub(crate) const TOKENS_MAX: usize = 256;

/// Which rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Masking {
    /// All rules.
    #[default]
    Full,
    /// All except the one for paths, because the path of a request is its name.
    KeepPaths,
}

/// A masked message. Its buffers are reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Masked {
    /// The tokens, joined by single spaces.
    text: Vec<u8>,
    /// The ends of the tokens in the text.
    ends: Vec<usize>,
    piece: Vec<u8>,
    masking: Masking,
}

impl Masked {
    /// Masks a message. The labels become tokens in front of it and are not masked.
    pub(crate) fn set(&mut self, labels: &[&str], message: &str, masking: Masking) {
        self.text.clear();
        self.ends.clear();
        self.masking = masking;
        for label in labels {
            if !self.ends.is_empty() {
                self.text.push(b' ');
            }
            self.text.extend(label.bytes().filter(|byte| !byte.is_ascii_whitespace()));
            self.ends.push(self.text.len());
        }
        for token in message.as_bytes().split(u8::is_ascii_whitespace) {
            if token.is_empty() {
                continue;
            }
            if self.ends.len() == TOKENS_MAX {
                break;
            }
            self.push(token);
        }
    }

    /// Uses a text that is already masked.
    pub(crate) fn set_masked(&mut self, text: &str) {
        self.text.clear();
        self.ends.clear();
        self.text.extend_from_slice(text.as_bytes());
        let spaces = memchr::memchr_iter(b' ', text.as_bytes());
        self.ends.extend(spaces.chain([text.len()]));
    }

    /// The masked message.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The tokens.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let token = &self.text[start..*end];
            start = end + 1;
            token
        })
    }

    /// The token at a position; empty if there is none.
    pub(crate) fn token(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends.get(at - 1).map_or(0, |end| end + 1) };
        self.ends.get(at).map_or(&[], |end| &self.text[start..*end])
    }

    fn push(&mut self, token: &[u8]) {
        let follows_value = self.text.ends_with(WILD);
        if follows_value && let Some(rest) = without_unit(token) {
            self.text.extend_from_slice(rest);
            self.end_quantity();
            return;
        }
        let is_plain = !token.iter().any(|byte| byte.is_ascii_digit() || *byte == b'/');
        let mut piece = std::mem::take(&mut self.piece);
        piece.clear();
        if is_plain {
            piece.extend_from_slice(token);
        } else {
            mask_token(token, self.masking, &mut piece);
        }
        let start = self.text.len();
        if !self.ends.is_empty() {
            self.text.push(b' ');
        }
        self.text.extend_from_slice(
            piece.strip_prefix(b"<").filter(|rest| rest.starts_with(WILD)).unwrap_or(&piece),
        );
        self.piece = piece;
        self.ends.push(self.text.len());
        if follows_value {
            self.remove_parenthesis(start);
        }
    }

    /// Sets the end of the last token after a unit was removed.
    fn end_quantity(&mut self) {
        if let Some(end) = self.ends.last_mut() {
            *end = self.text.len();
        }
        if let [.., before, _] = self.ends[..]
            && self.text[..before].ends_with(WILD)
        {
            self.remove_parenthesis(before);
        }
    }

    /// Removes the last token if it is `(<*>)`, except for the punctuation after it.
    fn remove_parenthesis(&mut self, start: usize) {
        const PARENTHESIS: &[u8] = b" (<*>)";
        if self.text[start..].starts_with(PARENTHESIS) {
            self.text.drain(start..start + PARENTHESIS.len());
            self.ends.pop();
            if let Some(end) = self.ends.last_mut() {
                *end = self.text.len();
            }
        }
    }
}

/// Units of sizes and durations.
const UNITS: &[&str] = &[
    "B", "KB", "MB", "GB", "TB", "kB", "KiB", "MiB", "GiB", "TiB", "K", "M", "G", "kb", "mb", "gb", "byte",
    "bytes", "Byte", "Bytes", "ns", "us", "µs", "ms", "s", "h", "msec", "msecs", "sec", "secs", "second",
    "seconds", "min", "mins", "minute", "minutes", "hour", "hours", "day", "days",
];

/// The rest of a token that begins with a unit, after the unit; `None` if it does not begin with one.
fn without_unit(token: &[u8]) -> Option<&[u8]> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let length = token.iter().take(9).take_while(|byte| is_letter(byte)).count();
    let (word, rest) = token.split_at(length);
    UNITS.iter().any(|unit| unit.as_bytes() == word).then_some(rest)
}

/// Masks one token.
fn mask_token(token: &[u8], masking: Masking, out: &mut Vec<u8>) {
    let mut at = 0;
    while at < token.len() {
        let before = at.checked_sub(1).map(|before| token[before]);
        let rest = &token[at..];
        let begins_word = !before.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let length = match rest[0] {
            b'/' if begins_word && masking == Masking::Full => path_length(before, rest),
            byte if byte.is_ascii_alphanumeric() && begins_word => {
                identifier_length(before, rest).or_else(|| number_length(rest))
            }
            byte if byte.is_ascii_digit() => number_length(rest),
            b'-' | b'+' if begins_word && rest.get(1).is_some_and(u8::is_ascii_digit) => {
                number_length(&rest[1..]).map(|length| length + 1)
            }
            _ => None,
        };
        match length {
            Some(length) => {
                push_value(out);
                at += length;
            }
            None => {
                out.push(rest[0]);
                at += 1;
            }
        }
    }
}

/// Appends a value. It is merged with a value before it if at most one separator is between them.
fn push_value(out: &mut Vec<u8>) {
    let joined = match out.as_slice() {
        [start @ .., separator] if b".:,/@_-".contains(separator) => start,
        all => all,
    };
    if joined.ends_with(WILD) {
        let length = joined.len();
        out.truncate(length);
    } else {
        out.extend_from_slice(WILD);
    }
}

/// Maximum length of a host in bytes (RFC 1035, section 2.3.4). It bounds the time for a message.
const HOST_MAX: usize = 255;

/// `/srv/app/x.log`: an absolute path of at least two parts.
fn path_length(before: Option<u8>, text: &[u8]) -> Option<usize> {
    if before.is_some_and(|byte| b"_.:/".contains(&byte)) || text.get(1) == Some(&b'/') {
        return None;
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-@$+%/".contains(byte);
    let length = text.iter().take_while(|byte| is_part(byte)).count();
    let path = &text[..length];
    let is_path = path.len() > 1 && path[1..].contains(&b'/');
    is_path.then_some(length)
}

/// The length of a UUID, a hexadecimal number or a host with a port at the beginning of a word.
fn identifier_length(before: Option<u8>, text: &[u8]) -> Option<usize> {
    let word = text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let hex = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if text.len() > 2 && text[0] == b'0' && (text[1] | 0x20) == b'x' {
        let digits = text[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits > 0 {
            return Some(2 + digits);
        }
    }
    if hex == 8 && word == 8 && is_uuid(text) {
        return Some(36);
    }
    if before != Some(b'.')
        && let Some(length) = host_length(text, word)
    {
        return Some(length);
    }
    let digits = text[..word].iter().filter(|byte| byte.is_ascii_digit()).count();
    (hex == word && word >= 6 && digits > 0 && digits < word).then_some(word)
}

/// `123e4567-e89b-12d3-a456-426614174000`
fn is_uuid(text: &[u8]) -> bool {
    text.len() >= 36
        && text[..36].iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
        && !text.get(36).is_some_and(u8::is_ascii_alphanumeric)
}

/// `db.example.org:5432`; `word` is the length of the first part.
fn host_length(text: &[u8], word: usize) -> Option<usize> {
    if !matches!(text.get(word), Some(b'.' | b'-')) {
        return None;
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let host = text.iter().take(HOST_MAX).take_while(|byte| is_part(byte)).count();
    let port = text.get(host..)?.strip_prefix(b":")?;
    let digits = port.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_ended = !port.get(digits).is_some_and(u8::is_ascii_alphanumeric);
    let has_dot = text[..host].windows(2).any(|pair| pair[0] == b'.' && pair[1] != b'.');
    (digits > 0 && is_ended && has_dot).then_some(host + 1 + digits)
}

/// The digits at the beginning and further groups of digits after separators.
fn number_length(text: &[u8]) -> Option<usize> {
    let group = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = group(text);
    if length == 0 {
        return None;
    }
    loop {
        let separators = text[length..].iter().take(3).take_while(|byte| b".,:/-".contains(byte)).count();
        let digits = text.get(length + separators..).map_or(0, group);
        if separators == 0 || digits == 0 {
            return Some(length);
        }
        length += separators + digits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(message: &str) -> String {
        let mut masked = Masked::default();
        masked.set(&[], message, Masking::Full);
        let tokens: Vec<String> =
            masked.tokens().map(|token| String::from_utf8_lossy(token).into_owned()).collect();
        let text = String::from_utf8_lossy(masked.text()).into_owned();
        assert_eq!(tokens.join(" "), text);
        text
    }

    #[test]
    fn values_are_masked() {
        for (message, expected) in [
            ("user 5 of 1,024 at 12:30:05.123", "user <*> of <*> at <*>"),
            ("  two   spaces\t ", "two spaces"),
            ("10.251.73.220:50010 is added to blk_-7128370237687728475", "<*> is added to blk_<*>"),
            ("request 123e4567-e89b-12d3-a456-426614174000 done", "request <*> done"),
            ("at 0x7fed806eb5d, id=9f4ef63", "at <*>, id=<*>"),
            ("decade facade cafe12 added", "decade facade <*> added"),
            ("open db.example.org:5432 failed", "open <*> failed"),
            ("open www.example.org failed", "open www.example.org failed"),
            ("reading /srv/app/data.log now", "reading <*> now"),
            ("GET /orders and text/html or http://a/b/c", "GET /orders and text/html or http://a/b/c"),
            ("took 12 ms, sent 2048 bytes (2.0 KB) in 3 seconds", "took <*>, sent <*> in <*>"),
            ("lifetime <1 sec", "lifetime <*>"),
            ("temperature -5 or +5", "temperature <*> or <*>"),
            ("node-246 jk2_init() HTTP/1.1", "node-<*> jk<*>_init() HTTP/<*>"),
            ("größe 5µs", "größe <*>µs"),
            ("", ""),
            ("5 5 5", "<*> <*> <*>"),
            ("(5) (6)", "(<*>) (<*>)"),
            ("5 (6) (7).", "<*>."),
        ] {
            assert_eq!(masked(message), expected, "{message}");
        }
    }

    #[test]
    fn long_messages_are_cut_and_masked_in_linear_time() {
        let tokens = |message: &str| masked(message).split(' ').count();
        assert_eq!(tokens(&"a ".repeat(200_000)), TOKENS_MAX);
        assert_eq!(tokens(&"1.".repeat(200_000)), 1);
        assert_eq!(tokens(&"a.".repeat(200_000)), 1);
        assert_eq!(tokens(&"/a".repeat(200_000)), 1);
        assert_eq!(tokens(&"1 (1) ".repeat(200_000)), TOKENS_MAX);
        assert_eq!(tokens(&format!("1 {}", "(1) ".repeat(200_000))), 1);
        assert_eq!(tokens(&"a1-".repeat(200_000)), 1);
        assert_eq!(tokens(&"@//".repeat(200_000)), 1);
    }

    proptest::proptest! {
        #[test]
        fn a_masked_message_contains_no_digits(message in "[a-f0-9 .:/()<>_ég-z-]{0,60}") {
            let once = masked(&message);
            let digits = once.bytes().filter(u8::is_ascii_digit).count();
            proptest::prop_assert_eq!(digits, 0, "{}", once);
        }
    }
}
