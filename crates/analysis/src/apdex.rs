//! The Application Performance Index.

use busyhour_sample::{ApdexLimits, Totals};
use serde::{Deserialize, Serialize};

/// The Application Performance Index of the Apdex Alliance (technical specification 1.1, 2007), computed from response times:
/// (satisfied + tolerating / 2) / all. A failed sample counts as frustrated, however fast it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Apdex {
    /// Maximum response time of a satisfied sample, in ms.
    pub satisfied_ms: f64,
    /// Maximum response time of a tolerating sample, in ms.
    pub tolerating_ms: f64,
    /// Number of satisfied samples.
    pub satisfied: u64,
    /// Number of tolerating samples.
    pub tolerating: u64,
    /// Number of frustrated samples.
    pub frustrated: u64,
    /// The index, from 0 (all frustrated) to 1 (all satisfied).
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
