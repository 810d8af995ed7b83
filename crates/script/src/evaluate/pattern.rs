//! Regular expressions: the part of Java's in which this crate's engine finds the same matches.

use std::cell::RefCell;
use std::collections::HashMap;

use regex::Regex;

use super::fault::Fault;
use crate::error::UnsupportedPattern;

/// Compiled patterns kept per thread.
const CACHE_LEN_MAX: usize = 256;

thread_local! {
    static CACHE: RefCell<HashMap<String, Regex>> = RefCell::new(HashMap::new());
}

/// Checks whether the pattern is supported; the error names the unsupported part.
pub(crate) fn check(pattern: &str) -> Result<(), UnsupportedPattern> {
    translate(pattern).map(drop).map_err(UnsupportedPattern)
}

/// Runs `work` with the compiled pattern.
pub(super) fn with<T>(pattern: &str, work: impl FnOnce(&Regex) -> T) -> Result<T, Fault> {
    CACHE.with_borrow_mut(|cache| {
        if !cache.contains_key(pattern) {
            let regex = Regex::new(
                &translate(pattern).map_err(|what| Fault::new(format!("{what} is not supported")))?,
            )
            .map_err(|error| Fault::new(format!("the pattern `{pattern}` is not supported: {error}")))?;
            if cache.len() >= CACHE_LEN_MAX {
                cache.clear();
            }
            cache.insert(pattern.to_owned(), regex);
        }
        Ok(work(&cache[pattern]))
    })
}

/// Whether the pattern matches the empty text.
pub(crate) fn matches_empty(pattern: &str) -> bool {
    with(pattern, |regex| regex.is_match("")).unwrap_or(true)
}

/// Whether the whole text matches.
pub(crate) fn matches_whole(text: &str, pattern: &str) -> Result<bool, Fault> {
    with(&format!("^(?:{pattern})$"), |regex| regex.is_match(text))
}

/// Translates Java's pattern to the syntax of the `regex` crate. Both find the leftmost match and prefer the first
/// alternative, so a pattern that is valid for both has the same matches, except for the cases handled or rejected here.
fn translate(pattern: &str) -> Result<String, String> {
    let refused = |what: &str| Err(format!("{what} in the pattern `{pattern}`"));
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // Java's classes are those of ASCII.
                Some('d') if in_class => out.push_str("0-9"),
                Some('w') if in_class => out.push_str("a-zA-Z_0-9"),
                Some('s') if in_class => out.push_str(" \\t\\n\\x0B\\f\\r"),
                Some('d') => out.push_str("[0-9]"),
                Some('w') => out.push_str("[a-zA-Z_0-9]"),
                Some('s') => out.push_str("[ \\t\\n\\x0B\\f\\r]"),
                Some('D') if !in_class => out.push_str("[^0-9]"),
                Some('W') if !in_class => out.push_str("[^a-zA-Z_0-9]"),
                Some('S') if !in_class => out.push_str("[^ \\t\\n\\x0B\\f\\r]"),
                Some(e @ ('n' | 't' | 'r' | 'f')) => out.extend(['\\', e]),
                Some(e) if e.is_ascii_punctuation() => out.extend(['\\', e]),
                _ => return refused("a backslash"),
            },
            // Java's line ends; `$` matches before the last of them too, which the regex crate's does not.
            '.' if !in_class => out.push_str("[^\\n\\r\\x{85}\\x{2028}\\x{2029}]"),
            '[' if in_class => return refused("a class within a class"),
            '[' => {
                in_class = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    out.push('^');
                }
                if chars.peek() == Some(&']') {
                    return refused("`]` at the start of a class");
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' | '-' if in_class && chars.peek() == Some(&c) => return refused("a set operation"),
            '(' if !in_class && chars.peek() == Some(&'?') => {
                chars.next();
                if chars.next() != Some(':') {
                    return refused("a special group");
                }
                out.push_str("(?:");
            }
            '$' if !in_class && chars.peek().is_some() && !matches!(chars.peek(), Some(')' | '|')) => {
                return refused("`$` in the middle");
            }
            '$' if !in_class => out.push_str("\\z"),
            '^' if !in_class => out.push_str("\\A"),
            '*' | '+' | '?' | '}' if !in_class && chars.peek() == Some(&'+') => {
                return refused("a possessive quantifier");
            }
            _ => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_only_syntax_is_refused() {
        for pattern in ["(?i)a", "a(?=b)", "a*+", "[a&&[b]]", r"\p{L}", r"(a)\1", r"\bx"] {
            assert!(check(pattern).is_err(), "{pattern}");
        }
        for pattern in ["a.c", r"\d+", "[^,]*", "(a|b){2,3}", r"a\.b", "^x$", "[-a]"] {
            assert!(check(pattern).is_ok(), "{pattern}");
            assert!(Regex::new(&translate(pattern).unwrap()).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn classes_are_those_of_ascii() {
        assert!(matches_whole("5", r"\d").unwrap());
        assert!(!matches_whole("٥", r"\d").unwrap());
        assert!(!matches_whole("\u{85}", ".").unwrap());
    }
}
