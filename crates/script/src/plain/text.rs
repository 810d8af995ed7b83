//! Methods of strings.

use super::fault::{Fault, Outcome};
use super::{convert, parse};
use crate::Value;

fn unknown(method: &str) -> Fault {
    Fault::new(format!("`{method}` of a String with these arguments is not supported"))
}

/// The UTF-16 units of a string, which Java's indices count. For ASCII, the bytes are the units.
struct Units<'t> {
    text: &'t str,
    wide: Option<Vec<u16>>,
}

impl<'t> Units<'t> {
    fn new(text: &'t str) -> Units<'t> {
        Units { text, wide: if text.is_ascii() { None } else { Some(text.encode_utf16().collect()) } }
    }

    fn len(&self) -> usize {
        self.wide.as_ref().map_or(self.text.len(), Vec::len)
    }

    fn slice(&self, from: usize, to: usize) -> Option<String> {
        match &self.wide {
            Some(wide) => wide.get(from..to).map(String::from_utf16_lossy),
            None => self.text.get(from..to).map(str::to_owned),
        }
    }
}

/// Calls a method of a string.
pub(crate) fn call(text: &str, method: &str, arguments: &[Value]) -> Outcome {
    match (method, arguments) {
        ("isEmpty", []) => Ok(Value::Boolean(text.is_empty())),
        ("trim", []) => Ok(Value::text(convert::trimmed(text))),
        ("toUpperCase", []) => Ok(Value::text(text.to_uppercase())),
        ("toLowerCase", []) => Ok(Value::text(text.to_lowercase())),
        // Groovy also accepts `y` and `1`.
        ("toBoolean", []) => Ok(Value::Boolean(
            ["y", "true", "1"].iter().any(|yes| convert::trimmed(text).eq_ignore_ascii_case(yes)),
        )),
        ("isInteger", []) => Ok(Value::Boolean(parse::parse_integer(convert::trimmed(text)).is_ok())),
        ("isLong", []) => Ok(Value::Boolean(parse::parse_long(convert::trimmed(text)).is_ok())),
        ("isNumber", []) => is_number(text),
        ("substring", [Value::Integer(from)]) => {
            let units = Units::new(text);
            substring(&units, *from, units.len() as i32)
        }
        ("substring", [Value::Integer(from), Value::Integer(to)]) => substring(&Units::new(text), *from, *to),
        ("startsWith", [Value::Text(other)]) => Ok(Value::Boolean(text.starts_with(&**other))),
        ("endsWith", [Value::Text(other)]) => Ok(Value::Boolean(text.ends_with(&**other))),
        ("compareTo", [Value::Text(other)]) => Ok(Value::Integer(compare(text, other))),
        _ => Err(unknown(method)),
    }
}

fn substring(units: &Units<'_>, from: i32, to: i32) -> Outcome {
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let slice = range.filter(|(from, to)| from <= to).and_then(|(from, to)| units.slice(from, to));
    slice
        .map(|text| Value::Text(text.into()))
        .ok_or_else(|| Fault::new(format!("there are no characters from {from} to {to}")))
}

/// In Groovy, the result is whether `new BigDecimal(text)` succeeds. Here only numbers without an exponent are supported.
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

/// The result of `String.compareTo`: the difference of the first units that differ, or of the lengths.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_count_units_of_utf_16() {
        let text = "a\u{1f600}b";
        assert_eq!(call(text, "substring", &[Value::Integer(3)]).unwrap(), Value::text("b"));
        assert_eq!(
            call(text, "substring", &[Value::Integer(1), Value::Integer(3)]).unwrap(),
            Value::text("\u{1f600}")
        );
        assert_eq!(compare("a", "abc"), -2);
        assert_eq!(compare("a", "c"), -2);
    }
}
