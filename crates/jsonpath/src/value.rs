//! JSON values as json-smart passes them to Jayway's JSONPath: numbers have a Java type, and objects are ordered.

use std::collections::HashMap;
use std::fmt::Write as _;

use busyhour_java::{double_to_string, hash_map_order, table_size_of_copy};

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Value {
    /// JSON's `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// Java's `Integer` or `Long`.
    Integer(i64),
    /// An integer that does not fit into 64 bits, as written.
    BigInteger(String),
    /// Java's `Double`.
    Double(f64),
    /// Java's `BigDecimal`: a number that a `Double` cannot represent exactly, as written.
    Decimal(String),
    /// Text.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// An object; keys are unique, in the order of their first appearance.
    Object(Vec<(String, Value)>),
}

/// Objects with more members are compared by a hash map instead of a linear search.
const LINEAR_MEMBERS_MAX: usize = 16;

/// Java's `equals`: the order of an object's members does not matter, but the type of a number does.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Integer(left), Self::Integer(right)) => left == right,
            (Self::Double(left), Self::Double(right)) => left == right,
            (Self::BigInteger(left), Self::BigInteger(right))
            | (Self::Decimal(left), Self::Decimal(right))
            | (Self::Text(left), Self::Text(right)) => left == right,
            (Self::Array(left), Self::Array(right)) => left == right,
            (Self::Object(left), Self::Object(right)) if left.len() == right.len() => {
                if left.len() <= LINEAR_MEMBERS_MAX {
                    return left.iter().all(|(key, value)| other.member(key) == Some(value));
                }
                let right: HashMap<&str, &Value> =
                    right.iter().map(|(key, value)| (key.as_str(), value)).collect();
                left.iter().all(|(key, value)| right.get(key.as_str()) == Some(&value))
            }
            _ => false,
        }
    }
}

impl Value {
    /// The member of an object.
    pub fn member(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Size in steps of evaluation: one for the value, one for each value in it, and one for every 16 bytes of text.
    pub fn size(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Double(_) => 1,
            Self::BigInteger(text) | Self::Decimal(text) | Self::Text(text) => 1 + text.len() / 16,
            Self::Array(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Self::Object(members) => 1 + members.iter().map(|(_, value)| value.size()).sum::<usize>(),
        }
    }

    /// The value as a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "Java's Number.doubleValue rounds alike")]
            Self::Integer(number) => Some(*number as f64),
            Self::Double(number) => Some(*number),
            Self::BigInteger(text) | Self::Decimal(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Name of the Java class, for messages.
    pub(crate) fn java_class(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "java.lang.Boolean",
            Self::Integer(number) if i32::try_from(*number).is_ok() => "java.lang.Integer",
            Self::Integer(_) => "java.lang.Long",
            Self::BigInteger(_) => "java.math.BigInteger",
            Self::Double(_) => "java.lang.Double",
            Self::Decimal(_) => "java.math.BigDecimal",
            Self::Text(_) => "java.lang.String",
            Self::Array(_) => "net.minidev.json.JSONArray",
            Self::Object(_) => "java.util.LinkedHashMap",
        }
    }

    /// The text that an extractor stores; `None` for null. The members of an object are in the order of a Java
    /// `HashMap`, because JMeter copies the object into one before it writes it. Nested objects keep their order.
    pub fn extracted(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Object(members) => Some(object_in_hash_order(members)),
            other => Some(other.plain_text()),
        }
    }

    /// The text that an assertion compares and shows in its message.
    pub fn asserted(&self) -> String {
        match self {
            Self::Double(number) => decimal_text(*number),
            Self::Object(members) => object_in_hash_order(members),
            other => other.plain_text(),
        }
    }

    /// The value as JSON, except that a string has no quotes.
    fn plain_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => {
                let mut out = String::new();
                other.write_json(&mut out);
                out
            }
        }
    }

    /// The result of Java's `toString`, for messages: like the plain text, but objects have the format of a Java map.
    pub fn java_text(&self) -> String {
        match self {
            Self::Object(members) => {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{key}={}", value.java_text())).collect();
                format!("{{{}}}", members.join(", "))
            }
            other => other.plain_text(),
        }
    }

    /// Appends the value as JSON in the format of json-smart.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Integer(number) => {
                let _ = write!(out, "{number}");
            }
            Self::BigInteger(text) | Self::Decimal(text) => out.push_str(text),
            Self::Double(number) => out.push_str(&double_to_string(*number)),
            Self::Text(text) => write_text(out, text),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                write_members(out, members.iter().map(|(key, value)| (key.as_str(), value)))
            }
        }
    }
}

fn write_members<'v>(out: &mut String, members: impl Iterator<Item = (&'v str, &'v Value)>) {
    out.push('{');
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(out, key);
        out.push(':');
        value.write_json(out);
    }
    out.push('}');
}

/// Appends a quoted text with the escapes of json-smart, which also escapes `/`, control characters, and some format
/// characters.
fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2000}'..='\u{20ff}' => {
                let _ = write!(out, "\\u{:04X}", character as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn object_in_hash_order(members: &[(String, Value)]) -> String {
    let order = hash_map_order(members.iter().map(|(key, _)| &**key), table_size_of_copy(members.len()));
    let mut out = String::new();
    write_members(&mut out, order.iter().map(|&index| (members[index].0.as_str(), &members[index].1)));
    out
}

/// A double without an exponent and with at least one fraction digit, like a `DecimalFormat` with 1 to 340 fraction
/// digits.
fn decimal_text(number: f64) -> String {
    let text = format!("{number}");
    if text.contains('.') { text } else { format!("{text}.0") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (number, expected) in [
            (1.1, "1.1"),
            (1e5, "100000.0"),
            (1e-7, "1.0E-7"),
            (1e7, "1.0E7"),
            (1.0e8, "1.0E8"),
            (123_456_789.5, "1.234567895E8"),
            (0.001, "0.001"),
            (0.000_999, "9.99E-4"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (50.879_999_999_999_995, "50.879999999999995"),
        ] {
            assert_eq!(double_to_string(number), expected);
        }
    }
}
