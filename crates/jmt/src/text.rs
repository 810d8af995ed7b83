//! Text in the notation of JMT.

/// Formats a number like Java's `Double.toString`, always with a decimal point.
pub(crate) fn decimal(value: f64) -> String {
    format!("{value:?}")
}

/// Escapes text for attributes and elements.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
