//! The position of the parser in the text of a path.

/// A position in the text of a path, with the state of the parser.
pub(crate) struct Cursor<'p> {
    /// The whole path.
    pub text: &'p str,
    /// Byte offset of the next character.
    pub at: usize,
    /// The path is inside a filter; there it ends at the first character that cannot belong to it.
    pub inside: bool,
    /// Begin and end of the filter that is being parsed, with its brackets.
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

    /// The position behind the first character of a path, `$` or `@`.
    pub(crate) fn behind_root(text: &'p str) -> Self {
        Self { text, at: 1, inside: false, filter: (0, 0), depth: 0 }
    }

    /// The index of the UTF-16 code unit at a byte offset, as in Jayway's messages.
    pub(crate) fn position(&self, at: usize) -> usize {
        self.text[..at].encode_utf16().count()
    }

    /// The text up to the closing quote, without its escapes; the position is then behind the quote.
    pub(crate) fn quoted(&mut self, quote: char) -> Option<String> {
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
