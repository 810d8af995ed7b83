//! HTML: trees, what jsoup's selectors select in them, and their use as XML documents.

mod limit;
mod select;
mod text;
mod tidy;
mod tree;

pub(crate) use limit::SelectLimit;
pub(crate) use select::{Selector, SelectorError};
pub(crate) use text::TextBudget;
pub(crate) use tidy::tolerant;
pub(crate) use tree::{Kind, PageLimit, ROOT, parse};

#[cfg(test)]
mod tests;
