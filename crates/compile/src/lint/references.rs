//! References to variables and functions in texts, and how much two names differ.

/// A reference in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference<'t> {
    /// `${name}`: everything between the braces.
    Variable(&'t str),
    /// `${__name`: the name of a function.
    Function(&'t str),
}

/// The references of a text, those inside of others among them.
pub(super) fn references(text: &str) -> impl Iterator<Item = Reference<'_>> {
    text.match_indices("${").filter_map(|(at, _)| {
        // JMeter keeps `\${` as it is.
        let is_escaped = text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let inside = &text[at + 2..];
        if is_escaped {
            return None;
        }
        if let Some(function) = inside.strip_prefix("__").filter(|rest| rest.starts_with(is_word)) {
            let end = function.find(|c| !is_word(c)).unwrap_or(function.len());
            return Some(Reference::Function(&inside[..end + 2]));
        }
        let end = inside.find('}')?;
        let name = &inside[..end];
        (!name.is_empty() && !name.contains("${")).then_some(Reference::Variable(name))
    })
}

/// Whether a character can be one of a name.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The number of characters to insert, leave out or replace to make one name of the other; upper and lower case differ by
/// nothing.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, left) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, right) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
