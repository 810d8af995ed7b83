//! Parses and writes JSON like Jackson.

use std::fmt::Write as _;

use serde::de::IgnoredAny;

use super::error::JmesPathError;
use crate::jsonpath::{self, Value};

/// Parses a document. Text after the first value is ignored.
///
/// # Errors
/// The text is not JSON. The message is Jackson's if it is known.
pub(crate) fn read(text: &str) -> Result<Value, JmesPathError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        None => {
            return Err(
                "No content to map due to end-of-input\n at [Source: (String)\"\"; line: 1, column: 0]"
                    .into(),
            );
        }
        Some(Err(error)) => return Err(jackson_message(text, &error).into()),
        Some(Ok(_)) => {}
    }
    jsonpath::read(text.trim_start()).map(decimals_to_doubles).map_err(|error| error.to_string().into())
}

/// Jackson's message for an invalid character at the start of a value; otherwise the message of the JSON library.
fn jackson_message(text: &str, error: &serde_json::Error) -> String {
    let start = text.trim_start();
    let location = |line: usize, column: usize| {
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
                location(line, column + word.chars().count())
            )
        }
        Some(first) if !matches!(first, '{' | '[' | '"' | '-' | '0'..='9') => format!(
            "Unexpected character ('{first}' (code {})): expected a valid value (JSON String, Number, Array, Object or \
             token 'null', 'true' or 'false'){}",
            first as u32,
            location(line, column)
        ),
        _ => error.to_string(),
    }
}

/// Converts decimal numbers to doubles, because Jackson parses every number with a fraction as a `double`.
fn decimals_to_doubles(value: Value) -> Value {
    match value {
        Value::Decimal(text) => Value::Double(text.parse().unwrap_or(f64::NAN)),
        Value::Array(items) => Value::Array(items.into_iter().map(decimals_to_doubles).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(key, value)| (key, decimals_to_doubles(value))).collect())
        }
        other => other,
    }
}

/// The text of a value: a string without quotes, or JSON for other values.
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
