//! Static methods of the classes of numbers and strings, and of `StringUtils`.

use busyhour_java::parse_double;

use super::super::super::classes::Class;
use super::super::super::fault::{Outcome, thrown};
use super::super::super::machine::Machine;
use super::super::super::types;
use super::super::super::value::V;
use super::super::{create, format, numbers, print, text_of};
use super::common::{call_class_method, math, number_format_exception, wrong};
use crate::Value;

/// Calls a static method such as `Integer.parseInt`.
pub(super) fn call(machine: &mut Machine<'_>, class: Class, method: &str, arguments: &[V]) -> Outcome {
    let name = class.name();
    let parse_integer = |text: &str, radix: u32| {
        let parsed = i64::from_str_radix(text.strip_prefix('+').unwrap_or(text), radix).ok();
        let parsed = parsed.filter(|number| name == "Long" || i32::try_from(*number).is_ok());
        match parsed {
            Some(number) if name == "Long" => Ok(V::long(number)),
            Some(number) => Ok(V::int(number)),
            None => Err(number_format_exception(text)),
        }
    };
    match (name, method, arguments) {
        ("String", "format", [V::Object(locale), pattern, rest @ ..])
            if matches!(**locale, super::super::super::objects::Object::Locale) =>
        {
            let pattern = text_of(machine, pattern)?;
            Ok(V::text(format::format(machine, &pattern, rest)?))
        }
        ("String", "format", [pattern, rest @ ..]) => {
            let pattern = text_of(machine, pattern)?;
            Ok(V::text(format::format(machine, &pattern, rest)?))
        }
        ("String", "join", [separator, rest @ ..]) => {
            let separator = text_of(machine, separator)?;
            let items = match rest {
                [only] if only.items().is_some() => only.items().unwrap_or_default(),
                rest => rest.to_vec(),
            };
            let mut parts = Vec::new();
            for item in &items {
                parts.push(print::java(machine, item)?);
            }
            Ok(V::text(parts.join(&separator)))
        }
        ("String", "valueOf" | "copyValueOf", [value]) => {
            if let V::Array(_) = value {
                return create::new(machine, class, arguments);
            }
            Ok(V::text(print::java(machine, value)?))
        }
        (
            "Integer" | "Long" | "Short",
            "parseInt" | "parseLong" | "valueOf" | "decode" | "parseShort",
            [text, rest @ ..],
        ) => match text {
            V::Plain(Value::Text(text)) => {
                let radix = rest
                    .first()
                    .and_then(V::as_long)
                    .and_then(|radix| u32::try_from(radix).ok())
                    .unwrap_or(10);
                if !(2..=36).contains(&radix) {
                    return Err(number_format_exception(text));
                }
                let text = text.strip_suffix(['\0']).unwrap_or(text);
                match (method, text.strip_prefix("0x")) {
                    ("decode", Some(digits)) => parse_integer(digits, 16),
                    _ => parse_integer(text, radix),
                }
            }
            V::Plain(Value::Null) => Err(thrown("NumberFormatException", "Cannot parse null string: null")),
            other => match other.as_long() {
                Some(number) if method == "valueOf" => {
                    Ok(if name == "Long" { V::long(number) } else { V::int(number) })
                }
                _ => Err(thrown("MissingMethodException", format!("`{name}.{method}` takes a String"))),
            },
        },
        ("Double" | "Float", "parseDouble" | "valueOf" | "parseFloat", [value]) => {
            let number = match value {
                V::Plain(Value::Text(text)) => {
                    parse_double(text).ok_or_else(|| number_format_exception(text))?
                }
                V::Plain(Value::Null) => return Err(thrown("NullPointerException", "null")),
                other => types::number(other)?,
            };
            Ok(if name == "Float" { V::Plain(Value::Float(number as f32)) } else { V::double(number) })
        }
        ("Boolean", "parseBoolean" | "valueOf", [value]) => match value {
            V::Plain(Value::Boolean(_)) => Ok(value.clone()),
            V::Plain(Value::Text(text)) => Ok(V::truth(text.eq_ignore_ascii_case("true"))),
            V::Plain(Value::Null) => Ok(V::truth(false)),
            _ => Err(wrong(name, method)),
        },
        _ => call_number_or_character(machine, class, method, arguments),
    }
}

/// Calls methods that print, compare or create numbers and characters.
fn call_number_or_character(
    machine: &mut Machine<'_>,
    class: Class,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let name = class.name();
    match (name, method, arguments) {
        ("Integer" | "Long", "toHexString" | "toBinaryString" | "toOctalString", [number]) => {
            let number = number.as_long().ok_or_else(|| wrong(name, method))?;
            let bits = if name == "Integer" { u64::from(number as u32) } else { number as u64 };
            Ok(V::text(match method {
                "toHexString" => format!("{bits:x}"),
                "toBinaryString" => format!("{bits:b}"),
                _ => format!("{bits:o}"),
            }))
        }
        ("Integer" | "Long", "toString", [number, radix]) => {
            let (Some(number), Some(radix)) = (number.as_long(), radix.as_long()) else {
                return Err(wrong(name, method));
            };
            let radix = u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
            let mut digits = Vec::new();
            let mut rest = number.unsigned_abs();
            while rest > 0 || digits.is_empty() {
                digits.push(char::from_digit((rest % u64::from(radix)) as u32, radix).unwrap_or('0'));
                rest /= u64::from(radix);
            }
            let sign = if number < 0 { "-" } else { "" };
            Ok(V::text(format!("{sign}{}", digits.iter().rev().collect::<String>())))
        }
        (_, "toString", [value]) => Ok(V::text(print::java(machine, value)?)),
        ("Integer" | "Long" | "Double", "compare", [a, b]) => {
            Ok(V::int(super::super::super::operators::compare(a, b)? as i64))
        }
        ("Integer" | "Long", "max" | "min" | "sum", [_, _]) if method != "sum" => {
            math(machine, method, arguments)
        }
        ("Integer" | "Long", "signum", [a]) => Ok(V::int(a.as_long().unwrap_or(0).signum())),
        ("Double", "isNaN", [V::Plain(Value::Double(value))]) => Ok(V::truth(value.is_nan())),
        (
            "Character",
            "isDigit" | "isLetter" | "isLetterOrDigit" | "isWhitespace" | "isUpperCase" | "isLowerCase",
            [value],
        ) => {
            let code = value
                .as_long()
                .or_else(|| value.as_text().and_then(crate::plain::single_unit).map(i64::from));
            let c = code.and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
            Ok(V::truth(c.is_some_and(|c| numbers::is_of_character_class(c, method))))
        }
        ("Character", "valueOf", [value]) => Ok(V::text(print::java(machine, value)?)),
        ("Character", "toChars", [value]) => {
            let c = value
                .as_long()
                .and_then(|code| u32::try_from(code).ok())
                .and_then(char::from_u32)
                .unwrap_or('?');
            Ok(V::array(
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| V::Plain(Value::Character(*unit))).collect(),
                super::super::super::tree::Base::Char,
            ))
        }
        ("Character", "getNumericValue", [value]) => {
            let c = value.as_long().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
            Ok(V::int(c.and_then(|c| c.to_digit(36)).map_or(-1, i64::from)))
        }
        ("Character", "toUpperCase" | "toLowerCase", [value @ V::Plain(Value::Character(_))]) => {
            numbers::call(machine, value, method, &[])
        }
        ("BigDecimal", "valueOf", [value]) => match value {
            V::Plain(Value::Double(number)) => {
                types::decimal_of_double(*number).ok_or_else(|| wrong(name, method))
            }
            _ => create::new(machine, class, arguments),
        },
        ("BigInteger", "valueOf", [value]) => {
            let number = value.as_long().ok_or_else(|| wrong(name, method))?;
            Ok(V::Plain(Value::BigInteger(i128::from(number))))
        }
        (_, _, []) => call_class_method(class, method),
        _ => Err(wrong(name, method)),
    }
}

pub(super) fn string_utils(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let text = |value: &V| value.as_text().map(str::to_owned);
    let first = arguments.first().and_then(text);
    Ok(match (method, arguments) {
        ("isEmpty", [_]) => V::truth(first.is_none_or(|text| text.is_empty())),
        ("isNotEmpty", [_]) => V::truth(first.is_some_and(|text| !text.is_empty())),
        ("isBlank", [_]) => V::truth(first.is_none_or(|text| text.trim().is_empty())),
        ("isNotBlank", [_]) => V::truth(first.is_some_and(|text| !text.trim().is_empty())),
        ("isNumeric", [_]) => {
            V::truth(first.is_some_and(|text| !text.is_empty() && text.chars().all(char::is_numeric)))
        }
        ("substringBetween", [_, open, close]) => {
            let (Some(own), Some(open), Some(close)) = (first, text(open), text(close)) else {
                return Ok(V::NULL);
            };
            let found = own.split_once(&open).and_then(|(_, rest)| rest.split_once(&close));
            found.map_or(V::NULL, |(between, _)| V::text(between))
        }
        (
            "substringAfter" | "substringBefore" | "substringAfterLast" | "substringBeforeLast",
            [_, separator],
        ) => {
            let (Some(own), Some(separator)) = (first.clone(), text(separator)) else {
                return Ok(V::text_or_null(first));
            };
            let parts = if method.ends_with("Last") {
                own.rsplit_once(&separator)
            } else {
                own.split_once(&separator)
            };
            match (parts, method.starts_with("substringAfter")) {
                (Some((_, after)), true) => V::text(after),
                (Some((before, _)), false) => V::text(before),
                (None, true) => V::text(""),
                (None, false) => V::text(own),
            }
        }
        ("capitalize" | "trim" | "upperCase" | "lowerCase", [_]) => match first {
            None => V::NULL,
            Some(own) => match method {
                "trim" => V::text(own.trim()),
                "upperCase" => V::text(own.to_uppercase()),
                "lowerCase" => V::text(own.to_lowercase()),
                _ => return machine.invoke(&V::text(own), "capitalize", Vec::new()),
            },
        },
        ("leftPad" | "rightPad", [_, width, rest @ ..]) => {
            let Some(own) = first else { return Ok(V::NULL) };
            let mut given = vec![width.clone()];
            if let Some(fill) = rest.first() {
                given.push(V::text(print::java(machine, fill)?));
            }
            let method = if method == "leftPad" { "padLeft" } else { "padRight" };
            return machine.invoke(&V::text(own), method, given);
        }
        ("countMatches", [_, pattern]) => {
            let (Some(own), Some(pattern)) = (first, text(pattern)) else { return Ok(V::int(0)) };
            V::int(if pattern.is_empty() { 0 } else { own.matches(&pattern).count() as i64 })
        }
        ("contains" | "equals" | "equalsIgnoreCase", [_, other]) => {
            let (own, other) = (first, text(other));
            V::truth(match (own, other) {
                (Some(own), Some(other)) => match method {
                    "contains" => own.contains(&other),
                    "equals" => own == other,
                    _ => own.to_lowercase() == other.to_lowercase(),
                },
                (None, None) => method != "contains",
                _ => false,
            })
        }
        ("repeat", [_, times]) => {
            let Some(own) = first else { return Ok(V::NULL) };
            return machine.invoke(&V::text(own), "repeat", vec![times.clone()]);
        }
        ("reverse", [_]) => first.map_or(V::NULL, |own| V::text(own.chars().rev().collect::<String>())),
        ("join", [items, separator]) => {
            let separator = print::java(machine, separator)?;
            let mut parts = Vec::new();
            for item in items.items().unwrap_or_default() {
                parts.push(if item.is_null() { String::new() } else { print::java(machine, &item)? });
            }
            V::text(parts.join(&separator))
        }
        _ => return Err(wrong("StringUtils", method)),
    })
}
