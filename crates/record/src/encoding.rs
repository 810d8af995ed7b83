//! Decodes bytes in encodings that are given by their Java names.

use encoding_rs::Encoding;

/// The text of `bytes` in the encoding `name`; `None` if the encoding is unknown.
pub(crate) fn decode(bytes: &[u8], name: &str) -> Option<String> {
    let name = name.trim();
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
    if is("iso-8859-1") || is("iso8859-1") || is("iso_8859-1") || is("latin1") || is("8859_1") {
        return Some(bytes.iter().map(|byte| char::from(*byte)).collect());
    }
    if is("us-ascii") || is("ascii") {
        let char = |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { '\u{fffd}' };
        return Some(bytes.iter().map(char).collect());
    }
    let name = if is("utf8") { "utf-8" } else { name };
    let encoding = Encoding::for_label(name.as_bytes())?;
    Some(encoding.decode_without_bom_handling(bytes).0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn javas_encoding_names_are_known() {
        assert_eq!(decode("é€".as_bytes(), "UTF-8").as_deref(), Some("é€"));
        assert_eq!(decode(&[0xe9, 0x80], "ISO-8859-1").as_deref(), Some("é\u{80}"));
        assert_eq!(decode(&[0xe9, 0x80], "windows-1252").as_deref(), Some("é€"));
        assert_eq!(decode(b"a\xff", "US-ASCII").as_deref(), Some("a\u{fffd}"));
        assert_eq!(decode(b"a", "no-such"), None);
    }
}
