//! Patterns and JSON literals in filters.

use crate::cursor::Cursor;
use crate::error::PathError;
use crate::read::read;
use crate::syntax::Operand;

pub(crate) fn unsupported<T>(construct: impl Into<String>) -> Result<T, PathError> {
    Err(PathError::Unsupported(construct.into()))
}

/// Parses `/pattern/flags`.
pub(crate) fn pattern(cursor: &mut Cursor<'_>) -> Result<Operand, PathError> {
    let mut end = None;
    let mut escaped = false;
    for (offset, character) in cursor.rest().char_indices().skip(1) {
        if character == '/' && !escaped {
            end = Some(offset);
            break;
        }
        escaped = character == '\\' && !escaped;
    }
    let Some(end) = end else { return unsupported("a pattern without an end") };
    let text = &cursor.rest()[1..end];
    cursor.at += end + 1;
    let flags: String = cursor.rest().chars().take_while(char::is_ascii_alphabetic).collect();
    cursor.at += flags.len();
    if !flags.chars().all(|flag| "ims".contains(flag)) {
        return unsupported(format!("the flags {flags} of a pattern"));
    }
    let flags = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
    // Jayway uses java.util.regex and requires a match of the whole text. Plain constructs mean the same in both libraries.
    match regex::Regex::new(&format!("{flags}^(?:{text})$")) {
        Ok(regex) if !text.contains(['[', '{']) || !text.contains("&&") => Ok(Operand::Pattern(regex)),
        _ => unsupported(format!("the pattern /{text}/")),
    }
}

/// Parses a JSON array or object, which ends at the bracket that matches the first one.
pub(crate) fn json_literal(cursor: &mut Cursor<'_>) -> Result<Operand, PathError> {
    let mut depth = 0u32;
    let mut quote = None;
    for (offset, character) in cursor.rest().char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth -= 1;
                if depth == 0 {
                    let text = &cursor.rest()[..=offset];
                    let Ok(value) = read(text) else { return unsupported(format!("the value {text}")) };
                    cursor.at += offset + 1;
                    return Ok(Operand::Literal(value));
                }
            }
            _ => {}
        }
    }
    unsupported("a value without an end")
}
