//! References to variables and functions in texts.

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

/// The calls of functions in a text, those inside of others among them: names, and all arguments as they are written.
pub(super) fn calls(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("${__").filter_map(|(at, _)| {
        let call = &text[at + 2..];
        let (name, rest) = call.split_at(call.find(|c| !is_word(c)).unwrap_or(call.len()));
        let arguments = rest.strip_prefix('(')?;
        let mut depth = 1_usize;
        let end = arguments.char_indices().find(|(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        Some((name, end.map_or(arguments, |(end, _)| &arguments[..end])))
    })
}
