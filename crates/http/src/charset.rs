//! The character encodings of requests.

use std::borrow::Cow;

use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use encoding_rs::{EncoderResult, Encoding};

use crate::failure::Failure;

/// The content encoding of a sampler (`HTTPSampler.contentEncoding`).
#[derive(Debug, Clone)]
pub enum ContentEncoding {
    /// A charset that is known before the run.
    Known(Charset),
    /// A charset name that is evaluated for each sample.
    Text(Template),
}

impl ContentEncoding {
    /// The charset of the next sample.
    ///
    /// # Errors
    /// If the name is not that of a known charset; the failure is the same as in Java.
    pub(crate) fn charset(&self, user: &mut UserState) -> Result<Charset, Failure> {
        match self {
            Self::Known(charset) => Ok(*charset),
            Self::Text(template) => {
                let name = template.text(user);
                Charset::named(&name).ok_or_else(|| unknown(&name))
            }
        }
    }

    /// The name of the encoding for the next sample.
    pub(crate) fn name(&self, user: &mut UserState) -> String {
        match self {
            Self::Known(charset) => charset.name().to_owned(),
            Self::Text(template) => template.text(user).into_owned(),
        }
    }
}

/// The exception that Java throws for an unknown charset name.
fn unknown(name: &str) -> Failure {
    let class = if Charset::may_be_name(name) {
        "java.nio.charset.UnsupportedCharsetException"
    } else {
        "java.nio.charset.IllegalCharsetNameException"
    };
    Failure::new(class, name)
}

/// A character encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, JMeter's default.
    #[default]
    Utf8,
    /// ISO-8859-1.
    Latin1,
    /// US-ASCII.
    Ascii,
    /// Another charset with the same name in Java and on the web.
    Other(&'static Encoding),
}

impl Charset {
    /// Returns the charset with this name, if it is supported.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is(&["", "UTF-8", "UTF8"]) {
            return Some(Self::Utf8);
        }
        if is(&["ISO-8859-1", "ISO8859-1", "ISO8859_1", "latin1"]) {
            return Some(Self::Latin1);
        }
        if is(&["US-ASCII", "ASCII"]) {
            return Some(Self::Ascii);
        }
        // Aliases that Java and the web share. Other aliases of the web can mean a different charset in Java, and are rejected.
        let label = match name.to_ascii_lowercase().as_str() {
            "cp1250" => "windows-1250".to_owned(),
            "cp1251" => "windows-1251".to_owned(),
            "cp1252" => "windows-1252".to_owned(),
            "sjis" => "shift_jis".to_owned(),
            lower => lower.to_owned(),
        };
        let encoding = Encoding::for_label(label.as_bytes())?;
        let same = encoding.name().eq_ignore_ascii_case(&label);
        (same && encoding.output_encoding() == encoding).then_some(Self::Other(encoding))
    }

    /// Whether Java accepts `name` as the name of a charset, known or not.
    pub fn may_be_name(name: &str) -> bool {
        !name.is_empty()
            && name.bytes().enumerate().all(|(at, byte)| {
                byte.is_ascii_alphanumeric() || (at > 0 && matches!(byte, b'-' | b'+' | b':' | b'_' | b'.'))
            })
    }

    /// Java's name of the charset.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Latin1 => "ISO-8859-1",
            Self::Ascii => "US-ASCII",
            Self::Other(encoding) if encoding == encoding_rs::GB18030 => "GB18030",
            Self::Other(encoding) => encoding.name(),
        }
    }

    /// Decodes bytes; invalid ones become U+FFFD, as in Java.
    pub(crate) fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        let replacement = char::REPLACEMENT_CHARACTER;
        match self {
            Self::Utf8 => String::from_utf8_lossy(bytes),
            Self::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
            Self::Ascii => bytes
                .iter()
                .map(|byte| if byte.is_ascii() { char::from(*byte) } else { replacement })
                .collect(),
            Self::Other(encoding) => encoding.decode_without_bom_handling(bytes).0,
        }
    }

    /// Encodes and appends `text`; characters that the charset lacks become `?`, as in Java.
    pub(crate) fn encode(self, text: &str, out: &mut Vec<u8>) {
        let most = match self {
            Self::Utf8 => {
                out.extend_from_slice(text.as_bytes());
                return;
            }
            Self::Other(encoding) => return encode_other(encoding, text, out),
            Self::Latin1 => 0xFF,
            Self::Ascii => 0x7F,
        };
        out.extend(text.chars().map(|character| match u32::from(character) {
            code if code <= most => code as u8,
            _ => b'?',
        }));
    }
}

fn encode_other(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    if encoding == encoding_rs::GBK
        && let Some((before, after)) = text.split_once('€')
    {
        // The only character of this charset that Java encodes differently from the web.
        encode_other(encoding, before, out);
        out.extend_from_slice(b"\xa2\xe3");
        return encode_other(encoding, after, out);
    }
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    loop {
        let most =
            encoder.max_buffer_length_from_utf8_without_replacement(rest.len()).unwrap_or(rest.len() * 4);
        out.reserve(most);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, out, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(_) => out.push(b'?'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charsets_have_javas_names_and_replacement() {
        for (name, java, bytes) in [
            ("windows-1252", "windows-1252", &b"\x80?"[..]),
            ("Cp1252", "windows-1252", b"\x80?"),
            ("ISO-8859-15", "ISO-8859-15", b"\xa4?"),
            ("Shift_JIS", "Shift_JIS", b"?\x93\xfa"),
            ("gb18030", "GB18030", b"\xa2\xe3\xc8\xd5"),
            ("GBK", "GBK", b"\xa2\xe3\xc8\xd5"),
            ("utf8", "UTF-8", "€日".as_bytes()),
        ] {
            let charset = Charset::named(name).unwrap();
            let mut out = Vec::new();
            charset.encode("€日", &mut out);
            assert_eq!((charset.name(), &out[..]), (java, bytes), "{name}");
        }
        // On the web, the first two labels mean other charsets; UTF-16 cannot be encoded.
        for name in ["iso-8859-9", "tis-620", "UTF-16", "nonsense"] {
            assert_eq!(Charset::named(name), None, "{name}");
            assert!(Charset::may_be_name(name));
        }
        for name in ["", "${ENC}", "-x", "a b"] {
            assert!(!Charset::may_be_name(name), "{name}");
        }
    }
}
