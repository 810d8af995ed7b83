//! The parser's position in the text of a path.

/// A position in the text of a path, and the state of the parser.
pub(crate) struct Cursor<'p> {
    /// The whole path.
    pub text: &'p str,
    /// Byte offset of the next character.
    pub at: usize,
    /// Whether the path is part of a filter, where it ends at the first character that cannot belong to it.
    pub in_filter: bool,
    /// Byte offsets of the start and end of the filter that is being parsed, including its brackets.
    pub filter: (usize, usize),
    /// Nesting depth of filters.
    pub depth: u32,
}

impl<'p> Cursor<'p> {
    pub(crate) fn rest(&self) -> &'p str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The position after the first character of a path, which is `$` or `@`.
    pub(crate) fn after_root(text: &'p str) -> Self {
        Self { text, at: 1, in_filter: false, filter: (0, 0), depth: 0 }
    }

    /// Converts a byte offset to an index of UTF-16 code units, as in Jayway's messages.
    pub(crate) fn utf16_position(&self, at: usize) -> usize {
        self.text[..at].encode_utf16().count()
    }

    /// Reads up to and including the closing quote, and resolves escapes. `None` if the quote is not closed.
    pub(crate) fn read_quoted(&mut self, quote: char) -> Option<String> {
        let mut out = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((offset, character)) = characters.next() {
            if character == quote {
                self.at += offset + quote.len_utf8();
                return Some(out);
            }
            if character == '\\' {
                let (_, escaped) = characters.next()?;
                out.push(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                });
            } else {
                out.push(character);
            }
        }
        None
    }
}
