//! Words, signs and places of a criterion's text.

use super::super::criterion::{CriterionError, Meaning};

/// What is wrong at a place of the text.
pub(super) struct Wrong {
    pub(super) offset: usize,
    pub(super) len: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Wrong {
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Wrong {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn told(self, text: &str) -> CriterionError {
        let Wrong { offset, len, message, hint } = self;
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

    /// Takes the text up to `quote`, in which a backslash stands before what is meant as it is.
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

    /// Takes the text up to a slash, in which `\/` is one; other backslashes are the pattern's.
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

    /// Where the next thing stands.
    pub(super) fn place(&mut self) -> usize {
        self.skip_spaces();
        self.at
    }

    /// Takes `sign` if it is next.
    pub(super) fn sign(&mut self, sign: &str) -> bool {
        self.skip_spaces();
        let found = self.left().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// Takes `word` if it is next, whole and in any case.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let left = self.left();
        let next = left.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).unwrap_or(left.len());
        // A subject may go on behind it: `fail` of `fail>5`.
        let found = left[..next].eq_ignore_ascii_case(word);
        self.at += if found { next } else { 0 };
        found
    }

    pub(super) fn wrong(&self, from: usize, to: usize, message: String) -> Wrong {
        Wrong { offset: from, len: to.saturating_sub(from), message, hint: None }
    }

    /// What is wrong with the word at `from`.
    pub(super) fn wrong_from(&self, from: usize, message: impl Into<String>) -> Wrong {
        let left = self.text.get(from..).unwrap_or_default();
        let len = left.find([' ', ',']).unwrap_or(left.len());
        self.wrong(from, from + len, message.into())
    }

    pub(super) fn wrong_here(&mut self, message: &str) -> Wrong {
        let from = self.place();
        self.wrong_from(from, message)
    }
}
