//! The formats of `String.format` and `DecimalFormat`.

use super::super::fault::{Fault, thrown, unsupported};
use super::super::machine::Machine;
use super::super::types;
use super::super::value::V;
use super::print;
use crate::Value;

/// Implements `String.format`, in the root locale.
pub fn format(machine: &mut Machine<'_>, pattern: &str, arguments: &[V]) -> Result<String, Fault> {
    let given: Vec<V> = match arguments {
        [V::List(list)] if machine.groovy() => list.ordered(),
        [V::Array(array)] => array.items.borrow().clone(),
        other => other.to_vec(),
    };
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    let mut next = 0;
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut digits = String::new();
        let mut flags = String::new();
        while let Some(c) = chars.next_if(|c| matches!(c, '-' | '#' | '+' | ' ' | '0' | ',' | '(')) {
            flags.push(c);
        }
        while let Some(c) = chars.next_if(char::is_ascii_digit) {
            digits.push(c);
        }
        let mut explicit = None;
        if !digits.is_empty() && chars.next_if_eq(&'$').is_some() {
            explicit = digits.parse::<usize>().ok();
            digits.clear();
            while let Some(c) = chars.next_if(|c| matches!(c, '-' | '#' | '+' | ' ' | '0' | ',' | '(')) {
                flags.push(c);
            }
            while let Some(c) = chars.next_if(char::is_ascii_digit) {
                digits.push(c);
            }
        }
        let mut precision = None;
        if chars.next_if_eq(&'.').is_some() {
            let mut text = String::new();
            while let Some(c) = chars.next_if(char::is_ascii_digit) {
                text.push(c);
            }
            precision = text.parse::<usize>().ok();
        }
        let Some(kind) = chars.next() else {
            return Err(thrown("IllegalArgumentException", "Conversion = '%'"));
        };
        let width: usize = digits.parse().unwrap_or(0);
        if width > 1 << 16 || precision.is_some_and(|places| places > 300) {
            return Err(unsupported("this width or precision in a format"));
        }
        let text = match kind {
            '%' => "%".to_owned(),
            'n' => "\n".to_owned(),
            _ => {
                let at = explicit.map_or(next, |at| at.saturating_sub(1));
                if explicit.is_none() {
                    next += 1;
                }
                let Some(value) = given.get(at) else {
                    return Err(thrown("IllegalArgumentException", format!("Format specifier '%{kind}'")));
                };
                match super::magnitude::hexadecimal_of(value).filter(|_| matches!(kind, 'x' | 'X')) {
                    Some(digits) => {
                        let zeros = if flags.contains('0') { width.saturating_sub(digits.len()) } else { 0 };
                        let digits = "0".repeat(zeros) + &digits;
                        if kind == 'X' { digits.to_uppercase() } else { digits }
                    }
                    None => format_value(machine, kind, value, &flags, width, precision)?,
                }
            }
        };
        let missing = width.saturating_sub(text.chars().count());
        if flags.contains('-') {
            out.push_str(&text);
            out.push_str(&" ".repeat(missing));
        } else {
            out.push_str(&" ".repeat(missing));
            out.push_str(&text);
        }
        machine.spend_text(out.len())?;
    }
    Ok(out)
}

fn format_value(
    machine: &mut Machine<'_>,
    kind: char,
    value: &V,
    flags: &str,
    width: usize,
    precision: Option<usize>,
) -> Result<String, Fault> {
    let wrong = || thrown("IllegalArgumentException", format!("{kind} != {}", value.kind()));
    if value.is_null() && !matches!(kind, 'b' | 'B') {
        return Ok("null".into());
    }
    Ok(match kind {
        's' | 'S' => {
            let text = print::java(machine, value)?;
            let text = precision.map_or(text.clone(), |len| text.chars().take(len).collect());
            if kind == 'S' { text.to_uppercase() } else { text }
        }
        'd' => {
            let number = match value {
                V::Plain(Value::BigInteger(number)) => *number,
                V::Plain(Value::Integer(number)) => i128::from(*number),
                V::Plain(Value::Long(number)) => i128::from(*number),
                V::Object(_) => i128::from(value.as_long().ok_or_else(wrong)?),
                _ => return Err(wrong()),
            };
            apply_flags(number < 0, number.unsigned_abs().to_string(), flags, width)
        }
        'f' => {
            let places = precision.unwrap_or(6);
            let number = match value {
                V::Plain(Value::Decimal(number)) => {
                    let scaled = number
                        .set_scale(i32::try_from(places).unwrap_or(0), "HALF_UP")
                        .ok_or_else(|| unsupported("a number of this length"))?;
                    let text = scaled.to_string();
                    let negative = text.starts_with('-');
                    return Ok(apply_flags(negative, text.trim_start_matches('-').to_owned(), flags, width));
                }
                V::Plain(Value::Double(_) | Value::Float(_)) => types::number(value)?,
                _ => return Err(wrong()),
            };
            if !number.is_finite() {
                return print::java(machine, value);
            }
            let text = round_half_up(number.abs(), places);
            apply_flags(number.is_sign_negative(), text, flags, width)
        }
        'x' | 'X' | 'o' => {
            let text = match (value, kind) {
                (V::Plain(Value::Integer(number)), 'o') => format!("{number:o}"),
                (V::Plain(Value::Integer(number)), _) => format!("{number:x}"),
                (V::Plain(Value::Long(number)), 'o') => format!("{number:o}"),
                (V::Plain(Value::Long(number)), _) => format!("{number:x}"),
                (V::Plain(Value::BigInteger(number)), _) if *number >= 0 => format!("{number:x}"),
                _ => return Err(wrong()),
            };
            let text = if flags.contains('0') { format!("{text:0>width$}") } else { text };
            if kind == 'X' { text.to_uppercase() } else { text }
        }
        'c' => match value {
            V::Plain(Value::Character(unit)) => String::from_utf16_lossy(&[*unit]),
            V::Plain(Value::Integer(code)) => char::from_u32(*code as u32).unwrap_or('?').to_string(),
            _ => return Err(wrong()),
        },
        'b' | 'B' => match value {
            V::Plain(Value::Boolean(truth)) => truth.to_string(),
            other => (!other.is_null()).to_string(),
        },
        _ => return Err(unsupported(format!("`%{kind}` in a format"))),
    })
}

/// Adds the sign, group separators and leading zeros according to the flags.
fn apply_flags(negative: bool, digits: String, flags: &str, width: usize) -> String {
    let mut text = digits;
    if flags.contains(',') {
        let (whole, rest) =
            text.split_once('.').map_or((text.clone(), String::new()), |(a, b)| (a.into(), format!(".{b}")));
        text = busyhour_java::group_digits(&whole) + &rest;
    }
    let sign = if negative {
        "-"
    } else if flags.contains('+') {
        "+"
    } else if flags.contains(' ') {
        " "
    } else {
        ""
    };
    if flags.contains('0') {
        let room = width.saturating_sub(sign.len());
        text = format!("{text:0>room$}");
    }
    format!("{sign}{text}")
}

/// Rounds a double as Java does: it rounds the shortest decimal representation, halves up.
pub fn round_half_up(number: f64, places: usize) -> String {
    let shortest = crate::decimal::Decimal::parse(&format!("{number:e}"));
    let scaled = shortest.and_then(|value| value.set_scale(i32::try_from(places).unwrap_or(0), "HALF_UP"));
    match scaled {
        Some(value) => value.to_string(),
        None => format!("{number:.places$}"),
    }
}

/// Implements `new DecimalFormat(pattern).format(number)`: required and optional digits and groups; halves are rounded to even.
pub fn format_decimal(pattern: &str, value: &V) -> Result<String, Fault> {
    let plain = |c: char| matches!(c, '0' | '#' | ',' | '.');
    let start = pattern.find(plain).unwrap_or(pattern.len());
    let end = pattern[start..].find(|c| !plain(c)).map_or(pattern.len(), |len| start + len);
    let (prefix, body, suffix) = (&pattern[..start], &pattern[start..end], &pattern[end..]);
    if prefix.contains(['\'', ';', '%', 'E']) || suffix.contains(['\'', ';', '%', 'E']) {
        return Err(unsupported(format!("the number format `{pattern}`")));
    }
    let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
    let group = whole.rsplit_once(',').map(|(_, rest)| rest.len());
    if group.is_some_and(|len| len != 3) {
        return Err(unsupported(format!("the number format `{pattern}`")));
    }
    let least = fraction.matches('0').count();
    let decimal = match value {
        V::Plain(Value::Double(number)) => crate::decimal::Decimal::parse(&format!("{number:e}")),
        V::Plain(Value::Float(number)) => {
            crate::decimal::Decimal::parse(&format!("{:e}", f64::from(*number)))
        }
        V::Plain(number) => crate::plain::to_decimal(number),
        _ => None,
    };
    let Some(decimal) = decimal else { return Err(unsupported(format!("formatting {}", value.kind()))) };
    let scaled = decimal
        .set_scale(i32::try_from(fraction.len()).unwrap_or(0), "HALF_EVEN")
        .ok_or_else(|| unsupported("a number of this length"))?;
    let text = scaled.to_string();
    let negative = text.starts_with('-');
    let text = text.trim_start_matches('-');
    let (digits, mut rest) = text.split_once('.').map_or((text, String::new()), |(a, b)| (a, b.to_owned()));
    while rest.len() > least && rest.ends_with('0') {
        rest.pop();
    }
    let zeros = whole.matches('0').count();
    let digits = digits.trim_start_matches('0');
    let mut digits = format!("{digits:0>zeros$}");
    if group.is_some() {
        digits = busyhour_java::group_digits(&digits);
    }
    let point = if rest.is_empty() { "" } else { "." };
    let sign =
        if negative && (digits.contains(|c| c != '0') || rest.contains(|c| c != '0')) { "-" } else { "" };
    Ok(format!("{sign}{prefix}{digits}{point}{rest}{suffix}"))
}
