//! Positions in a text, and a cursor that computes their line and column in linear time.

use std::fmt;

use serde::Serialize;

const BOM: char = '\u{FEFF}';

/// A part of a source text, or a position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    /// Line, counted from 1. Lines end at `\n`.
    pub line: u32,
    /// Column in characters (Unicode scalar values), counted from 1.
    pub column: u32,
    /// Offset from the start of the text, in bytes of its UTF-8 form.
    pub offset: usize,
    /// Length in bytes of the UTF-8 form; 0 for a position between two characters.
    pub len: usize,
}

impl Span {
    /// The span of `len` bytes at `offset`, found by reading the text from its start.
    ///
    /// An offset beyond the end is replaced by the end, and an offset inside a character by the start of the character.
    #[must_use]
    pub fn locate(text: &str, offset: usize, len: usize) -> Self {
        LineCursor::new(text).span(offset, len)
    }

    /// The offset of the first byte after the span.
    #[must_use]
    pub fn end(&self) -> usize {
        self.offset.saturating_add(self.len)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Converts offsets to lines and columns. It stores the position of the previous conversion.
///
/// The cost of a conversion is proportional to the distance from the previous offset. Ascending offsets therefore read the text
/// only once, even if it is a single line.
#[derive(Clone, Debug)]
pub struct LineCursor<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
    column: u32,
}

impl<'t> LineCursor<'t> {
    /// A cursor at the start of the text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let offset = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
        Self { text, offset, line: 1, column: 1 }
    }

    /// The span of `len` bytes at `offset`. See [`Span::locate`] for offsets beyond the end or inside a character. A length
    /// beyond the end is truncated; a length that ends inside a character is extended to its end.
    pub fn span(&mut self, offset: usize, len: usize) -> Span {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        // Editors do not count a byte order mark as a character.
        let place = if self.text.starts_with(BOM) { offset.max(BOM.len_utf8()) } else { offset };
        if place >= self.offset {
            self.forward(place);
        } else {
            self.backward(place);
        }
        let mut end = offset.saturating_add(len).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        Span { line: self.line, column: self.column, offset, len: end - offset }
    }

    fn forward(&mut self, to: usize) {
        for &byte in &self.text.as_bytes()[self.offset..to] {
            if byte == b'\n' {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            } else if byte & 0xC0 != 0x80 {
                self.column = self.column.saturating_add(1);
            }
        }
        self.offset = to;
    }

    fn backward(&mut self, to: usize) {
        let bytes = self.text.as_bytes();
        let newlines = bytes[to..self.offset].iter().filter(|&&byte| byte == b'\n').count();
        if newlines == 0 {
            let chars = bytes[to..self.offset].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
            self.column = self.column.saturating_sub(chars as u32).max(1);
        } else {
            self.line = self.line.saturating_sub(newlines as u32).max(1);
            let start = bytes[..to].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let line = self.text[start..to].strip_prefix(BOM).unwrap_or(&self.text[start..to]);
            self.column = u32::try_from(line.chars().count()).unwrap_or(u32::MAX - 1) + 1;
        }
        self.offset = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwö x\r\n\nend";

    #[test]
    fn counts_characters_from_one() {
        let at = |offset| {
            let span = Span::locate(TEXT, offset, 0);
            (span.line, span.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(3), (1, 4));
        assert_eq!(at(4), (2, 1));
        assert_eq!(at(9), (2, 5), "the ö on this line has two bytes");
        assert_eq!(at(7), (2, 3), "an offset inside a character means its start");
        assert_eq!(at(12), (3, 1));
        assert_eq!(at(9999), (4, 4), "beyond the end means the end");
        assert_eq!(Span::locate(TEXT, 6, 1).len, 2, "a character is never cut");
        assert_eq!(Span::locate(TEXT, 12, 99).end(), TEXT.len());
    }

    #[test]
    fn positions_do_not_depend_on_the_order_of_conversions() {
        let mut cursor = LineCursor::new(TEXT);
        for step in 0..200_usize {
            let offset = step * 7 % (TEXT.len() + 1);
            assert_eq!(cursor.span(offset, 1), Span::locate(TEXT, offset, 1), "offset {offset}");
        }
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let text = "\u{FEFF}<a>";
        assert_eq!(Span::locate(text, 3, 0).column, 1);
        let mut cursor = LineCursor::new(text);
        assert_eq!(cursor.span(4, 0).column, 2);
        assert_eq!(cursor.span(3, 0).column, 1);
        assert_eq!(cursor.span(0, 0).column, 1);
        assert_eq!(cursor.span(5, 0).column, 3);
    }
}
