//! Texts of values.

use super::super::fault::{Fault, unsupported};
use super::super::machine::{Machine, TEXT_BYTES_MAX};
use super::super::objects::{Object, Temporal};
use super::super::value::V;
use super::time;
use crate::Value;

/// What Java's `toString` gives, `null` for null.
pub fn java(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    let mut out = String::new();
    write(machine, value, false, &mut out, 0)?;
    Ok(out)
}

/// What Groovy makes of a value in a text: maps and arrays in its own notation.
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
        return Err(super::super::fault::limit("the text of what holds itself"));
    }
    match value {
        V::Plain(value) => out.push_str(&value.to_java_string()),
        V::Void => out.push_str("void"),
        V::List(list) if list.range.is_some() => out.push_str(list.range.as_deref().unwrap_or("")),
        V::List(list) if list.is_json && !groovy => out.push_str(&super::json_path::text(machine, value)?),
        V::List(list) => items(machine, &list.ordered(), groovy, out, depth)?,
        V::Array(array) if groovy => {
            let all = array.items.borrow().clone();
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
        V::Object(object) => out.push_str(&text_of_object(machine, object, value)?),
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

fn text_of_object(machine: &mut Machine<'_>, object: &Object, value: &V) -> Result<String, Fault> {
    Ok(match object {
        Object::Builder(text, _) => text.borrow().clone(),
        Object::LazyText(parts) => lazy(machine, parts)?,
        Object::Library(instance) => instance.text(machine)?,
        Object::Own(_) => match machine.call_own(value, "toString", &[]) {
            Some(text) => match text? {
                V::Plain(text) => text.to_java_string(),
                other => java(machine, &other)?,
            },
            None => format!("{}@6ccccc3c", object.class().name()),
        },
        Object::Date(ms) => time::format(machine, "EEE MMM dd HH:mm:ss zzz yyyy", ms.get(), None)?,
        Object::Exception(class, message, _) => match message {
            // Java has the line and the column between the two, which are not known here.
            Some(message) if class.name() == "SAXParseException" => {
                format!("{}; {message}", class.qualified_name())
            }
            Some(message) => format!("{}: {message}", class.qualified_name()),
            None => class.qualified_name(),
        },
        Object::Pattern(pattern) => pattern.clone(),
        Object::Matcher(matcher) => {
            let found = matcher.found.borrow();
            let last = found.as_ref().and_then(|groups| groups.first().copied().flatten());
            let last = last.map_or("", |(start, end)| &matcher.text[start..end]);
            let end = matcher.text.encode_utf16().count();
            format!("java.util.regex.Matcher[pattern={} region=0,{end} lastmatch={last}]", matcher.pattern)
        }
        Object::Json(content) => {
            let content = content.borrow().clone();
            super::json::write(machine, &content)?
        }
        Object::File(path) => path.display().to_string(),
        Object::Entry(key, value) => format!("{}={}", java(machine, key)?, java(machine, value)?),
        // A StringWriter and what writes to it.
        Object::Writer(_, sink) if sink.path.is_none() => {
            String::from_utf8_lossy(&sink.written.borrow()).into_owned()
        }
        Object::Atomic(value, _) => value.get().to_string(),
        Object::Uuid(text) | Object::Charset(text) => text.clone(),
        Object::Unit(name) => match *name {
            "DAYS" => "Days".into(),
            other => other.to_owned(),
        },
        Object::Zone(zone, name) => zone.iana_name().map_or_else(|| name.clone(), str::to_owned),
        Object::Temporal(kind, at, _) => match kind {
            Temporal::Date => at.date().to_string(),
            Temporal::Time => time_text(&at.time()),
            Temporal::DateTime => format!("{}T{}", at.date(), time_text(&at.time())),
            Temporal::Instant => {
                let time = if at.time().subsec_nanosecond() == 0 {
                    at.time().strftime("%H:%M:%S").to_string()
                } else {
                    time_text(&at.time())
                };
                format!("{}T{time}Z", at.date())
            }
            Temporal::Zoned => return Err(unsupported("the text of a ZonedDateTime")),
        },
        _ => return Err(unsupported(format!("the text of {}", value.kind()))),
    })
}

/// The parts of a text; a closure with a parameter writes to it.
fn lazy(machine: &mut Machine<'_>, parts: &[V]) -> Result<String, Fault> {
    let mut out = String::new();
    for part in parts {
        match part {
            V::Closure(closure) if !closure.function.parameters.is_empty() => {
                let class = super::super::classes::Class::known("StringBuilder");
                let writer = V::object(Object::Builder(std::cell::RefCell::default(), class));
                machine.call_value(part, vec![writer.clone()])?;
                out.push_str(&groovy(machine, &writer)?);
            }
            V::Closure(_) => {
                let value = machine.call_value(part, Vec::new())?;
                out.push_str(&groovy(machine, &value)?);
            }
            part => out.push_str(&groovy(machine, part)?),
        }
        machine.spend_text(out.len())?;
    }
    Ok(out)
}

/// A text with closures as the text that it is now; other values as they are.
pub fn evaluated(machine: &mut Machine<'_>, value: &V) -> Result<V, Fault> {
    match value {
        V::Object(object) if matches!(**object, Object::LazyText(_)) => Ok(V::text(groovy(machine, value)?)),
        value => Ok(value.clone()),
    }
}

/// Whether it is a text with closures.
pub fn is_lazy(value: &V) -> bool {
    matches!(value, V::Object(object) if matches!(**object, Object::LazyText(_)))
}

/// Java leaves out seconds that are zero, and writes fractions in groups of three digits.
fn time_text(time: &jiff::civil::Time) -> String {
    let nanos = time.subsec_nanosecond();
    let mut text = format!("{:02}:{:02}", time.hour(), time.minute());
    if time.second() != 0 || nanos != 0 {
        text.push_str(&format!(":{:02}", time.second()));
    }
    if nanos != 0 {
        if nanos % 1_000_000 == 0 {
            text.push_str(&format!(".{:03}", nanos / 1_000_000));
        } else if nanos % 1000 == 0 {
            text.push_str(&format!(".{:06}", nanos / 1000));
        } else {
            text.push_str(&format!(".{nanos:09}"));
        }
    }
    text
}

/// Groovy's `inspect()`: texts in quotes, all else as in a text.
pub fn inspect(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    let mut out = String::new();
    write_inspected(machine, value, &mut out, 0)?;
    Ok(out)
}

fn write_inspected(machine: &mut Machine<'_>, value: &V, out: &mut String, depth: u32) -> Result<(), Fault> {
    if depth > 40 || out.len() > TEXT_BYTES_MAX {
        return Err(super::super::fault::limit("the text of what holds itself"));
    }
    machine.spend(1)?;
    match value {
        V::Plain(Value::Text(text)) => {
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
        V::Array(array) => {
            let items = array.items.borrow().clone();
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

/// The text of a value that is no object, for places that hold plain values only.
pub fn plain(value: &Value) -> String {
    value.to_java_string()
}
