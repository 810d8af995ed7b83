//! The structure of a parsed selector.

use std::ops::Range;

use busyhour_oro::Finder;

/// Why a text is not a valid selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SelectorError(pub(crate) String);

/// A selector: a list of alternative chains.
#[derive(Debug)]
pub(crate) struct Selector {
    pub(super) chains: Vec<Chain>,
}

/// A sequence of compound selectors.
#[derive(Debug)]
pub(super) struct Chain {
    /// Each compound selector with the combinator before it. If the chain begins with a combinator, the first selector is
    /// relative to the root; otherwise its combinator is [`Combinator::Start`].
    pub(super) parts: Vec<(Combinator, Vec<Test>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combinator {
    /// No combinator: the start of a chain.
    Start,
    /// ` ` (a space): the descendants.
    Descendant,
    /// `>`: the children.
    Child,
    /// `+`: the next sibling.
    Next,
    /// `~`: all later siblings.
    Later,
}

/// The condition `an+b` on the number of an element among its siblings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nth {
    /// The number `a`.
    pub(super) step: i64,
    /// The number `b`.
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
    TagInAnyNamespace(String),
    Id(String),
    Class(String),
    Attribute(String),
    AttributePrefix(String),
    Equals(String, String),
    NotEquals(String, String),
    StartsWith(String, String),
    EndsWith(String, String),
    Contains(String, String),
    Matches(String, Box<Finder>),
    /// Index among the siblings, from 0.
    Index(Range<usize>),
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
