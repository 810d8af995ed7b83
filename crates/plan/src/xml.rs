//! XML details: references, line ends, start tags at a known offset.

use std::borrow::Cow;

use quick_xml::events::attributes::Attributes;

use crate::scan::tag_end;
use crate::slice::Slice;

/// A problem in a text, with its offset in that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextProblem {
    /// `&` that does not begin a reference.
    BareAmpersand(usize),
    /// A reference to an entity that is not one of XML's predefined entities.
    UnknownEntity(usize, String),
    /// A reference to a character that does not exist.
    NoCharacter(usize, String),
}

/// Resolves references and line ends as an XML reader does. Invalid references are left unchanged.
///
/// In attributes (`is_attribute`) line ends and tabs become spaces.
pub(crate) fn resolve<'t>(
    raw: &'t str,
    is_attribute: bool,
    mut problem: impl FnMut(TextProblem),
) -> Cow<'t, str> {
    let bytes = raw.as_bytes();
    let special = |byte: u8| byte == b'&' || byte == b'\r' || (is_attribute && matches!(byte, b'\n' | b'\t'));
    let next_special = |from: usize| {
        if is_attribute {
            bytes[from..].iter().position(|&byte| special(byte))
        } else {
            memchr::memchr2(b'&', b'\r', &bytes[from..])
        }
    };
    let Some(first) = next_special(0) else {
        return Cow::Borrowed(raw);
    };
    let mut text = String::with_capacity(raw.len());
    text.push_str(&raw[..first]);
    let mut at = first;
    loop {
        match bytes[at] {
            b'\r' => {
                text.push(if is_attribute { ' ' } else { '\n' });
                at += if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
            }
            b'&' => at += push_reference(&raw[at..], at, &mut text, &mut problem),
            _ => {
                text.push(' ');
                at += 1;
            }
        }
        match next_special(at) {
            Some(distance) => {
                text.push_str(&raw[at..at + distance]);
                at += distance;
            }
            None => {
                text.push_str(&raw[at..]);
                return Cow::Owned(text);
            }
        }
    }
}

/// Replaces every line end by `\n`, as an XML reader does.
pub(crate) fn normalize_line_ends(raw: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Appends the text of the reference at the start of `raw`; returns the reference's length in bytes.
fn push_reference(raw: &str, at: usize, text: &mut String, problem: &mut impl FnMut(TextProblem)) -> usize {
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'_' | b'-' | b'.' | b':' | 0x80..);
    let name_len = raw.as_bytes()[1..].iter().take_while(|byte| is_name(byte)).count();
    let name = &raw[1..1 + name_len];
    if name.is_empty() || raw.as_bytes().get(1 + name_len) != Some(&b';') {
        problem(TextProblem::BareAmpersand(at));
        text.push('&');
        return 1;
    }
    let len = name_len + 2;
    let character = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix('#') {
            Some(number) => {
                let code = match number.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                let character = code.ok().and_then(char::from_u32);
                if character.is_none() {
                    problem(TextProblem::NoCharacter(at, name.to_owned()));
                }
                character
            }
            None => {
                problem(TextProblem::UnknownEntity(at, name.to_owned()));
                None
            }
        },
    };
    match character {
        Some(character) => text.push(character),
        None => text.push_str(&raw[..len]),
    }
    len
}

/// Escapes a text so that [`resolve`] returns the original, also inside quotes.
pub(crate) fn escape(text: &str, is_attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if is_attribute => escaped.push_str("&quot;"),
            '\n' | '\t' if !is_attribute => escaped.push(character),
            _ if character.is_ascii_control() => {
                escaped.push_str(&format!("&#x{:x};", u32::from(character)));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Removes the URL encoding that the oldest plans use. Badly encoded text is returned unchanged.
pub(crate) fn url_decoded(slice: Slice, source: &str) -> Slice {
    let text = slice.get(source);
    if memchr::memchr2(b'%', b'+', text.as_bytes()).is_none() {
        return slice;
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match (byte, tail) {
            (b'+', _) => decoded.push(b' '),
            (b'%', [high, low, tail @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let (Some(high), Some(low)) = (digit(high), digit(low)) else { return slice };
                decoded.push((high * 16 + low) as u8);
                rest = tail;
            }
            (b'%', _) => return slice,
            _ => decoded.push(*byte),
        }
    }
    match String::from_utf8(decoded) {
        Ok(decoded) => Slice::Owned(decoded.into()),
        Err(_) => slice,
    }
}

/// URL-encodes a text as the oldest plans do.
pub(crate) fn url_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                encoded.push(char::from(byte))
            }
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'<')
}

/// The name of the tag that starts at this offset.
pub(crate) fn tag_at(text: &str, offset: usize) -> &str {
    let rest = text.get(offset + 1..).unwrap_or("");
    &rest[..rest.bytes().position(ends_name).unwrap_or(rest.len())]
}

/// The start tag that starts at this offset, without `<` and `>`.
pub(crate) fn start_tag_at(text: &str, offset: usize) -> &str {
    let end = tag_end(text, offset);
    let content_end = end.offset - usize::from(end.closed) - usize::from(end.self_closed);
    text.get(offset + 1..content_end).unwrap_or("")
}

/// An attribute of the start tag that starts at this offset.
pub(crate) fn attribute_at<'t>(text: &'t str, offset: usize, name: &str) -> Option<Cow<'t, str>> {
    let tag = start_tag_at(text, offset);
    let mut attributes = Attributes::new(tag, tag_at(text, offset).len());
    // Checking for duplicates would take quadratic time; the first one counts.
    attributes.with_checks(false);
    let value = attributes.flatten().find(|attribute| attribute.key.as_ref() == name.as_bytes())?.value;
    let range = range_in(text, &value)?;
    Some(resolve(&text[range], true, |_| {}))
}

/// The position of a part of a text in the text; `None` if it is not a part of it.
pub(crate) fn range_in(text: &str, part: &[u8]) -> Option<std::ops::Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    text.get(start..end)?;
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn resolved(raw: &str) -> (String, Vec<TextProblem>) {
        let mut problems = Vec::new();
        let text = resolve(raw, false, |problem| problems.push(problem)).into_owned();
        (text, problems)
    }

    #[test]
    fn references_and_line_ends_are_resolved() {
        assert_eq!(resolved("a &lt; b &amp;&#65;&#x42;\r\nc\rd"), ("a < b &AB\nc\nd".to_owned(), vec![]));
        assert_eq!(resolve("a\r\nb\tc", true, |_| {}), "a b c");
        assert!(matches!(resolve("plain", false, |_| {}), Cow::Borrowed(_)));
    }

    #[test]
    fn damaged_text_is_unchanged_and_reported() {
        assert_eq!(
            resolved("a && b"),
            ("a && b".to_owned(), vec![TextProblem::BareAmpersand(2), TextProblem::BareAmpersand(3)])
        );
        assert_eq!(
            resolved("&nbsp;"),
            ("&nbsp;".to_owned(), vec![TextProblem::UnknownEntity(0, "nbsp".into())])
        );
        assert_eq!(
            resolved("&#xD800;"),
            ("&#xD800;".to_owned(), vec![TextProblem::NoCharacter(0, "#xD800".into())])
        );
    }

    #[test]
    fn attributes_are_found_in_unusual_tags() {
        let text = r#"..<a b='x>"y' c = "&lt;" />"#;
        assert_eq!(tag_at(text, 2), "a");
        assert_eq!(attribute_at(text, 2, "b").as_deref(), Some("x>\"y"));
        assert_eq!(attribute_at(text, 2, "c").as_deref(), Some("<"));
        assert_eq!(attribute_at(text, 2, "d"), None);
    }

    #[test]
    fn url_encoding_is_decoded() {
        let decoded = |text: &str| url_decoded(Slice::Owned(text.into()), "").get("").to_owned();
        assert_eq!(decoded("a+b%3A%C3%B6"), "a b:ö");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%GG+"), "%GG+");
        assert_eq!(decoded(&url_encoded("a b&ö+%\n")), "a b&ö+%\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn resolving_reverses_escaping(text in any::<String>()) {
            for is_attribute in [false, true] {
                let escaped = escape(&text, is_attribute);
                let back = resolve(&escaped, is_attribute, |problem| panic!("{problem:?}"));
                prop_assert_eq!(back, text.as_str());
            }
        }
    }
}
