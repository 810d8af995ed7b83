//! Methods of texts, numbers and lists.

use std::sync::Arc;

use super::fault::{Fault, Outcome};
use super::{convert, parse, pattern};
use crate::Value;
use crate::syntax::Dialect;

fn unknown(receiver: &Value, method: &str) -> Fault {
    Fault::new(format!("`{method}` of {} with these arguments is not supported", receiver.type_name()))
}

/// Calls a method of the value.
pub(crate) fn call(receiver: &Value, method: &str, arguments: &[Value], dialect: Dialect) -> Outcome {
    match (method, arguments) {
        ("toString", []) => return Ok(Value::Text(convert::printed(receiver, dialect)?.into())),
        // BeanShell asks its own wrappers of primitive values, which equal no other object.
        ("equals", [_]) if dialect == Dialect::BeanShell && !matches!(receiver, Value::Text(_)) => {
            return Err(unknown(receiver, method));
        }
        ("equals", [other]) => return equals(receiver, other),
        _ => {}
    }
    match receiver {
        Value::Text(text) => of_text(text, method, arguments, dialect),
        Value::List(items) => of_list(receiver, items, method, arguments),
        Value::Array(items) if method == "size" && dialect != Dialect::BeanShell => {
            Ok(Value::Integer(items.len() as i32))
        }
        Value::Integer(_) | Value::Long(_) | Value::Double(_) | Value::Decimal(_) => {
            of_number(receiver, method, arguments)
        }
        _ => Err(unknown(receiver, method)),
    }
}

/// Java's `equals`: type and value.
fn equals(left: &Value, right: &Value) -> Outcome {
    match (left, right) {
        (Value::Array(_) | Value::List(_) | Value::Decimal(_), _) => Err(unknown(left, "equals")),
        // `Double.equals` tells 0.0 from -0.0 and takes NaN for itself.
        (Value::Double(a), Value::Double(b)) => Ok(Value::Boolean(a.to_bits() == b.to_bits())),
        _ => Ok(Value::Boolean(left == right)),
    }
}

fn of_list(receiver: &Value, items: &Arc<[Value]>, method: &str, arguments: &[Value]) -> Outcome {
    match (method, arguments) {
        ("size", []) => Ok(Value::Integer(items.len() as i32)),
        ("isEmpty", []) => Ok(Value::Boolean(items.is_empty())),
        ("get", [Value::Integer(at)]) => {
            let found = usize::try_from(*at).ok().and_then(|at| items.get(at));
            found.cloned().ok_or_else(|| Fault::new(format!("there is no item {at}")))
        }
        ("contains", [Value::Text(_)]) => Ok(Value::Boolean(items.contains(&arguments[0]))),
        ("indexOf", [Value::Text(_)]) => {
            Ok(Value::Integer(items.iter().position(|item| *item == arguments[0]).map_or(-1, |at| at as i32)))
        }
        _ => Err(unknown(receiver, method)),
    }
}

fn of_number(receiver: &Value, method: &str, arguments: &[Value]) -> Outcome {
    use crate::syntax::ast::Type;
    if let ("intdiv", Value::Integer(a), [Value::Integer(b)]) = (method, receiver, arguments) {
        return a.checked_div(*b).map(Value::Integer).ok_or_else(|| "division by zero".into());
    }
    let target = match method {
        "intValue" | "toInteger" => Type::Int,
        "longValue" | "toLong" => Type::Long,
        "doubleValue" | "toDouble" => Type::Double,
        "compareTo" => {
            return match (receiver, arguments) {
                (Value::Integer(a), [Value::Integer(b)]) => Ok(Value::Integer(a.cmp(b) as i32)),
                (Value::Long(a), [Value::Long(b)]) => Ok(Value::Integer(a.cmp(b) as i32)),
                _ => Err(unknown(receiver, method)),
            };
        }
        _ => return Err(unknown(receiver, method)),
    };
    convert::cast(receiver.clone(), target, Dialect::BeanShell)
}

/// Units of UTF-16, which Java's indices count. Texts of ASCII are their own units.
struct Units<'t> {
    text: &'t str,
    wide: Option<Vec<u16>>,
}

impl<'t> Units<'t> {
    fn of(text: &'t str) -> Units<'t> {
        Units { text, wide: if text.is_ascii() { None } else { Some(text.encode_utf16().collect()) } }
    }

    fn len(&self) -> usize {
        self.wide.as_ref().map_or(self.text.len(), Vec::len)
    }

    fn get(&self, at: usize) -> Option<u16> {
        match &self.wide {
            Some(wide) => wide.get(at).copied(),
            None => self.text.as_bytes().get(at).map(|byte| u16::from(*byte)),
        }
    }

    fn slice(&self, from: usize, to: usize) -> Option<String> {
        match &self.wide {
            Some(wide) => wide.get(from..to).map(String::from_utf16_lossy),
            None => self.text.get(from..to).map(str::to_owned),
        }
    }

    /// The index in units of a byte offset.
    fn index(&self, offset: usize) -> i32 {
        if self.wide.is_some() { self.text[..offset].encode_utf16().count() as i32 } else { offset as i32 }
    }
}

fn of_text(text: &Arc<str>, method: &str, arguments: &[Value], dialect: Dialect) -> Outcome {
    let groovy = dialect == Dialect::Groovy;
    let whole = |value: usize| Ok(Value::Integer(value as i32));
    match (method, arguments) {
        ("length", []) => whole(Units::of(text).len()),
        ("size", []) if groovy || dialect.is_jexl() => whole(Units::of(text).len()),
        ("isEmpty", []) => Ok(Value::Boolean(text.is_empty())),
        ("trim", []) => Ok(Value::text(convert::trimmed(text))),
        ("toUpperCase", []) => Ok(Value::text(text.to_uppercase())),
        ("toLowerCase", []) => Ok(Value::text(text.to_lowercase())),
        ("toInteger", []) => parse::parse_integer(convert::trimmed(text)),
        ("reverse", []) if text.is_ascii() => Ok(Value::text(text.chars().rev().collect::<String>())),
        // `y` and `1` are as good as `true`.
        ("toBoolean", []) => Ok(Value::Boolean(
            ["y", "true", "1"].iter().any(|yes| convert::trimmed(text).eq_ignore_ascii_case(yes)),
        )),
        ("toLong", []) => parse::parse_long(convert::trimmed(text)),
        ("toDouble", []) => parse::parse_double(text),
        ("isInteger", []) => Ok(Value::Boolean(parse::parse_integer(convert::trimmed(text)).is_ok())),
        ("isLong", []) => Ok(Value::Boolean(parse::parse_long(convert::trimmed(text)).is_ok())),
        ("isNumber", []) => is_number(text),
        ("charAt", [Value::Integer(at)]) => {
            let unit = usize::try_from(*at).ok().and_then(|at| Units::of(text).get(at));
            unit.map(Value::Character).ok_or_else(|| Fault::new(format!("there is no character {at}")))
        }
        ("substring", [Value::Integer(from)]) => {
            let units = Units::of(text);
            substring(&units, *from, units.len() as i32)
        }
        ("substring", [Value::Integer(from), Value::Integer(to)]) => substring(&Units::of(text), *from, *to),
        _ => of_text_with_text(text, method, arguments, dialect),
    }
}

fn substring(units: &Units<'_>, from: i32, to: i32) -> Outcome {
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let slice = range.filter(|(from, to)| from <= to).and_then(|(from, to)| units.slice(from, to));
    slice
        .map(|text| Value::Text(text.into()))
        .ok_or_else(|| Fault::new(format!("there are no characters from {from} to {to}")))
}

/// Groovy asks whether `new BigDecimal(text)` would succeed; only plain notation is answered.
fn is_number(text: &str) -> Outcome {
    let text = convert::trimmed(text);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.contains(['e', 'E']) && unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Fault::new("`isNumber` of a text with an exponent is not supported"));
    }
    let digits = unsigned.bytes().filter(u8::is_ascii_digit).count();
    let points = unsigned.bytes().filter(|b| *b == b'.').count();
    Ok(Value::Boolean(digits > 0 && points <= 1 && digits + points == unsigned.len()))
}

fn of_text_with_text(text: &Arc<str>, method: &str, arguments: &[Value], dialect: Dialect) -> Outcome {
    let receiver = Value::Text(text.clone());
    let Some(first) = arguments.first() else {
        return Err(unknown(&receiver, method));
    };
    let Value::Text(other) = first else {
        return Err(unknown(&receiver, method));
    };
    let other = &**other;
    let units = || Units::of(text);
    match (method, &arguments[1..]) {
        ("contains", []) => Ok(Value::Boolean(text.contains(other))),
        ("startsWith", []) => Ok(Value::Boolean(text.starts_with(other))),
        ("endsWith", []) => Ok(Value::Boolean(text.ends_with(other))),
        ("equalsIgnoreCase", []) if text.is_ascii() && other.is_ascii() => {
            Ok(Value::Boolean(text.eq_ignore_ascii_case(other)))
        }
        ("concat", []) => Ok(Value::text(format!("{text}{other}"))),
        ("indexOf", []) => Ok(Value::Integer(text.find(other).map_or(-1, |at| units().index(at)))),
        ("indexOf", [Value::Integer(from)]) if text.is_ascii() => {
            let from = usize::try_from(*from).unwrap_or(0).min(text.len());
            Ok(Value::Integer(text[from..].find(other).map_or(-1, |at| (from + at) as i32)))
        }
        ("lastIndexOf", []) => Ok(Value::Integer(text.rfind(other).map_or(-1, |at| units().index(at)))),
        ("compareTo", []) => Ok(Value::Integer(compare(text, other))),
        ("replace", [Value::Text(new)]) if !other.is_empty() => Ok(Value::text(text.replace(other, new))),
        ("matches", []) => Ok(Value::Boolean(pattern::matches_whole(text, other)?)),
        ("replaceAll" | "replaceFirst", [Value::Text(new)]) => {
            if other.contains('$') && text.ends_with(['\n', '\r']) {
                return Err(
                    "`$` in a pattern for a text that ends with the end of a line is not supported".into()
                );
            }
            if new.contains(['$', '\\']) {
                return Err("`$` or a backslash in a replacement is not supported".into());
            }
            let limit = usize::from(method == "replaceFirst");
            let new = regex::NoExpand(new);
            pattern::with(other, |regex| Value::text(regex.replacen(text, limit, new)))
        }
        ("split", []) => split(text, other),
        _ => {
            let _ = dialect;
            Err(unknown(&receiver, method))
        }
    }
}

/// `String.compareTo`: the difference of the first units that differ, or of the lengths.
pub(crate) fn compare(left: &str, right: &str) -> i32 {
    let mut others = right.encode_utf16();
    let mut units = left.encode_utf16();
    loop {
        match (units.next(), others.next()) {
            (Some(a), Some(b)) if a != b => return i32::from(a) - i32::from(b),
            (Some(_), Some(_)) => {}
            (None, None) => return 0,
            (Some(_), None) => return 1 + units.count() as i32,
            (None, Some(_)) => return -1 - others.count() as i32,
        }
    }
}

/// `String.split`: empty texts at the end are dropped; a text without a match is its only item.
fn split(text: &str, separator: &str) -> Outcome {
    let items = pattern::with(separator, |regex| {
        if regex.is_match("") {
            return None;
        }
        let mut items: Vec<&str> = regex.split(text).collect();
        if items.len() > 1 {
            while items.last().is_some_and(|item| item.is_empty()) {
                items.pop();
            }
        }
        Some(items.into_iter().map(Value::text).collect::<Arc<[Value]>>())
    })?;
    items
        .map(Value::Array)
        .ok_or_else(|| "splitting at a pattern that matches nothing at all is not supported".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_count_units_of_utf_16() {
        let text: Arc<str> = "a\u{1f600}b".into();
        let call =
            |method: &str, arguments: &[Value]| of_text(&text, method, arguments, Dialect::Groovy).unwrap();
        assert_eq!(call("length", &[]), Value::Integer(4));
        assert_eq!(call("indexOf", &[Value::text("b")]), Value::Integer(3));
        assert_eq!(call("substring", &[Value::Integer(3)]), Value::text("b"));
        assert_eq!(call("charAt", &[Value::Integer(1)]), Value::Character(0xd83d));
        assert_eq!(compare("a", "abc"), -2);
        assert_eq!(compare("a", "c"), -2);
    }
}
