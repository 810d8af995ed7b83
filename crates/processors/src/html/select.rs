//! jsoup's selectors.

mod parse;
mod search;
mod syntax;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_oro::Finder;

use super::limit::{STEPS_MAX, SelectLimit};
use super::text::{element_text, own_text, whole_text};
use super::tree::{Id, ROOT, Tree};
use search::Search;
use syntax::{Chain, Combinator, Nth, Test};
pub(crate) use syntax::{Selector, SelectorError};

impl Selector {
    /// Parses a selector.
    ///
    /// # Errors
    /// The text is not a selector, or contains a regular expression that is not supported.
    pub(crate) fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::Parser::new(text).selector()
    }

    /// Returns the selected elements in document order.
    ///
    /// # Errors
    /// The selection exceeds the limit of steps.
    pub(crate) fn select(&self, tree: &Tree) -> Result<Vec<Id>, SelectLimit> {
        self.select_within(tree, STEPS_MAX)
    }

    pub(super) fn select_within(&self, tree: &Tree, steps: u64) -> Result<Vec<Id>, SelectLimit> {
        let search = Search::new(tree, steps);
        let elements = |id: &Id| *id == ROOT || tree.name(*id).is_some();
        let selected = tree
            .with_descendants(ROOT)
            .into_iter()
            .filter(elements)
            .filter(|id| self.fits(&search, ROOT, *id))
            .collect();
        if search.is_aborted() {
            count_exceeded(Limit::SelectorSteps);
            return Err(SelectLimit);
        }
        Ok(selected)
    }

    fn fits(&self, search: &Search<'_>, root: Id, element: Id) -> bool {
        self.chains.iter().any(|chain| chain.fits(search, root, element, chain.parts.len() - 1) == Fit::Yes)
    }
}

/// The result of matching a part of a chain, and all parts before it, against an element. If the element does not
/// match, the result states which other elements cannot match either, so that they are not tried. `div div div p`
/// therefore walks up the tree once, not once for each combination of ancestors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Yes,
    /// This element does not match.
    NotHere,
    /// Neither this element nor its preceding siblings match.
    NoSibling,
    /// Neither this element nor its ancestors match.
    Nowhere,
}

impl Chain {
    fn fits(&self, search: &Search<'_>, root: Id, element: Id, at: usize) -> Fit {
        let tree = search.tree;
        let (combinator, tests) = &self.parts[at];
        if !search.spend(1) {
            return Fit::Nowhere;
        }
        if !tests.iter().all(|test| test.fits(search, root, element)) {
            return Fit::NotHere;
        }
        let before = |candidate: Id| match at {
            0 if candidate == root => Fit::Yes,
            0 => Fit::NotHere,
            _ => self.fits(search, root, candidate, at - 1),
        };
        match combinator {
            Combinator::Start => Fit::Yes,
            // The root has no ancestors in this search.
            _ if element == root => Fit::NotHere,
            Combinator::Child => match tree.nodes[element].parent.map(before) {
                Some(fit @ (Fit::Yes | Fit::Nowhere)) => fit,
                Some(Fit::NotHere | Fit::NoSibling) => Fit::NotHere,
                None => Fit::Nowhere,
            },
            Combinator::Descendant => {
                let mut at = element;
                while let Some(parent) = tree.nodes[at].parent {
                    match before(parent) {
                        fit @ (Fit::Yes | Fit::Nowhere) => return fit,
                        Fit::NotHere | Fit::NoSibling => {}
                    }
                    if parent == root || !search.spend(1) {
                        break;
                    }
                    at = parent;
                }
                Fit::Nowhere
            }
            Combinator::Next => search.previous(element).map_or(Fit::NoSibling, before),
            Combinator::Later => {
                let mut next = search.previous(element);
                while let Some(sibling) = next.filter(|_| search.spend(1)) {
                    match before(sibling) {
                        Fit::NotHere => next = search.previous(sibling),
                        fit @ (Fit::Yes | Fit::NoSibling | Fit::Nowhere) => return fit,
                    }
                }
                Fit::NoSibling
            }
        }
    }
}

/// The parent within which siblings are counted; `None` for the root element.
fn counting_parent(tree: &Tree, element: Id) -> Option<Id> {
    tree.nodes[element].parent.filter(|parent| *parent != ROOT)
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

impl Test {
    fn fits(&self, search: &Search<'_>, root: Id, element: Id) -> bool {
        let tree = search.tree;
        let name = || tree.name(element).unwrap_or("#root");
        let attribute = |key: &str| {
            let value = tree.attribute(element, key);
            search.spend(tree.attributes(element).len() + value.map_or(0, str::len) / 16);
            value
        };
        let found = |pattern: &Finder, text: &str| {
            search.spend_text(text) && pattern.is_match(text).unwrap_or_else(|_| search.abort())
        };
        match self {
            Self::All => true,
            Self::Tag(wanted) => name() == wanted,
            Self::TagInAnyNamespace(wanted) => name().rsplit(':').next() == Some(wanted),
            Self::Id(wanted) => attribute("id").unwrap_or("") == wanted,
            Self::Class(wanted) => attribute("class").is_some_and(|own| {
                own.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted))
            }),
            Self::Attribute(key) => attribute(key).is_some(),
            Self::AttributePrefix(prefix) => {
                tree.attributes(element).iter().any(|(key, _)| lower(key).starts_with(prefix.as_str()))
            }
            Self::Equals(key, value) => attribute(key).is_some_and(|own| lower(own.trim()) == *value),
            Self::NotEquals(key, value) => lower(attribute(key).unwrap_or("")) != *value,
            Self::StartsWith(key, value) => {
                attribute(key).is_some_and(|own| lower(own).starts_with(value.as_str()))
            }
            Self::EndsWith(key, value) => {
                attribute(key).is_some_and(|own| lower(own).ends_with(value.as_str()))
            }
            Self::Contains(key, value) => {
                attribute(key).is_some_and(|own| lower(own).contains(value.as_str()))
            }
            Self::Matches(key, pattern) => attribute(key).is_some_and(|own| found(pattern, own)),
            Self::Index(indexes) => element != root && indexes.contains(&search.index(element)),
            Self::Nth(nth) => nth.fits(search, element),
            Self::Only { of_type } => {
                counting_parent(tree, element).is_some() && search.count(element, *of_type) == 1
            }
            Self::Root => match tree.name(root) {
                Some(_) => element == root,
                None => tree.child_elements(root).next() == Some(element),
            },
            Self::Empty => tree.nodes[element].children.iter().all(|child| match &tree.nodes[*child].kind {
                super::tree::NodeKind::Comment(_) => search.spend(1),
                super::tree::NodeKind::Text(text) => search.spend(1) && text.trim().is_empty(),
                _ => false,
            }),
            Self::Has(selector) => search.descendants(element).is_some_and(|descendants| {
                descendants.into_iter().any(|id| selector.fits(search, element, id))
            }),
            Self::Not(selector) => !selector.fits(search, root, element),
            Self::Is(selector) => selector.fits(search, root, element),
            Self::Text { text, own: true } => {
                search.spend(tree.nodes[element].children.len());
                let own = own_text(tree, element);
                search.spend_text(&own) && lower(&own).contains(text.as_str())
            }
            Self::Text { text, own: false } => {
                search.spend_descendants(element) && {
                    let all = element_text(tree, element);
                    search.spend_text(&all) && lower(&all).contains(text.as_str())
                }
            }
            Self::WholeText(text) => {
                search.spend_descendants(element) && {
                    let all = whole_text(tree, element);
                    search.spend_text(&all) && all.contains(text.as_str())
                }
            }
            Self::Pattern { pattern, own, whole } => {
                search.spend_descendants(element) && {
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
}

impl Nth {
    fn fits(self, search: &Search<'_>, element: Id) -> bool {
        if counting_parent(search.tree, element).is_none() {
            return false;
        }
        let index = if self.of_type { search.index_of_type(element) } else { search.index(element) };
        let number = if self.from_end { search.count(element, self.of_type) - index } else { index + 1 };
        let distance = i64::try_from(number).unwrap_or(i64::MAX).saturating_sub(self.offset);
        match self.step {
            0 => distance == 0,
            step => distance % step == 0 && distance / step >= 0,
        }
    }
}

#[cfg(test)]
mod tests;
