//! Methods of `String`.

use std::sync::Arc;

use super::super::fault::{Outcome, thrown};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::operators::pattern_of;
use super::super::patterns;
use super::super::tree::Base;
use super::super::value::V;
use super::{encode, format, lists, regex, text_of, text_units, unknown};
use crate::Value;

pub fn call(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, arguments: &[V]) -> Outcome {
    if let Some(value) = text_units::call_in_constant_time(machine, text, method, arguments) {
        return Ok(value);
    }
    machine.spend_text(text.len())?;
    if let Some(outcome) = super::text_methods::call(machine, text, method, arguments) {
        return outcome;
    }
    let object = || V::Plain(Value::Text(text.clone()));
    let count = |value: &V| value.as_long().unwrap_or(0);
    match (method, arguments) {
        ("length" | "size", []) => Ok(V::int(text.encode_utf16().count() as i64)),
        ("count", []) if machine.groovy() => Ok(V::int(text.encode_utf16().count() as i64)),
        ("isBlank", []) => Ok(V::truth(text.trim().is_empty())),
        ("strip", []) => Ok(V::text(text.trim())),
        ("stripIndent" | "stripMargin", []) => {
            let lines: Vec<&str> =
                text.lines().map(|line| line.split_once('|').map_or(line, |(_, rest)| rest)).collect();
            Ok(V::text(lines.join("\n")))
        }
        ("toString", []) => Ok(object()),
        ("intern", []) => Ok(V::Plain(Value::Text(super::super::literals::interned(text)))),
        ("toCharArray" | "getChars", []) => Ok(V::array(
            text.encode_utf16().map(|unit| V::Plain(Value::Character(unit))).collect(),
            Base::Char,
        )),
        ("chars", []) if machine.groovy() => Ok(V::array(
            text.encode_utf16().map(|unit| V::Plain(Value::Character(unit))).collect(),
            Base::Char,
        )),
        ("toList", []) => Ok(V::list(text_units::characters(machine, text)?)),
        ("getBytes", []) => Ok(V::bytes(text.as_bytes())),
        ("getBytes", [charset]) => {
            let charset = text_of(machine, charset)?;
            Ok(V::bytes(&encode::encode_text(text, &charset)?))
        }
        ("bytes", []) => Ok(V::bytes(text.as_bytes())),
        ("codePointAt", [at]) => text
            .encode_utf16()
            .nth(usize::try_from(count(at)).unwrap_or(usize::MAX))
            .map(|unit| V::int(i64::from(unit)))
            .ok_or_else(|| thrown("StringIndexOutOfBoundsException", "index")),
        _ => call_replacing(machine, text, method, arguments),
    }
}

/// Calls methods that replace, split, compare or format.
fn call_replacing(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, arguments: &[V]) -> Outcome {
    let count = |value: &V| value.as_long().unwrap_or(0);
    match (method, arguments) {
        ("replaceAll" | "replaceFirst", [_, V::Closure(_)]) => {
            regex::replace_with(machine, text, &arguments[0], &arguments[1], method == "replaceAll")
        }
        ("replaceAll" | "replaceFirst", [pattern, with]) => {
            let pattern = pattern_of(machine, pattern)?;
            let with = super::print::groovy(machine, with)?;
            Ok(V::text(patterns::replace(text, &pattern, &with, method == "replaceAll")?))
        }
        ("replace", [V::Plain(Value::Character(from)), V::Plain(Value::Character(to))]) => {
            let units: Vec<u16> =
                text.encode_utf16().map(|unit| if unit == *from { *to } else { unit }).collect();
            Ok(V::text(String::from_utf16_lossy(&units)))
        }
        ("replace", [from, to]) => {
            let (from, to) = (text_of(machine, from)?, text_of(machine, to)?);
            let found = text.matches(&*from).count();
            machine.spend(found)?;
            machine.spend_text(text.len().saturating_add(found.saturating_mul(to.len())))?;
            Ok(V::text(text.replace(&from, &to)))
        }
        ("matches", [pattern]) => {
            let pattern = pattern_of(machine, pattern)?;
            Ok(V::truth(patterns::whole(&pattern, text)?.is_some()))
        }
        ("split", [pattern]) => split(machine, text, pattern, 0),
        ("split", [pattern, limit]) => split(machine, text, pattern, count(limit)),
        ("split", []) => Ok(V::array(text.split_whitespace().map(V::text).collect(), Base::Text)),
        ("tokenize", []) => Ok(V::list(text.split_whitespace().map(V::text).collect())),
        ("tokenize", [separators]) => {
            let separators = super::print::groovy(machine, separators)?;
            let parts = text.split(|c| separators.contains(c)).filter(|part| !part.is_empty());
            let mut made = Vec::new();
            for part in parts {
                machine.spend(1)?;
                made.push(V::text(part));
            }
            Ok(V::list(made))
        }
        ("format", given) if machine.groovy() => {
            let made = format::format(machine, text, given)?;
            Ok(V::text(made))
        }
        ("formatted", given) => {
            let made = format::format(machine, text, given)?;
            Ok(V::text(made))
        }
        ("compareToIgnoreCase", [other]) => {
            let other = text_of(machine, other)?;
            Ok(V::int(i64::from(crate::plain::text::compare(&text.to_lowercase(), &other.to_lowercase()))))
        }
        ("contentEquals", [other]) => {
            let other = text_of(machine, other)?;
            Ok(V::truth(**text == *other))
        }
        ("equalsIgnoreCase", [other]) => match other.as_text() {
            Some(other) => Ok(V::truth(text.to_lowercase() == other.to_lowercase())),
            None => Ok(V::truth(false)),
        },
        ("repeat", [times]) | ("multiply", [times]) => {
            let times = usize::try_from(count(times))
                .map_err(|_| thrown("IllegalArgumentException", "count is negative"))?;
            machine.spend_text(text.len().saturating_mul(times))?;
            Ok(V::text(text.repeat(times)))
        }
        _ => call_joining(machine, text, method, arguments),
    }
}

/// Calls methods that join, pad or cut.
fn call_joining(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, arguments: &[V]) -> Outcome {
    let object = || V::Plain(Value::Text(text.clone()));
    let count = |value: &V| value.as_long().unwrap_or(0);
    match (method, arguments) {
        ("plus" | "concat", [other]) => {
            let other = super::print::groovy(machine, other)?;
            Ok(V::text(format!("{text}{other}")))
        }
        ("minus", [other]) => {
            let other = super::print::groovy(machine, other)?;
            Ok(V::text(text.replacen(&other, "", 1)))
        }
        ("padLeft" | "padRight" | "center", [width, ..]) => {
            let fill = match arguments.get(1) {
                Some(fill) => super::print::groovy(machine, fill)?,
                None => " ".into(),
            };
            pad(machine, text, method, count(width), &fill)
        }
        ("capitalize" | "uncapitalize", []) => {
            let mut letters = text.chars();
            let Some(first) = letters.next() else { return Ok(object()) };
            let first: String = if method == "capitalize" {
                first.to_uppercase().collect()
            } else {
                first.to_lowercase().collect()
            };
            Ok(V::text(first + letters.as_str()))
        }
        ("reverse", []) => Ok(V::text(text.chars().rev().collect::<String>())),
        ("take" | "drop" | "takeRight" | "dropRight", [by]) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            let by = usize::try_from(count(by)).unwrap_or(0).min(units.len());
            let part = match method {
                "take" => &units[..by],
                "drop" => &units[by..],
                "takeRight" => &units[units.len() - by..],
                _ => &units[..units.len() - by],
            };
            Ok(V::text(String::from_utf16_lossy(part)))
        }
        ("substringAfter" | "takeAfter", [pattern]) => {
            let pattern = text_of(machine, pattern)?;
            Ok(V::text(text.split_once(&pattern).map_or("", |(_, rest)| rest)))
        }
        ("takeBefore", [pattern]) => {
            let pattern = text_of(machine, pattern)?;
            Ok(V::text(text.split_once(&pattern).map_or("", |(rest, _)| rest)))
        }
        _ => call_searching(machine, text, method, arguments),
    }
}

/// Calls methods that search or read lines.
fn call_searching(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, arguments: &[V]) -> Outcome {
    let count = |value: &V| value.as_long().unwrap_or(0);
    match (method, arguments) {
        ("readLines" | "lines", []) => Ok(V::list(text.lines().map(V::text).collect())),
        ("eachLine", [closure @ V::Closure(_)]) if machine.groovy() => {
            lists::each_line(machine, text.lines(), 0, closure)
        }
        ("eachLine", [V::Plain(Value::Integer(first)), closure @ V::Closure(_)]) if machine.groovy() => {
            lists::each_line(machine, text.lines(), i64::from(*first), closure)
        }
        ("splitEachLine", [pattern, closure @ V::Closure(_)]) if machine.groovy() => {
            let pattern = pattern_of(machine, pattern)?;
            lists::split_each_line(machine, text.lines(), &pattern, closure)
        }
        ("indexOf" | "lastIndexOf", [V::Plain(Value::Character(unit)), rest @ ..]) => {
            let pattern = String::from_utf16_lossy(&[*unit]);
            Ok(text_units::position(text, &pattern, rest.first().map(count), method == "lastIndexOf"))
        }
        ("indexOf" | "lastIndexOf", [V::Plain(Value::Integer(code)), rest @ ..]) => {
            let pattern = String::from_utf16_lossy(&[*code as u16]);
            Ok(text_units::position(text, &pattern, rest.first().map(count), method == "lastIndexOf"))
        }
        ("indexOf" | "lastIndexOf", [pattern, rest @ ..]) => {
            let pattern = text_of(machine, pattern)?;
            Ok(text_units::position(text, &pattern, rest.first().map(count), method == "lastIndexOf"))
        }
        ("contains", [other]) => {
            let other = text_of(machine, other)?;
            Ok(V::truth(text.contains(&other)))
        }
        ("startsWith", [other, from]) => {
            let other = text_of(machine, other)?;
            let units: Vec<u16> = text.encode_utf16().collect();
            let from = usize::try_from(count(from)).unwrap_or(usize::MAX);
            let found =
                units.get(from..).is_some_and(|rest| String::from_utf16_lossy(rest).starts_with(&other));
            Ok(V::truth(found))
        }
        ("count", [pattern]) => {
            let pattern = text_of(machine, pattern)?;
            Ok(V::int(if pattern.is_empty() { 0 } else { text.matches(&pattern).count() as i64 }))
        }
        ("find" | "findAll" | "eachMatch", [pattern, ..]) if !matches!(pattern, V::Closure(_)) => {
            regex::call_on_text(machine, text, method, arguments)
        }
        _ => call_converting(machine, text, method, arguments),
    }
}

/// Calls methods that convert to numbers, hash, encode or decode.
fn call_converting(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("isBigDecimal" | "isDouble" | "isFloat" | "isBigInteger", []) => {
            let found = match method {
                "isBigInteger" => text.trim().parse::<i128>().is_ok(),
                _ => busyhour_java::parse_double(text.trim()).is_some(),
            };
            Ok(V::truth(found))
        }
        ("toBigDecimal" | "toBigInteger" | "toFloat", []) => {
            let fails = || thrown("NumberFormatException", format!("`{text}` is not a number"));
            let trimmed = text.trim();
            match method {
                "toFloat" => busyhour_java::parse_double(trimmed)
                    .map(|number| V::Plain(Value::Float(number as f32)))
                    .ok_or_else(fails),
                "toBigDecimal" => crate::decimal::Decimal::parse(trimmed)
                    .map(|number| V::Plain(Value::Decimal(number)))
                    .ok_or_else(fails),
                _ => trimmed.parse().map(|number| V::Plain(Value::BigInteger(number))).map_err(|_| fails()),
            }
        }
        ("toInteger" | "toLong", []) => {
            let trimmed = text.trim_matches(|c: char| c <= ' ');
            let number = busyhour_java::parse_long(trimmed);
            let fits = number.filter(|number| method == "toLong" || i32::try_from(*number).is_ok());
            match fits {
                Some(number) if method == "toLong" => Ok(V::long(number)),
                Some(number) => Ok(V::int(number)),
                None => Err(thrown("NumberFormatException", format!("For input string: \"{trimmed}\""))),
            }
        }
        ("toDouble", []) => busyhour_java::parse_double(text)
            .map(V::double)
            .ok_or_else(|| thrown("NumberFormatException", format!("For input string: \"{text}\""))),
        ("md5" | "sha256", []) => Ok(V::text(super::digest::hash_as_hex(
            if method == "md5" { "MD5" } else { "SHA-256" },
            text.as_bytes(),
        )?)),
        ("digest", [algorithm]) => {
            let algorithm = text_of(machine, algorithm)?;
            Ok(V::text(super::digest::hash_as_hex(&algorithm, text.as_bytes())?))
        }
        ("encodeBase64", []) => Ok(V::text(encode::encode_base64(text.as_bytes(), false, true))),
        ("decodeBase64", []) => Ok(V::bytes(&encode::decode_base64(text, false)?)),
        ("decodeHex", []) => Ok(V::bytes(&encode::decode_hex(text)?)),
        _ => call_on_characters(machine, text, method, arguments),
    }
}

/// Calls methods of characters, and those that the languages share.
fn call_on_characters(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, arguments: &[V]) -> Outcome {
    let object = || V::Plain(Value::Text(text.clone()));
    let count = |value: &V| value.as_long().unwrap_or(0);
    match (method, arguments) {
        ("charAt" | "getAt", [at]) if at.as_long().is_some() => {
            let at = count(at);
            let groovy_item = method == "getAt";
            let unit = usize::try_from(at).ok().and_then(|at| text.encode_utf16().nth(at));
            match unit {
                Some(unit) if groovy_item => Ok(V::text(String::from_utf16_lossy(&[unit]))),
                Some(unit) => Ok(V::Plain(Value::Character(unit))),
                None => {
                    Err(thrown("StringIndexOutOfBoundsException", format!("String index out of range: {at}")))
                }
            }
        }
        ("asBoolean", []) => Ok(V::truth(!text.is_empty())),
        ("toSet", []) => Ok(V::set(text_units::characters(machine, text)?, super::super::value::Order::Hash)),
        (
            "each" | "collect" | "any" | "every" | "find" | "findAll" | "eachWithIndex" | "inject"
            | "findIndexOf",
            [.., V::Closure(_)],
        ) => {
            let items = V::list(text_units::characters(machine, text)?);
            let V::List(list) = &items else { return Err(unknown(&object(), method)) };
            let value = lists::call(machine, list, method, arguments)?;
            Ok(if matches!(method, "each" | "eachWithIndex") { object() } else { value })
        }
        _ => {
            let mut plain = Vec::with_capacity(arguments.len());
            for argument in arguments {
                match argument {
                    V::Plain(value) => plain.push(value.clone()),
                    V::Object(inner) if matches!(&**inner, Object::Locale) && arguments.len() == 1 => {}
                    _ => return Err(unknown(&object(), method)),
                }
            }
            let known = matches!(
                method,
                "isEmpty"
                    | "trim"
                    | "toUpperCase"
                    | "toLowerCase"
                    | "toBoolean"
                    | "isInteger"
                    | "isLong"
                    | "isNumber"
                    | "substring"
                    | "startsWith"
                    | "endsWith"
                    | "compareTo"
            );
            if !known {
                return Err(unknown(&object(), method));
            }
            Ok(V::from(crate::plain::text::call(text, method, &plain)?))
        }
    }
}

fn split(machine: &mut Machine<'_>, text: &str, pattern: &V, limit: i64) -> Outcome {
    let pattern = pattern_of(machine, pattern)?;
    let parts = patterns::split(text, &pattern, limit)?;
    machine.room_for(parts.len())?;
    Ok(V::array(parts.into_iter().map(V::text).collect(), Base::Text))
}

fn pad(machine: &mut Machine<'_>, text: &str, method: &str, width: i64, fill: &str) -> Outcome {
    let len = text.chars().count();
    let missing = usize::try_from(width).unwrap_or(0).saturating_sub(len);
    machine.spend_text(missing.saturating_mul(fill.len()))?;
    let filled = |len: usize| fill.chars().cycle().take(len).collect::<String>();
    Ok(V::text(match method {
        "padLeft" => filled(missing) + text,
        "padRight" => text.to_owned() + &filled(missing),
        _ => filled(missing / 2) + text + &filled(missing - missing / 2),
    }))
}
