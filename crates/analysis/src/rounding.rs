//! Rounding of reported figures.

/// Rounds a time in ms to microseconds, which is finer than the resolution of its histogram.
pub(crate) fn round(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

/// Formats a value of at least 0 with about three digits.
pub(crate) fn digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}
