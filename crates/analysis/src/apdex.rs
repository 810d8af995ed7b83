//! The Application Performance Index.

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
