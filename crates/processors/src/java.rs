//! Behaviour of Java's library that is visible in results.

/// `Integer.parseInt`; 0 for an invalid number, as in JMeter. Spaces are invalid.
pub(crate) fn integer(text: &str) -> i32 {
    text.parse().unwrap_or(0)
}

/// `Long.parseLong`; 0 for an invalid number, as in JMeter.
pub(crate) fn long(text: &str) -> i64 {
    text.parse().unwrap_or(0)
}

/// `String.split`: empty parts at the end are dropped, but a text without the separator is one part.
pub(crate) fn split(text: &str, separator: char) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(separator).collect();
    if parts.len() > 1 {
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
    }
    parts
}

/// `String.trim`: removes characters up to U+0020 at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|character| character <= ' ')
}

/// A whole number as `MessageFormat` writes it in English: `1,234`.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `String.length`: units of UTF-16.
pub(crate) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Commons Lang's `isBlank`.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}')
            || ('\x1c'..='\x1f').contains(&c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_java() {
        assert_eq!(integer("-1"), -1);
        assert_eq!(integer(" 1"), 0);
        assert_eq!(split("a;b;;", ';'), ["a", "b"]);
        assert_eq!(split("", ';'), [""]);
        assert!(split(";;", ';').is_empty());
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(-1_234), "-1,234");
        assert_eq!(grouped(999), "999");
        assert_eq!(length("a\u{1f600}"), 3);
        assert!(is_blank(" \t\n") && !is_blank("\u{a0}"));
    }
}
