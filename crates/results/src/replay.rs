//! The totals of a run, computed from its samples file or from result files.

use busyhour_record::SamplesEnd;
use busyhour_sample::{RunNames, RunTotals};

use crate::input_facts::InputFacts;

/// The totals of a samples file or of result files.
#[derive(Debug, Clone)]
pub struct ReplayedRun {
    /// The totals.
    pub totals: RunTotals,
    /// Number of samples in the samples file, and where it is truncated.
    pub end: SamplesEnd,
    /// The names in the inputs.
    pub names: RunNames,
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Facts about each input.
    pub inputs: Vec<InputFacts>,
}
