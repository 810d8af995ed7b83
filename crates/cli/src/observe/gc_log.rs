//! A garbage-collection log with its summary.

use busyhour_gclog::GcSummary;

/// A log, or the parts of a rotated one.
pub(super) struct SummarisedLog {
    /// The path of the first file, and how many more there are.
    pub(super) name: String,
    pub(super) summary: GcSummary,
}
