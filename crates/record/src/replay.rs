//! Adding up a run again from its record.

use crate::live::IntervalCounts;
use crate::results::InputFacts;
use crate::run_names::RunNames;
use crate::run_totals::RunTotals;
use crate::sample::Nanos;
use crate::samples_file::SamplesEnd;

/// What a record adds up to.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The numbers.
    pub totals: RunTotals,
    /// How the record ended.
    pub end: SamplesEnd,
    /// The names in it.
    pub names: RunNames,
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
    /// What was read.
    pub inputs: Vec<InputFacts>,
}

impl RunTotals {
    /// The numbers of the whole run as a summariser line has them, over `length`.
    #[must_use]
    pub fn summary_counts(&self, length: Nanos) -> IntervalCounts {
        IntervalCounts {
            samples: self.total.samples,
            errors: self.total.errors,
            elapsed: self.total.elapsed,
            since: Nanos::ZERO,
            until: length,
        }
    }
}
