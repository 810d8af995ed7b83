//! The class `StringEscapeUtils` of Commons Lang and Commons Text.

use super::super::fault::{Outcome, unsupported};
use super::super::machine::Machine;
use super::super::value::V;

/// HTML's names of the characters of Latin-1 from 160 on.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
    Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
    Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
    iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// Calls static methods of `StringEscapeUtils`, such as `escapeJson`.
pub fn escape_utils(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let [value] = arguments else {
        return Err(unsupported(format!("`StringEscapeUtils.{method}` with these arguments")));
    };
    let Some(text) = value.as_text() else { return Ok(V::NULL) };
    machine.spend_text(text.len() * 4)?;
    Ok(V::text(match method {
        "escapeJson" => escape_with_backslashes(text, "\"\\/"),
        "escapeJava" => escape_with_backslashes(text, "\"\\"),
        "escapeEcmaScript" => escape_with_backslashes(text, "\"'\\/"),
        "escapeXml" | "escapeXml10" | "escapeXml11" => escape_markup(text, true, |_| None),
        "escapeHtml4" | "escapeHtml3" => escape_markup(text, false, |c| {
            let at = (c as usize).checked_sub(160)?;
            LATIN.split_ascii_whitespace().nth(at)
        }),
        "escapeCsv" => {
            if text.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.to_owned()
            }
        }
        "unescapeXml" | "unescapeHtml4" | "unescapeHtml3" => unescape_markup(text),
        _ => unescape_backslashes(text),
    }))
}

/// Escapes the characters of `with` with a backslash, control characters, and those outside ASCII as `\uXXXX`.
fn escape_with_backslashes(text: &str, with: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if with.contains(c) => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            }
        }
    }
    out
}

fn unescape_backslashes(text: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        let Some(escape) = rest.chars().next() else {
            units.push(u16::from(b'\\'));
            break;
        };
        rest = &rest[escape.len_utf8()..];
        let plain = match escape {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits = rest.trim_start_matches('u');
                if let Some(unit) = digits.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
                    units.push(unit);
                    rest = &digits[4..];
                    continue;
                }
                'u'
            }
            other => other,
        };
        units.extend(plain.encode_utf16(&mut [0; 2]).iter());
    }
    String::from_utf16_lossy(&units)
}

/// Replaces characters of markup, and those for which `named` returns a name, by references.
fn escape_markup(text: &str, apostrophe: bool, named: impl Fn(char) -> Option<&'static str>) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' if apostrophe => out.push_str("&apos;"),
            c => match named(c) {
                Some(name) => out.push_str(&format!("&{name};")),
                None => out.push(c),
            },
        }
    }
    out
}

fn unescape_markup(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.get(..rest.len().min(12)).and_then(|start| start.find(';'));
        let c = end.and_then(|end| character(&rest[1..end]));
        match (c, end) {
            (Some(c), Some(end)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// The character of a reference.
fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "euro" => '€',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        name => {
            let at = LATIN.split_ascii_whitespace().position(|known| known == name)?;
            char::from_u32(160 + u32::try_from(at).ok()?)?
        }
    })
}
