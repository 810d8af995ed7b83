//! The Application Performance Index.

use busyhour_record::{ApdexLimits, Totals};
use serde::{Deserialize, Serialize};

/// The Application Performance Index of the Apdex Alliance (technical specification 1.1, 2007): of response times,
/// (satisfied + tolerating / 2) / all. A failed sample is frustrating, however fast it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Apdex {
    /// Up to this many ms a user is satisfied.
    pub satisfied_ms: f64,
    /// Up to this many ms a user tolerates it.
    pub tolerating_ms: f64,
    /// Samples that satisfied.
    pub satisfied: u64,
    /// Samples that were tolerated.
    pub tolerating: u64,
    /// Samples that frustrated.
    pub frustrated: u64,
    /// From 0 (all frustrated) to 1 (all satisfied).
    pub score: f64,
}

impl Apdex {
    pub(crate) fn of(totals: &Totals, limits: ApdexLimits) -> Option<Apdex> {
        let (satisfied, tolerating) = (totals.satisfied, totals.tolerated);
        (totals.samples > 0).then(|| Apdex {
            satisfied_ms: limits.satisfied_ns as f64 / 1e6,
            tolerating_ms: limits.tolerated_ns as f64 / 1e6,
            satisfied,
            tolerating,
            frustrated: totals.samples.saturating_sub(satisfied + tolerating),
            score: (satisfied as f64 + tolerating as f64 / 2.0) / totals.samples as f64,
        })
    }
}
