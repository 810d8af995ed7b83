//! Rounding of reported figures.

/// Rounds a time in ms to microseconds, which is finer than the resolution of its histogram.
pub(crate) fn round(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}
