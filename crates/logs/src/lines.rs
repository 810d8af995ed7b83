//! Lines from bytes that arrive in pieces.

/// Maximum length of a line in bytes; the rest of a longer line is discarded.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Splits bytes that arrive in pieces into lines. Lines are decoded as UTF-8; invalid bytes become `U+FFFD`. Color codes of
/// terminals are removed.
#[derive(Debug, Clone, Default)]
pub struct LineSplitter {
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    /// Whether the rest of the current line is discarded.
    is_discarding: bool,
    truncated: u64,
}

impl LineSplitter {
    /// Creates a splitter for one source.
    #[must_use]
    pub fn new() -> LineSplitter {
        LineSplitter::default()
    }

    /// Number of lines that were longer than [`LINE_BYTES_MAX`].
    #[must_use]
    pub fn truncated_lines(&self) -> u64 {
        self.truncated
    }

    /// Adds bytes and calls `line` for each complete line, without its line break.
    pub fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(&str)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.partial.is_empty() && !self.is_discarding && head.len() <= LINE_BYTES_MAX {
                with_text(head, &mut line);
                continue;
            }
            self.extend(head);
            self.is_discarding = false;
            with_text(&self.partial, &mut line);
            self.partial.clear();
        }
        self.extend(bytes);
    }

    /// Ends the last line if it has no line break, as at the end of a file.
    pub fn finish(&mut self, mut line: impl FnMut(&str)) {
        if !self.partial.is_empty() {
            with_text(&self.partial, &mut line);
        }
        self.partial.clear();
        self.is_discarding = false;
    }

    fn extend(&mut self, bytes: &[u8]) {
        let used = bytes.len().min(LINE_BYTES_MAX - self.partial.len());
        self.partial.extend_from_slice(&bytes[..used]);
        if used < bytes.len() && !self.is_discarding {
            self.is_discarding = true;
            self.truncated += 1;
        }
    }
}

/// The beginning of a text, at most this number of bytes.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn with_text(bytes: &[u8], line: &mut impl FnMut(&str)) {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) if memchr::memchr(0x1b, bytes).is_none() => line(text),
        _ => line(&without_colors(&String::from_utf8_lossy(bytes))),
    }
}

/// The text without control sequences of the form `ESC [ parameters letter` (ECMA-48, section 5.4).
fn without_colors(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let parameters = sequence.bytes().take_while(|byte| (0x20..0x40).contains(byte)).count();
        let has_end = sequence.as_bytes().get(parameters).is_some_and(|byte| (0x40..0x7f).contains(byte));
        rest = &sequence[parameters + usize::from(has_end)..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(pieces: &[&[u8]]) -> Vec<String> {
        let mut splitter = LineSplitter::new();
        let mut lines = Vec::new();
        for piece in pieces {
            splitter.push(piece, |line| lines.push(line.to_owned()));
        }
        splitter.finish(|line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn carriage_returns_and_colors_are_removed_and_invalid_bytes_replaced() {
        let found = lines_of(&[b"a\r\n\x1b[1;31mERROR\x1b[0m b\n\xff\n\nlast"]);
        assert_eq!(found, ["a", "ERROR b", "\u{fffd}", "", "last"]);
        assert_eq!(lines_of(&[b"\x1b[\x1b[3"]), [""]);
    }

    #[test]
    fn long_lines_are_truncated_and_counted_once() {
        let mut splitter = LineSplitter::new();
        let mut lengths = Vec::new();
        for _ in 0..5 {
            splitter.push(&vec![b'x'; LINE_BYTES_MAX - 1], |line| lengths.push(line.len()));
        }
        splitter.push(b"\nshort\n", |line| lengths.push(line.len()));
        splitter
            .push(&[&vec![b'y'; LINE_BYTES_MAX + 1][..], b"\n"].concat(), |line| lengths.push(line.len()));
        assert_eq!(lengths, [LINE_BYTES_MAX, 5, LINE_BYTES_MAX]);
        assert_eq!(splitter.truncated_lines(), 2);
    }

    proptest::proptest! {
        #[test]
        fn lines_do_not_depend_on_the_pieces(text in "[ab\n\r\u{1b}\\[1m]{0,60}", cut in 0_usize..60) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            proptest::prop_assert_eq!(lines_of(&[bytes]), lines_of(&[&bytes[..cut], &bytes[cut..]]));
        }
    }
}
