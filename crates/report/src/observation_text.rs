//! The figures of an observation without a run, for the terminal.

use busyhour_analysis::system::SystemFigures;

use crate::system_lines::{system_lines, system_table};
use crate::terminal_text::Look;

/// A few lines about the most important figures, or all figures with `details`. Lines end with `\n`.
#[must_use]
pub fn observation_text(system: &SystemFigures, details: bool, look: Look) -> String {
    match details {
        true => system_table(system, look),
        false => system_lines(system, look).into_iter().map(|line| line + "\n").collect(),
    }
}
