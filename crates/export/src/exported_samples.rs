//! The result of an export of samples.

use busyhour_results::InputFacts;

/// The result of an export of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedSamples {
    /// Number of rows written.
    pub rows: u64,
    /// Facts about the source: whether it is complete, and rows that could not be read.
    pub found: Vec<InputFacts>,
}
