//! Formats text in the notation of JMT.

/// Formats a number like Java's `Double.toString`, always with a decimal point.
pub(crate) fn decimal(value: f64) -> String {
    format!("{value:?}")
}

/// Escapes a text for use in attributes and elements.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
