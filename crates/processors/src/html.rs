//! HTML: parsing to trees, jsoup's selectors, and conversion to XML documents.

mod limit;
mod select;
mod text;
mod tidy;
mod tree;

pub(crate) use limit::SelectLimit;
pub(crate) use select::{Selector, SelectorError};
pub(crate) use text::TextBudget;
pub(crate) use tidy::parse_tolerantly;
pub(crate) use tree::{NodeKind, PageLimit, ROOT, parse};

#[cfg(test)]
mod tests;
