//! Scans the words and signs of a criterion's text.

use super::super::criterion::{CriterionError, Meaning};

/// An error at a position of the text.
pub(super) struct ParseError {
    pub(super) offset: usize,
    pub(super) len: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl ParseError {
    pub(super) fn hint(mut self, hint: impl Into<String>) -> ParseError {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn into_error(self, text: &str) -> CriterionError {
        let ParseError { offset, len, message, hint } = self;
        CriterionError { text: text.to_owned(), offset, len, message, hint }
    }
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) meaning: Meaning,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, at: usize, meaning: Meaning) -> Reader<'t> {
        Reader { text, at, meaning }
    }

    /// Consumes the text up to `quote`. A backslash escapes the next character.
    pub(super) fn up_to(&mut self, quote: char) -> Option<String> {
        let mut label = String::new();
        let mut chars = self.left().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => label.push(chars.next()?.1),
                c if c == quote => {
                    self.at += at + c.len_utf8();
                    return Some(label);
                }
                c => label.push(c),
            }
        }
        None
    }

    /// Consumes the text up to a slash. `\/` is an escaped slash; other backslashes belong to the pattern.
    pub(super) fn up_to_slash(&mut self) -> Option<String> {
        let mut pattern = String::new();
        let mut chars = self.left().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next()?.1 {
                    '/' => pattern.push('/'),
                    other => pattern.extend(['\\', other]),
                },
                '/' => {
                    self.at += at + 1;
                    return Some(pattern);
                }
                c => pattern.push(c),
            }
        }
        None
    }

    pub(super) fn left(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.left().trim_start().len();
    }

    /// The position of the next token.
    pub(super) fn place(&mut self) -> usize {
        self.skip_spaces();
        self.at
    }

    /// Consumes `sign` if it is next. Returns whether it was.
    pub(super) fn sign(&mut self, sign: &str) -> bool {
        self.skip_spaces();
        let found = self.left().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// Consumes `word` if it is the next whole word, ignoring case. Returns whether it was.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let left = self.left();
        let next = left.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).unwrap_or(left.len());
        // A sign may follow the word directly, as in `fail>5`.
        let found = left[..next].eq_ignore_ascii_case(word);
        self.at += if found { next } else { 0 };
        found
    }

    pub(super) fn wrong(&self, from: usize, to: usize, message: String) -> ParseError {
        ParseError { offset: from, len: to.saturating_sub(from), message, hint: None }
    }

    /// An error at the word that begins at `from`.
    pub(super) fn wrong_from(&self, from: usize, message: impl Into<String>) -> ParseError {
        let left = self.text.get(from..).unwrap_or_default();
        let len = left.find([' ', ',']).unwrap_or(left.len());
        self.wrong(from, from + len, message.into())
    }

    pub(super) fn wrong_here(&mut self, message: &str) -> ParseError {
        let from = self.place();
        self.wrong_from(from, message)
    }
}
