//! Sums over requests.

/// Sums over the requests that were meant to start in a part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Number of requests.
    pub requests: f64,
    /// Their scores.
    pub score: f64,
    /// The time by which their responses took longer than the median of their label, in ms; 0 for faster ones.
    pub excess_ms: f64,
    /// Requests that were slower than the 95th percentile of their label.
    pub slow: f64,
}

impl Sums {
    /// Adds other sums.
    pub(crate) fn add(&mut self, other: Sums) {
        *self = self.combined(other, 1.0);
    }

    /// The sum of these sums and of others that are multiplied by a factor.
    pub(crate) fn combined(self, other: Sums, factor: f64) -> Sums {
        Sums {
            requests: self.requests + factor * other.requests,
            score: self.score + factor * other.score,
            excess_ms: self.excess_ms + factor * other.excess_ms,
            slow: self.slow + factor * other.slow,
        }
    }
}
