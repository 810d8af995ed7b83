//! A text of a plan, borrowed from the source if possible.

use std::ops::Range;

/// A text: a range of the source, or an owned text if the source contains references or escapes.
#[derive(Clone, Debug)]
pub(crate) enum Slice {
    Source { start: u32, len: u32 },
    Owned(Box<str>),
}

impl Slice {
    pub(crate) const EMPTY: Self = Self::Source { start: 0, len: 0 };

    pub(crate) fn from_range(range: Range<usize>) -> Self {
        Self::Source { start: range.start as u32, len: (range.end - range.start) as u32 }
    }

    pub(crate) fn get<'a>(&'a self, source: &'a str) -> &'a str {
        match self {
            Self::Source { start, len } => &source[*start as usize..*start as usize + *len as usize],
            Self::Owned(text) => text,
        }
    }
}
