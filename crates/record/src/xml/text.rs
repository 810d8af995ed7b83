//! Text and names in the encoding of XStream's XML writer.

/// Appends `text`, as the content of an element or the value of an attribute.
pub(super) fn escape(text: &str, in_attribute: bool, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let entity: &str = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&apos;",
            '\r' => "&#xd;",
            '\t' | '\n' if !in_attribute => continue,
            c if is_plain(c) => continue,
            c => {
                out.extend_from_slice(&bytes[from..at]);
                from = at + c.len_utf8();
                out.extend_from_slice(format!("&#x{:x};", u32::from(c)).as_bytes());
                continue;
            }
        };
        out.extend_from_slice(&bytes[from..at]);
        from = at + c.len_utf8();
        out.extend_from_slice(entity.as_bytes());
    }
    out.extend_from_slice(&bytes[from..]);
}

/// Whether a character is written unchanged: it is assigned in Unicode and not a control character. XStream's writer checks
/// UTF-16 code units, so all characters outside the Basic Multilingual Plane are written unchanged.
fn is_plain(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}')
}

/// The name of an attribute. Characters that XML names cannot contain are encoded, but only if the name contains one of the
/// characters that make XStream check it.
pub(super) fn name(name: &str) -> String {
    let looks = |c: char| matches!(c, '$' | '_') || c <= '\u{1b}' || c >= '\u{7f}';
    let Some(first) = name.find(looks) else { return name.to_owned() };
    let mut out = String::from(&name[..first]);
    for (at, c) in name.char_indices().skip_while(|(at, _)| *at < first) {
        match c {
            '$' => out.push_str("_-"),
            '_' => out.push_str("__"),
            c if (at == 0 && starts_name(c)) || (at > 0 && (starts_name(c) || continues_name(c))) => {
                out.push(c)
            }
            c => out.push_str(&format!("_.{:04x}", u32::from(c))),
        }
    }
    out
}

fn starts_name(c: char) -> bool {
    matches!(c,
        ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

fn continues_name(c: char) -> bool {
    matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, in_attribute: bool) -> String {
        let mut out = Vec::new();
        escape(text, in_attribute, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn invalid_xml_characters_become_references() {
        assert_eq!(shown("a<b> & 'c' \"d\"", true), "a&lt;b&gt; &amp; &apos;c&apos; &quot;d&quot;");
        assert_eq!(shown("1\t2\n3\r4", false), "1\t2\n3&#xd;4");
        assert_eq!(shown("1\t2\n3\r4", true), "1&#x9;2&#xa;3&#xd;4");
        assert_eq!(shown("\0\u{1}\u{7f}\u{85}\u{ffff}é€😀", false), "&#x0;&#x1;&#x7f;&#x85;&#xffff;é€😀");
    }

    #[test]
    fn names_are_encoded_as_in_xstream() {
        assert_eq!(name("REFERENCE"), "REFERENCE");
        assert_eq!(name("a b"), "a b");
        assert_eq!(name("__jm__my users__idx"), "____jm____my_.0020users____idx");
        assert_eq!(name("1_a$"), "1__a_-");
        assert_eq!(name("_1é"), "__1é");
    }
}
