//! Conversions between bytes and text: Base64, hexadecimal digits, URL encoding, character encodings.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::super::fault::{Fault, thrown, unsupported};

fn engine(url: bool, padded: bool) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(padded)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if url { &base64::alphabet::URL_SAFE } else { &base64::alphabet::STANDARD };
    GeneralPurpose::new(alphabet, config)
}

pub fn encode_base64(bytes: &[u8], url: bool, padded: bool) -> String {
    engine(url, padded).encode(bytes)
}

pub fn decode_base64(text: &str, url: bool) -> Result<Vec<u8>, Fault> {
    engine(url, true)
        .decode(text.trim())
        .map_err(|error| thrown("IllegalArgumentException", error.to_string()))
}

pub fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn decode_hex(text: &str) -> Result<Vec<u8>, Fault> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            Ok(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
        }
        _ => Err(thrown(
            "IllegalArgumentException",
            "the text is not a sequence of pairs of hexadecimal digits",
        )),
    }
}

fn is_utf_8(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

fn is_latin(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("iso-8859-1") || charset.eq_ignore_ascii_case("latin1")
}

fn is_ascii(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("us-ascii") || charset.eq_ignore_ascii_case("ascii")
}

/// The characters of Windows-1252 from 128 to 159.
const WINDOWS_1252_HIGH: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž', '\u{fffd}',
    '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}', 'ž', 'Ÿ',
];

fn is_windows_1252(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("windows-1252") || charset.eq_ignore_ascii_case("cp1252")
}

/// Whether an encoding is big-endian UTF-16; `None` if it is not UTF-16.
fn utf_16(charset: &str) -> Option<bool> {
    if charset.eq_ignore_ascii_case("utf-16be") {
        Some(true)
    } else if charset.eq_ignore_ascii_case("utf-16le") {
        Some(false)
    } else {
        None
    }
}

pub fn encode_text(text: &str, charset: &str) -> Result<Vec<u8>, Fault> {
    if is_utf_8(charset) {
        return Ok(text.as_bytes().to_vec());
    }
    if let Some(is_big) = utf_16(charset) {
        let bytes = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        return Ok(text.encode_utf16().flat_map(bytes).collect());
    }
    if is_windows_1252(charset) {
        let byte = |c: char| match u32::from(c) {
            code if code < 0x80 || (0xa0..=0xff).contains(&code) => c as u8,
            _ => WINDOWS_1252_HIGH.iter().position(|known| *known == c).map_or(b'?', |at| 0x80 + at as u8),
        };
        return Ok(text.chars().map(byte).collect());
    }
    let greatest = if is_latin(charset) {
        255
    } else if is_ascii(charset) {
        127
    } else {
        return Err(unsupported(format!("the encoding `{charset}`")));
    };
    Ok(text.chars().map(|c| if u32::from(c) <= greatest { c as u8 } else { b'?' }).collect())
}

pub fn decode_text(bytes: &[u8], charset: &str) -> Result<String, Fault> {
    if is_utf_8(charset) {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    if let Some(is_big) = utf_16(charset) {
        let unit = |pair: &[u8]| match pair {
            [a, b] if is_big => u16::from_be_bytes([*a, *b]),
            [a, b] => u16::from_le_bytes([*a, *b]),
            _ => 0xfffd,
        };
        let units: Vec<u16> = bytes.chunks(2).map(unit).collect();
        return Ok(String::from_utf16_lossy(&units));
    }
    if is_windows_1252(charset) {
        let c = |byte: &u8| match byte {
            0x80..=0x9f => WINDOWS_1252_HIGH[usize::from(byte - 0x80)],
            byte => char::from(*byte),
        };
        return Ok(bytes.iter().map(c).collect());
    }
    if is_latin(charset) {
        return Ok(bytes.iter().map(|byte| char::from(*byte)).collect());
    }
    if is_ascii(charset) {
        return Ok(bytes
            .iter()
            .map(|byte| if byte.is_ascii() { char::from(*byte) } else { '\u{fffd}' })
            .collect());
    }
    Err(unsupported(format!("the encoding `{charset}`")))
}

/// Implements `URLEncoder.encode`.
pub fn encode_url(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                out.push(char::from(*byte))
            }
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Implements `URLDecoder.decode`.
pub fn decode_url(text: &str, charset: &str) -> Result<String, Fault> {
    let broken = |what: &str| thrown("IllegalArgumentException", format!("URLDecoder: {what}"));
    let source = text.as_bytes();
    let mut bytes = Vec::with_capacity(source.len());
    let mut at = 0;
    while at < source.len() {
        match source[at] {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = text
                    .get(at + 1..at + 3)
                    .ok_or_else(|| broken("Incomplete trailing escape (%) pattern"))?;
                let byte = u8::from_str_radix(digits, 16).map_err(|_| {
                    broken(&format!(
                        "Illegal hex characters in escape (%) pattern - Error at index 0 in: \"{digits}\""
                    ))
                })?;
                bytes.push(byte);
                at += 2;
            }
            byte => bytes.push(byte),
        }
        at += 1;
    }
    decode_text(&bytes, charset)
}
