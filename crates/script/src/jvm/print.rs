//! Conversion of values to text.

use super::fault::{Fault, unsupported};
use super::machine::{Machine, TEXT_BYTES_MAX};
use super::objects::Object;
use super::value::V;
use crate::Value;

/// The text of a value as Java's `toString` returns it; `null` for null.
pub fn java(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    let mut out = String::new();
    write(machine, value, false, &mut out, 0)?;
    Ok(out)
}

/// The text of a value as the script's language prints it: Groovy has its own notation of maps and arrays.
pub fn groovy(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    let own = machine.groovy();
    let mut out = String::new();
    write(machine, value, own, &mut out, 0)?;
    Ok(out)
}

fn write(
    machine: &mut Machine<'_>,
    value: &V,
    groovy: bool,
    out: &mut String,
    depth: u32,
) -> Result<(), Fault> {
    if depth > 40 || out.len() > TEXT_BYTES_MAX {
        return Err(super::fault::limit("the text of a value that is too deeply nested or too large"));
    }
    machine.check_stack()?;
    match value {
        V::Plain(Value::Text(text)) => {
            machine.spend_text(text.len())?;
            out.push_str(text);
        }
        V::Plain(value) => out.push_str(&value.to_java_string()),
        V::Void => out.push_str("void"),
        V::List(list) if list.range.is_some() => out.push_str(list.range.as_deref().unwrap_or("")),
        V::List(list) if list.is_json && !groovy => {
            out.push_str(&super::json_value::to_text(machine, value)?)
        }
        V::List(list) => items(machine, &list.ordered(), groovy, out, depth)?,
        V::Array(_) if groovy => {
            let all = value.items().unwrap_or_default();
            items(machine, &all, groovy, out, depth)?;
        }
        V::Map(map) => {
            let entries = map.ordered();
            machine.spend(entries.len())?;
            if entries.is_empty() && groovy {
                out.push_str("[:]");
                return Ok(());
            }
            out.push(if groovy { '[' } else { '{' });
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write(machine, key, groovy, out, depth + 1)?;
                out.push(if groovy { ':' } else { '=' });
                write(machine, value, groovy, out, depth + 1)?;
            }
            out.push(if groovy { ']' } else { '}' });
        }
        V::Class(class) => {
            out.push_str("class ");
            out.push_str(&class.qualified_name());
        }
        V::Object(object) => out.push_str(&machine.object_text(object, value)?),
        V::Array(_) | V::Closure(_) | V::Host(_) => {
            return Err(unsupported(format!("the text of {}", value.kind())));
        }
    }
    Ok(())
}

fn items(
    machine: &mut Machine<'_>,
    all: &[V],
    groovy: bool,
    out: &mut String,
    depth: u32,
) -> Result<(), Fault> {
    machine.spend(all.len())?;
    out.push('[');
    for (at, item) in all.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(machine, item, groovy, out, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

/// Evaluates a lazy string; returns other values unchanged.
pub fn evaluated(machine: &mut Machine<'_>, value: &V) -> Result<V, Fault> {
    match value {
        V::Object(object) if matches!(**object, Object::LazyText(_)) => Ok(V::text(groovy(machine, value)?)),
        value => Ok(value.clone()),
    }
}

/// Whether a value is a lazy string, which contains closures.
pub fn is_lazy(value: &V) -> bool {
    matches!(value, V::Object(object) if matches!(**object, Object::LazyText(_)))
}

/// The result of Groovy's `inspect()`: strings are quoted, and other values are printed as by [`groovy`].
pub fn inspect(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    let mut out = String::new();
    write_inspected(machine, value, &mut out, 0)?;
    Ok(out)
}

fn write_inspected(machine: &mut Machine<'_>, value: &V, out: &mut String, depth: u32) -> Result<(), Fault> {
    if depth > 40 || out.len() > TEXT_BYTES_MAX {
        return Err(super::fault::limit("the text of a value that is too deeply nested or too large"));
    }
    machine.spend(1)?;
    machine.check_stack()?;
    match value {
        V::Plain(Value::Text(text)) => {
            machine.spend_text(text.len())?;
            out.push('\'');
            for c in text.chars() {
                match c {
                    '\'' => out.push_str("\\'"),
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    '\u{8}' => out.push_str("\\b"),
                    '\u{c}' => out.push_str("\\f"),
                    c => out.push(c),
                }
            }
            out.push('\'');
        }
        V::List(list) if list.range.is_none() => inspected_items(machine, &list.ordered(), out, depth)?,
        V::Array(_) => {
            let items = value.items().unwrap_or_default();
            inspected_items(machine, &items, out, depth)?;
        }
        V::Map(map) => {
            let entries = map.ordered();
            if entries.is_empty() {
                out.push_str("[:]");
                return Ok(());
            }
            for (at, (key, value)) in entries.iter().enumerate() {
                out.push_str(if at == 0 { "[" } else { ", " });
                write_inspected(machine, key, out, depth + 1)?;
                out.push(':');
                write_inspected(machine, value, out, depth + 1)?;
            }
            out.push(']');
        }
        other => out.push_str(&groovy(machine, other)?),
    }
    Ok(())
}

fn inspected_items(
    machine: &mut Machine<'_>,
    items: &[V],
    out: &mut String,
    depth: u32,
) -> Result<(), Fault> {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_inspected(machine, item, out, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

/// The text of a plain value.
pub fn plain(value: &Value) -> String {
    value.to_java_string()
}
