//! The functions `__urlencode`, `__urldecode`, `__escapeHtml`, `__unescapeHtml`, `__escapeXml` and `__unescape`, and
//! `__base64Encode` and `__base64Decode` of jmeter-plugins.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use busyhour_program::ElementError;

use crate::arguments::{Arguments, BuildResult};
use crate::entities;
use crate::text::TextFunction;

/// Builds `${__urlencode(text)}`: form encoding in UTF-8.
pub(crate) fn url_encode(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                    out.push(char::from(byte))
                }
                b' ' => out.push('+'),
                _ => {
                    let _ = write!(out, "%{byte:02X}");
                }
            }
        }
        Ok(())
    })
}

/// Builds `${__urldecode(text)}`.
pub(crate) fn url_decode(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'+' => bytes.push(b' '),
                b'%' => {
                    let Some((digits, after)) = rest.split_at_checked(2) else {
                        return Err("Incomplete trailing escape (%) pattern".into());
                    };
                    let code = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'));
                    match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                        Some(code) => bytes.push(code),
                        None => {
                            return Err(
                                format!("Illegal hex characters in escape (%) pattern of {text:?}").into()
                            );
                        }
                    }
                    rest = after;
                }
                _ => bytes.push(byte),
            }
        }
        out.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    })
}

/// Builds `${__escapeHtml(text)}`.
pub(crate) fn escape_html(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        for c in text.chars() {
            match entities::name(c) {
                Some(name) => {
                    let _ = write!(out, "&{name};");
                }
                None => out.push(c),
            }
        }
        Ok(())
    })
}

/// Builds `${__unescapeHtml(text)}`.
pub(crate) fn unescape_html(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        out.push_str(&entities::unescape_html(text)?);
        Ok(())
    })
}

/// Builds `${__escapeXml(text)}`: XML 1.0. Control characters that XML does not allow are removed.
pub(crate) fn escape_xml(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        for c in text.chars() {
            match c {
                '"' => out.push_str("&quot;"),
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '\'' => out.push_str("&apos;"),
                '\t' | '\n' | '\r' | '\u{85}' => {
                    if c == '\u{85}' {
                        out.push_str("&#133;")
                    } else {
                        out.push(c)
                    }
                }
                '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {}
                '\u{7f}'..='\u{9f}' => {
                    let _ = write!(out, "&#{};", u32::from(c));
                }
                _ => out.push(c),
            }
        }
        Ok(())
    })
}

/// Builds `${__unescape(text)}`: replaces Java's escape sequences.
pub(crate) fn unescape(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        let mut units: Vec<u16> = Vec::with_capacity(text.len());
        let mut rest = text;
        let mut buffer = [0; 2];
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            if c != '\\' {
                units.extend_from_slice(c.encode_utf16(&mut buffer));
                continue;
            }
            rest = read_escape(rest, &mut units)?;
        }
        out.extend(char::decode_utf16(units).map(|c| c.unwrap_or('?')));
        Ok(())
    })
}

/// Reads the escape sequence after a backslash and returns the rest of the text.
fn read_escape<'t>(text: &'t str, units: &mut Vec<u16>) -> Result<&'t str, ElementError> {
    let octal = text.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
    let octal = if octal == 3 && !text.starts_with(['0', '1', '2', '3']) { 2 } else { octal };
    if octal > 0 {
        units.push(u16::from_str_radix(&text[..octal], 8).unwrap_or_default());
        return Ok(&text[octal..]);
    }
    if text.starts_with('u') {
        let digits = text.trim_start_matches('u');
        let digits = digits.strip_prefix('+').unwrap_or(digits);
        let code = digits.get(..4).ok_or_else(|| format!("fewer than 4 hexadecimal digits in {text:?}"))?;
        units.push(u16::from_str_radix(code, 16).map_err(|_| format!("not a hexadecimal number: {code:?}"))?);
        return Ok(&digits[4..]);
    }
    let Some(c) = text.chars().next() else {
        return Ok(text);
    };
    let plain = match c {
        'b' => '\u{8}',
        'n' => '\n',
        't' => '\t',
        'f' => '\u{c}',
        'r' => '\r',
        other => other,
    };
    units.extend_from_slice(plain.encode_utf16(&mut [0; 2]));
    Ok(&text[c.len_utf8()..])
}

/// Builds `${__base64Encode(text, variable)}` of jmeter-plugins.
pub(crate) fn base64_encode(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        STANDARD.encode_string(text, out);
        Ok(())
    })
}

/// Builds `${__base64Decode(text, variable)}` of jmeter-plugins: accepts both alphabets, with or without padding, and ignores
/// other characters.
pub(crate) fn base64_decode(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        let plain: String = text
            .chars()
            .take_while(|&c| c != '=')
            .filter_map(|c| match c {
                '-' => Some('+'),
                '_' => Some('/'),
                _ => (c.is_ascii_alphanumeric() || c == '+' || c == '/').then_some(c),
            })
            .collect();
        let config = GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let bytes = GeneralPurpose::new(&base64::alphabet::STANDARD, config)
            .decode(plain)
            .map_err(|e| e.to_string())?;
        out.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    })
}
