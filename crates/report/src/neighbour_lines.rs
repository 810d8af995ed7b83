//! The neighbours of the observed system, for terminals.

use busyhour_analysis::Summary;

use crate::marks::{Quality, marked};
use crate::terminal_text::Look;

/// The neighbour that was found, or the reason why neighbours were not watched; empty if no neighbour was found.
pub(crate) fn neighbour_lines(summary: &Summary, look: Look) -> Vec<String> {
    let Some(neighbours) = &summary.neighbours else { return Vec::new() };
    let quality = if neighbours.found.is_empty() { Quality::Open } else { Quality::Warn };
    neighbours.line().map_or_else(Vec::new, |line| marked(quality, &line, look))
}

/// The same as a text whose lines end with `\n`.
#[must_use]
pub fn neighbour_text(summary: &Summary, look: Look) -> String {
    neighbour_lines(summary, look).into_iter().map(|line| line + "\n").collect()
}
