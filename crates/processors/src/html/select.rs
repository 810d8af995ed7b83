//! jsoup's selectors.

mod parse;

use std::ops::Range;

use super::text::{element_text, own_text, whole_text};
use super::tree::{Id, ROOT, Tree};

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SelectorError(pub(crate) String);

/// A selector: one of several chains.
#[derive(Debug)]
pub(crate) struct Selector {
    chains: Vec<Chain>,
}

/// Compound selectors with what is between each and the one before.
#[derive(Debug)]
struct Chain {
    /// The first one's combinator counts only where the chain begins with one: then it starts at the root.
    parts: Vec<(Combinator, Vec<Test>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combinator {
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
struct Nth {
    step: i64,
    offset: i64,
    from_end: bool,
    of_type: bool,
}

/// One condition on an element.
#[derive(Debug)]
enum Test {
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
    Matches(String, Box<fancy_regex::Regex>),
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
        pattern: Box<fancy_regex::Regex>,
        own: bool,
        whole: bool,
    },
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// When it is none, or its regular expressions are not supported.
    pub(crate) fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::Parser::new(text).selector()
    }

    /// What it selects, in the document's order.
    pub(crate) fn select(&self, tree: &Tree) -> Vec<Id> {
        let elements = |id: &Id| *id == ROOT || tree.name(*id).is_some();
        tree.with_descendants(ROOT)
            .into_iter()
            .filter(elements)
            .filter(|id| self.fits(tree, ROOT, *id))
            .collect()
    }

    fn fits(&self, tree: &Tree, root: Id, element: Id) -> bool {
        self.chains.iter().any(|chain| chain.fits(tree, root, element, chain.parts.len() - 1))
    }
}

impl Chain {
    fn fits(&self, tree: &Tree, root: Id, element: Id, at: usize) -> bool {
        let (combinator, tests) = &self.parts[at];
        if !tests.iter().all(|test| test.fits(tree, root, element)) {
            return false;
        }
        let before = |candidate: Id| {
            if at == 0 { candidate == root } else { self.fits(tree, root, candidate, at - 1) }
        };
        match combinator {
            Combinator::Start => true,
            // Nothing above the root is looked at.
            _ if element == root => false,
            Combinator::Child => tree.nodes[element].parent.is_some_and(before),
            Combinator::Descendant => {
                let mut at = element;
                while let Some(parent) = tree.nodes[at].parent {
                    if before(parent) {
                        return true;
                    }
                    if parent == root {
                        return false;
                    }
                    at = parent;
                }
                false
            }
            Combinator::Next => earlier(tree, element).last().is_some_and(|id| before(*id)),
            Combinator::Later => earlier(tree, element).into_iter().any(before),
        }
    }
}

/// The elements before an element, below the same parent.
fn earlier(tree: &Tree, element: Id) -> Vec<Id> {
    match tree.nodes[element].parent {
        Some(parent) => tree.child_elements(parent).take_while(|id| *id != element).collect(),
        None => Vec::new(),
    }
}

/// The parent, where counting among siblings makes sense: not the document.
fn counting_parent(tree: &Tree, element: Id) -> Option<Id> {
    tree.nodes[element].parent.filter(|parent| *parent != ROOT)
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

fn found(pattern: &fancy_regex::Regex, text: &str) -> bool {
    pattern.is_match(text).unwrap_or(false)
}

impl Test {
    fn fits(&self, tree: &Tree, root: Id, element: Id) -> bool {
        let name = || tree.name(element).unwrap_or("#root");
        let attribute = |key: &str| tree.attribute(element, key);
        match self {
            Self::All => true,
            Self::Tag(wanted) => name() == wanted,
            Self::TagOfAnySpace(wanted) => name().rsplit(':').next() == Some(wanted),
            Self::Id(wanted) => attribute("id").unwrap_or("") == wanted,
            Self::Class(wanted) => attribute("class").is_some_and(|own| {
                own.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted))
            }),
            Self::Attribute(key) => attribute(key).is_some(),
            Self::AttributePrefix(prefix) => {
                tree.attributes(element).iter().any(|(key, _)| lower(key).starts_with(prefix.as_str()))
            }
            Self::Equals(key, value) => attribute(key).is_some_and(|own| lower(own.trim()) == *value),
            Self::Differs(key, value) => lower(attribute(key).unwrap_or("")) != *value,
            Self::Begins(key, value) => {
                attribute(key).is_some_and(|own| lower(own).starts_with(value.as_str()))
            }
            Self::Ends(key, value) => attribute(key).is_some_and(|own| lower(own).ends_with(value.as_str())),
            Self::Contains(key, value) => {
                attribute(key).is_some_and(|own| lower(own).contains(value.as_str()))
            }
            Self::Matches(key, pattern) => attribute(key).is_some_and(|own| found(pattern, own)),
            Self::Place(places) => element != root && places.contains(&earlier(tree, element).len()),
            Self::Nth(nth) => nth.fits(tree, element),
            Self::Only { of_type } => counting_parent(tree, element).is_some_and(|parent| {
                let like = |id: &Id| !of_type || tree.name(*id) == tree.name(element);
                tree.child_elements(parent).filter(like).count() == 1
            }),
            Self::Root => match tree.name(root) {
                Some(_) => element == root,
                None => tree.child_elements(root).next() == Some(element),
            },
            Self::Empty => tree.nodes[element].children.iter().all(|child| match &tree.nodes[*child].kind {
                super::tree::Kind::Comment(_) => true,
                super::tree::Kind::Text(text) => text.trim().is_empty(),
                _ => false,
            }),
            Self::Has(selector) => {
                let below = tree.with_descendants(element);
                let elements = |id: &&Id| tree.name(**id).is_some();
                below[1..].iter().filter(elements).any(|id| selector.fits(tree, element, *id))
            }
            Self::Not(selector) => !selector.fits(tree, root, element),
            Self::Is(selector) => selector.fits(tree, root, element),
            Self::Text { text, own: true } => lower(&own_text(tree, element)).contains(text.as_str()),
            Self::Text { text, own: false } => lower(&element_text(tree, element)).contains(text.as_str()),
            Self::WholeText(text) => whole_text(tree, element).contains(text.as_str()),
            Self::Pattern { pattern, own, whole } => {
                let text = match (own, whole) {
                    (_, true) => whole_text(tree, element),
                    (true, false) => own_text(tree, element),
                    (false, false) => element_text(tree, element),
                };
                found(pattern, &text)
            }
        }
    }
}

impl Nth {
    fn fits(self, tree: &Tree, element: Id) -> bool {
        let Some(parent) = counting_parent(tree, element) else { return false };
        let like = |id: &Id| !self.of_type || tree.name(*id) == tree.name(element);
        let siblings: Vec<Id> = tree.child_elements(parent).filter(like).collect();
        let Some(at) = siblings.iter().position(|id| *id == element) else { return false };
        let at = if self.from_end { siblings.len() - at } else { at + 1 };
        let distance = i64::try_from(at).unwrap_or(i64::MAX) - self.offset;
        match self.step {
            0 => distance == 0,
            step => distance % step == 0 && distance / step >= 0,
        }
    }
}
