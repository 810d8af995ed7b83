//! The structure of a parsed selector.

use std::ops::Range;

use busyhour_oro::Finder;

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SelectorError(pub(crate) String);

/// A selector: one of several chains.
#[derive(Debug)]
pub(crate) struct Selector {
    pub(super) chains: Vec<Chain>,
}

/// Compound selectors with what is between each and the one before.
#[derive(Debug)]
pub(super) struct Chain {
    /// The first one's combinator counts only where the chain begins with one: then it starts at the root.
    pub(super) parts: Vec<(Combinator, Vec<Test>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combinator {
    /// Nothing before.
    Start,
    /// ` `
    Descendant,
    /// `>`
    Child,
    /// `+`
    Next,
    /// `~`
    Later,
}

/// Which siblings an `an+b` counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nth {
    pub(super) step: i64,
    pub(super) offset: i64,
    pub(super) from_end: bool,
    pub(super) of_type: bool,
}

/// One condition on an element.
#[derive(Debug)]
pub(super) enum Test {
    All,
    Tag(String),
    /// `*|name`
    TagOfAnySpace(String),
    Id(String),
    Class(String),
    Attribute(String),
    AttributePrefix(String),
    Equals(String, String),
    Differs(String, String),
    Begins(String, String),
    Ends(String, String),
    Contains(String, String),
    Matches(String, Box<Finder>),
    /// Place among the siblings, from 0.
    Place(Range<usize>),
    Nth(Nth),
    Only {
        of_type: bool,
    },
    Root,
    Empty,
    Has(Selector),
    Not(Selector),
    Is(Selector),
    Text {
        text: String,
        own: bool,
    },
    WholeText(String),
    Pattern {
        pattern: Box<Finder>,
        own: bool,
        whole: bool,
    },
}
