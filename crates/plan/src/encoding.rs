//! Decodes the bytes of a file to text and encodes edited text again.
//!
//! JMeter reads every plan as UTF-8, regardless of its declaration. Bytes that are valid UTF-8 are therefore decoded as
//! UTF-8. Other bytes are decoded by their byte order mark or declaration, with a warning that JMeter would read them
//! differently.

use std::sync::Arc;

use busyhour_diagnostic::{Diagnostic, Span};
use encoding_rs::Encoding;

/// The bytes of a file that is not plain UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct Original {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) encoding: SourceEncoding,
}

/// The character encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceEncoding {
    /// UTF-8 with some invalid bytes.
    DamagedUtf8,
    Utf16Little,
    Utf16Big,
    /// ISO 8859-1, not windows-1252: each byte is one of the first 256 characters of Unicode.
    Latin1,
    Other(&'static Encoding),
    /// The file was not decoded.
    Unread,
}

impl SourceEncoding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::DamagedUtf8 => "UTF-8",
            Self::Utf16Little => "UTF-16LE",
            Self::Utf16Big => "UTF-16BE",
            Self::Latin1 => "ISO-8859-1",
            Self::Other(encoding) => encoding.name(),
            Self::Unread => "unknown",
        }
    }

    /// Encodes the text; characters that do not exist in the encoding become XML character references.
    fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Self::DamagedUtf8 | Self::Unread => text.as_bytes().to_vec(),
            Self::Utf16Little => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Big => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Latin1 => {
                let mut bytes = Vec::with_capacity(text.len());
                for character in text.chars() {
                    match u8::try_from(u32::from(character)) {
                        Ok(byte) => bytes.push(byte),
                        Err(_) => bytes.extend_from_slice(format!("&#{};", u32::from(character)).as_bytes()),
                    }
                }
                bytes
            }
            Self::Other(encoding) => encoding.encode(text).0.into_owned(),
        }
    }
}

impl Original {
    /// Whether encoding the text returns the bytes of the file again. Only in this case, an edit does not change other
    /// bytes.
    pub(crate) fn is_reversible(&self, text: &str) -> bool {
        self.encoding.encode(text)[..] == self.bytes[..]
    }

    pub(crate) fn encode(&self, text: &str) -> Vec<u8> {
        self.encoding.encode(text)
    }
}

/// A decoded file.
pub(crate) struct Decoded {
    pub(crate) text: Arc<str>,
    /// `None` if the bytes of the text are those of the file.
    pub(crate) original: Option<Original>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Decodes a file. Never fails: invalid bytes become U+FFFD.
pub(crate) fn decode(source: &[u8]) -> Decoded {
    if u32::try_from(source.len()).is_err() {
        return unread(source);
    }
    if let Some(encoding) = utf16_kind(source) {
        return decode_utf16(source, encoding);
    }
    let declared = declared_encoding(source);
    match std::str::from_utf8(source) {
        Ok(text) => {
            let mut diagnostics = Vec::new();
            if let Some(name) = declared.filter(|name| !is_utf8_name(name) && !text.is_ascii()) {
                diagnostics.push(
                    Diagnostic::warning(
                        "jmx-encoding",
                        format!("the file declares the encoding {name} but is valid UTF-8; it is read as UTF-8, as JMeter does"),
                    )
                    .with_hint("write encoding=\"UTF-8\" in the first line"),
                );
            }
            Decoded { text: text.into(), original: None, diagnostics }
        }
        Err(error) => decode_bytes(source, declared, error.valid_up_to()),
    }
}

fn unread(source: &[u8]) -> Decoded {
    let diagnostic = Diagnostic::error("jmx-size", "the file has more than 4 GiB and was not read")
        .with_hint("JMeter cannot load it either; split the plan with Include Controllers");
    let original = Original { bytes: source.into(), encoding: SourceEncoding::Unread };
    Decoded { text: "".into(), original: Some(original), diagnostics: vec![diagnostic] }
}

fn decode_utf16(source: &[u8], encoding: SourceEncoding) -> Decoded {
    let unit = if encoding == SourceEncoding::Utf16Little { u16::from_le_bytes } else { u16::from_be_bytes };
    let units = source.chunks(2).map(|pair| match *pair {
        [first, second] => unit([first, second]),
        _ => 0xFFFD,
    });
    let text: String = char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{FFFD}')).collect();
    let original = Original { bytes: source.into(), encoding };
    let diagnostic = Diagnostic::warning(
        "jmx-encoding",
        format!(
            "the file is written in {}; JMeter reads plans as UTF-8 and would refuse it",
            encoding.name()
        ),
    )
    .with_hint("save it as UTF-8");
    // Two bytes of UTF-16 can become three of UTF-8.
    if u32::try_from(text.len()).is_err() {
        return unread(source);
    }
    Decoded { text: text.into(), original: Some(original), diagnostics: vec![diagnostic] }
}

/// Decodes bytes that are valid UTF-8 only up to `valid_up_to`.
fn decode_bytes(source: &[u8], declared: Option<&str>, valid_up_to: usize) -> Decoded {
    let encoding = declared
        .filter(|name| !is_utf8_name(name))
        .and_then(|name| {
            let latin1 = ["iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "us-ascii", "ascii"];
            if latin1.iter().any(|known| name.eq_ignore_ascii_case(known)) {
                return Some(SourceEncoding::Latin1);
            }
            let encoding = Encoding::for_label(name.as_bytes())?;
            // If the declaration names UTF-16 but is itself written in single bytes, the file is not UTF-16.
            encoding.is_ascii_compatible().then_some(SourceEncoding::Other(encoding))
        })
        .unwrap_or(SourceEncoding::DamagedUtf8);
    let text = match encoding {
        SourceEncoding::Latin1 => encoding_rs::mem::decode_latin1(source),
        SourceEncoding::Other(encoding) => encoding.decode_without_bom_handling(source).0,
        _ => String::from_utf8_lossy(source),
    };
    if u32::try_from(text.len()).is_err() {
        return unread(source);
    }
    // Up to the first invalid byte, all of these encodings result in the same text. Stateful encodings are an exception; for
    // them the position is only approximate.
    let invalid = Span::locate(&text, valid_up_to.min(text.len()), 1);
    let byte = source[valid_up_to];
    let diagnostic = if encoding == SourceEncoding::DamagedUtf8 {
        Diagnostic::warning("jmx-encoding", format!("the byte 0x{byte:02X} is not UTF-8"))
            .with_cause(match declared {
                Some(name) => format!("the file declares the encoding {name}"),
                None => "the file declares no encoding".to_owned(),
            })
            .with_hint("such bytes are read as U+FFFD, as in JMeter; save the file as UTF-8")
    } else {
        Diagnostic::warning(
            "jmx-encoding",
            format!("the file is read as {}, as it declares; JMeter would read it as UTF-8", encoding.name()),
        )
        .with_cause(format!("the byte 0x{byte:02X} is not UTF-8; JMeter replaces it with U+FFFD"))
        .with_hint("save it as UTF-8")
    };
    let original = Original { bytes: source.into(), encoding };
    Decoded { text: text.into(), original: Some(original), diagnostics: vec![diagnostic.at(invalid)] }
}

fn utf16_kind(source: &[u8]) -> Option<SourceEncoding> {
    match source {
        // A plan in UTF-16 without a byte order mark is recognized by its first character, `<`.
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => Some(SourceEncoding::Utf16Little),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => Some(SourceEncoding::Utf16Big),
        _ => None,
    }
}

fn is_utf8_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("utf8")
}

/// The encoding that the XML declaration names.
fn declared_encoding(source: &[u8]) -> Option<&str> {
    let source = source.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(source).trim_ascii_start();
    let head = &source[..source.len().min(512)];
    let end = memchr::memchr(b'>', head)?;
    let declaration = std::str::from_utf8(&head[..end]).ok()?.strip_prefix("<?xml")?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    Some(value[1..].split_once(quote)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_encodings_are_found() {
        assert_eq!(declared_encoding(b"<?xml version=\"1.0\" encoding=\"latin1\"?><a/>"), Some("latin1"));
        assert_eq!(declared_encoding(b"\xEF\xBB\xBF<?xml encoding = 'x' ?>"), Some("x"));
        assert_eq!(declared_encoding(b"<?xml version=\"1.0\"?><a encoding=\"x\"/>"), None);
        assert_eq!(declared_encoding(b"<a encoding=\"x\"/>"), None);
    }

    #[test]
    fn every_encoding_is_reversible() {
        let xml = |name: &str, tail: &[u8]| [format!("<?xml encoding='{name}'?>").as_bytes(), tail].concat();
        let all_bytes: Vec<u8> = (0..=255).collect();
        for (source, name, ending) in [
            (xml("ISO-8859-1", &all_bytes), "ISO-8859-1", "\u{FF}"),
            (xml("windows-1252", b"\x80"), "windows-1252", "\u{20AC}"),
            (b"<\0a\0>\0".to_vec(), "UTF-16LE", "<a>"),
            (b"\xFE\xFF\0<\0a\0>".to_vec(), "UTF-16BE", "<a>"),
        ] {
            let decoded = decode(&source);
            let original = decoded.original.expect(name);
            assert_eq!(original.encoding.name(), name);
            assert!(decoded.text.ends_with(ending), "{name}: {}", decoded.text);
            assert!(original.is_reversible(&decoded.text), "{name}");
            assert_eq!(decoded.diagnostics.len(), 1);
        }
    }

    #[test]
    fn valid_utf8_is_decoded_as_utf8_despite_the_declaration() {
        let decoded = decode("<?xml encoding='ISO-8859-1'?><a>ö</a>".as_bytes());
        assert!(decoded.original.is_none() && decoded.text.contains('ö'));
        assert_eq!(decoded.diagnostics.len(), 1);
        assert!(decode("<?xml encoding='ISO-8859-1'?><a/>".as_bytes()).diagnostics.is_empty());
    }

    #[test]
    fn invalid_bytes_cannot_be_restored_from_the_text() {
        let decoded = decode(b"<a>\xFF</a>");
        assert_eq!(&*decoded.text, "<a>\u{FFFD}</a>");
        assert!(!decoded.original.unwrap().is_reversible(&decoded.text));
        assert_eq!(decoded.diagnostics[0].span.unwrap().column, 4);
    }
}
