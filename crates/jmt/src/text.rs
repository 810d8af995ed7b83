//! Texts as JMT writes them.

/// A number as Java writes a double: always with a point.
pub(crate) fn decimal(value: f64) -> String {
    format!("{value:?}")
}

/// A text for an attribute or between tags.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
