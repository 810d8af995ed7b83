//! Lexical elements of a line: blanks, names, quoted texts, numbers.

use std::borrow::Cow;

use super::line_error::{LineProblem, TEXT_MAX};

/// The rest of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner<'t> {
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        Self { rest: line }
    }

    pub(super) const fn rest(&self) -> &'t str {
        self.rest
    }

    pub(super) fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Skips `byte`, which must be ASCII, if it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.rest.as_bytes().first() == Some(&byte);
        if is_next {
            self.rest = &self.rest[1..];
        }
        is_next
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    /// The longest prefix whose bytes satisfy `belongs`, which must accept only ASCII.
    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'t str {
        let end = self.rest.bytes().position(|byte| !belongs(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// A name without quotes: letters, digits, `_` and, for metrics, `:`. The first character is not a digit.
    pub(super) fn plain_name(&mut self, with_colon: bool) -> Option<&'t str> {
        if self.peek()?.is_ascii_digit() {
            return None;
        }
        let name = self
            .take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || (with_colon && byte == b':'));
        (!name.is_empty()).then_some(name)
    }

    /// A text in quotes. The escapes are `\\`, `\"` and `\n`; another backslash is kept, as Prometheus does.
    pub(super) fn quoted(&mut self) -> Result<Cow<'t, str>, LineProblem> {
        if !self.take(b'"') {
            return Err(LineProblem::NoQuote);
        }
        let text = self.rest;
        let mut decoded = String::new();
        let mut from = 0;
        let mut escaped = false;
        for (at, byte) in text.bytes().enumerate() {
            if escaped {
                escaped = false;
                let piece = match byte {
                    b'\\' => "\\",
                    b'"' => "\"",
                    b'n' => "\n",
                    _ => continue,
                };
                decoded.push_str(&text[from..at - 1]);
                decoded.push_str(piece);
                from = at + 1;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == b'"' {
                self.rest = &text[at + 1..];
                if at > TEXT_MAX {
                    return Err(LineProblem::TooLong);
                }
                if from == 0 {
                    return Ok(Cow::Borrowed(&text[..at]));
                }
                decoded.push_str(&text[from..at]);
                return Ok(Cow::Owned(decoded));
            }
        }
        Err(LineProblem::NoQuote)
    }

    /// A word up to the next blank.
    pub(super) fn word(&mut self) -> &'t str {
        let end = self.rest.find([' ', '\t']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// The text after `# HELP name`: the escapes are `\\` and `\n`, in OpenMetrics also `\"`.
pub(super) fn unescape_help(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            decoded.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => decoded.push('\n'),
            Some(escaped @ ('\\' | '"')) => decoded.push(escaped),
            Some(other) => decoded.extend(['\\', other]),
            None => decoded.push('\\'),
        }
    }
    Cow::Owned(decoded)
}

/// A value as Go's `ParseFloat` reads it, except for hexadecimal numbers and underscores, which no exporter writes.
pub(super) fn number(word: &str) -> Option<f64> {
    word.parse().ok()
}
