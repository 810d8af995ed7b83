//! Methods of strings.

/// `String.trim`: removes characters up to U+0020 at both ends.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(|character| character <= ' ')
}

/// `String.length`: the number of UTF-16 units.
#[must_use]
pub fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// `String.hashCode`: the hash code of the text.
#[must_use]
pub fn hash_code(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `Boolean.parseBoolean`: whether the text is `true`, ignoring case.
#[must_use]
pub fn parse_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

/// `String.split`: empty parts at the end are removed, but a text without the separator is a single part.
#[must_use]
pub fn split(text: &str, separator: char) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(separator).collect();
    if parts.len() > 1 {
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
    }
    parts
}

/// `StringUtils.isBlank` of Commons Lang: whether the text is empty or contains only white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}')
            || ('\x1c'..='\x1f').contains(&c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_codes_count_units_of_utf_16() {
        assert_eq!((hash_code(""), hash_code("a"), hash_code("hello")), (0, 97, 99_162_322));
        assert_eq!(hash_code("a\u{1f600}"), (97 * 31 + 0xd83d) * 31 + 0xde00);
        assert_eq!((length("hello"), length("a\u{1f600}")), (5, 3));
    }

    #[test]
    fn empty_parts_at_the_end_are_removed() {
        assert_eq!(split("a;b;;", ';'), ["a", "b"]);
        assert_eq!(split("", ';'), [""]);
        assert!(split(";;", ';').is_empty());
    }

    #[test]
    fn no_break_spaces_are_not_blank() {
        assert!(is_blank(" \t\n") && !is_blank("\u{a0}"));
        assert_eq!(trim(" \u{1}a\u{a0} "), "a\u{a0}");
    }
}
