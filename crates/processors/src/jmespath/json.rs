//! JSON as Jackson reads and writes it.

use std::fmt::Write as _;

use serde::de::IgnoredAny;

use super::error::JmesPathError;
use crate::jsonpath::{self, Value};

/// Reads a document; what follows the first value is not looked at.
///
/// # Errors
/// For what is not JSON, in Jackson's words where they are known.
pub(crate) fn read(text: &str) -> Result<Value, JmesPathError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        None => {
            return Err(
                "No content to map due to end-of-input\n at [Source: (String)\"\"; line: 1, column: 0]"
                    .into(),
            );
        }
        Some(Err(error)) => return Err(complaint(text, &error).into()),
        Some(Ok(_)) => {}
    }
    jsonpath::read(text.trim_start()).map(doubles).map_err(|error| error.to_string().into())
}

/// Jackson's words for a wrong character where a value should be; else what is known of the place.
fn complaint(text: &str, error: &serde_json::Error) -> String {
    let start = text.trim_start();
    let place = |line: usize, column: usize| {
        let source: String = text.chars().take(500).collect();
        let more = text.chars().count().saturating_sub(500);
        let more = if more > 0 { format!("[truncated {more} chars]") } else { String::new() };
        format!("\n at [Source: (String)\"{source}\"{more}; line: {line}, column: {column}]")
    };
    let before = &text[..text.len() - start.len()];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    match start.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => {
            let word: String =
                start.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect();
            format!(
                "Unrecognized token '{word}': was expecting (JSON String, Number, Array, Object or token 'null', 'true' \
                 or 'false'){}",
                place(line, column + word.chars().count())
            )
        }
        Some(first) if !matches!(first, '{' | '[' | '"' | '-' | '0'..='9') => format!(
            "Unexpected character ('{first}' (code {})): expected a valid value (JSON String, Number, Array, Object or \
             token 'null', 'true' or 'false'){}",
            first as u32,
            place(line, column)
        ),
        _ => error.to_string(),
    }
}

/// Jackson makes a `double` of every number with a fraction.
fn doubles(value: Value) -> Value {
    match value {
        Value::Decimal(text) => Value::Double(text.parse().unwrap_or(f64::NAN)),
        Value::Array(items) => Value::Array(items.into_iter().map(doubles).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(key, value)| (key, doubles(value))).collect())
        }
        other => other,
    }
}

/// A value as text: texts bare, all else as JSON.
pub(crate) fn write(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => {
            let mut out = String::new();
            write_json(other, &mut out);
            out
        }
    }
}

pub(super) fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Double(number) => out.push_str(&busyhour_java::double_to_string(*number)),
        Value::BigInteger(text) | Value::Decimal(text) => out.push_str(text),
        Value::Text(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04X}", character as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
