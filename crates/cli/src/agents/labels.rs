//! Labels of agents.

/// Reads `name=value` texts.
pub(crate) fn labels(texts: &[String]) -> Result<Vec<(String, String)>, String> {
    let label = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("the label {text:?} has no name and value; write NAME=VALUE, for example zone=eu")),
    };
    texts.iter().map(label).collect()
}
