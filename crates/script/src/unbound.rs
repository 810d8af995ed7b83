//! Names that JMeter binds for scripted elements, but that are not bound for JEXL here.

use crate::ScriptError;
use crate::error::unsupported;

/// Names that are bound only for Groovy, BeanShell and JavaScript.
const UNBOUND: &[&str] = &[
    "prev",
    "SampleResult",
    "sampler",
    "AssertionResult",
    "args",
    "Parameters",
    "Label",
    "FileName",
    "OUT",
    "sampleEvent",
];

/// Rejects a JEXL script that refers to a name that JMeter binds for JSR223 and BSF elements, but that is not bound for JEXL
/// here.
///
/// The search ignores quoted strings, comments, members (`a.prev`, `prev:`) and names that the script itself declares.
///
/// # Errors
/// [`ScriptError::Unsupported`] with the first such name and its place.
pub fn refuse_unbound(text: &str) -> Result<(), ScriptError> {
    let mut declared: Vec<&str> = Vec::new();
    let (mut at, mut last) = (0, "");
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = if c == '"' || c == '\'' || c == '`' {
            quoted_len(rest, c)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |len| len + 2)
        } else if is_part(c) {
            let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (word, after) = (&rest[..len], rest[len..].trim_start());
            if matches!(last, "var" | "function") {
                declared.push(word);
            } else if UNBOUND.contains(&word)
                && last != "."
                && !is_key(last, after)
                && !declared.contains(&word)
            {
                return Err(unsupported(
                    text,
                    at,
                    format!(
                        "`{word}` in JEXL (JEXL scripts can use `vars`, `props`, `log` and `ctx`; Groovy, BeanShell \
                         and JavaScript can also use `{word}`)"
                    ),
                ));
            }
            last = word;
            len
        } else {
            if !c.is_whitespace() {
                last = &rest[..c.len_utf8()];
            }
            c.len_utf8()
        };
        at += len;
    }
    Ok(())
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Whether the name between `last` and `after` is a key of a map or an object: `{prev: 1, args: 2}`.
fn is_key(last: &str, after: &str) -> bool {
    matches!(last, "{" | ",") && after.starts_with(':')
}

fn quoted_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}
