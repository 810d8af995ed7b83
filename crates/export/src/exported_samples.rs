//! What an export of samples reports.

use busyhour_results::InputFacts;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedSamples {
    /// Rows.
    pub rows: u64,
    /// What was found in the source: whether it is whole, rows that could not be understood.
    pub found: Vec<InputFacts>,
}
