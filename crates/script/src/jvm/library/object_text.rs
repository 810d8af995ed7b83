//! The `toString` of the library's objects.

use super::super::classes::Class;
use super::super::fault::{Fault, unsupported};
use super::super::machine::Machine;
use super::super::objects::{Object, Temporal};
use super::super::value::V;
use super::print::{groovy, java};
use super::{json, time, zones};

/// The result of an object's `toString`.
pub fn object_text(machine: &mut Machine<'_>, object: &Object, value: &V) -> Result<String, Fault> {
    Ok(match object {
        Object::Builder(text, _) => text.borrow().clone(),
        Object::LazyText(parts) => evaluate_parts(machine, parts)?,
        Object::Library(instance) => instance.text(machine)?,
        Object::Own(_) => match machine.call_own(value, "toString", &[]) {
            Some(text) => match text? {
                V::Plain(text) => text.to_java_string(),
                other => java(machine, &other)?,
            },
            None => format!("{}@6ccccc3c", object.class().name()),
        },
        Object::Date(ms) => time::format(machine, "EEE MMM dd HH:mm:ss zzz yyyy", ms.get(), None)?,
        Object::Exception(class, Some(message), _) if class.name() == "PowerAssertionError" => {
            format!("Assertion failed: \n\n{message}\n")
        }
        Object::Exception(class, message, _) => match message {
            // Java inserts the line and the column between class and message. They are not known here.
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
            json::write(machine, &content)?
        }
        Object::File(path) => path.display().to_string(),
        Object::Plain => "java.lang.Object@6ccccc3c".to_owned(),
        Object::Entry(key, value) => format!("{}={}", java(machine, key)?, java(machine, value)?),
        // A `StringWriter`, or a writer around it.
        Object::Writer(_, sink) if sink.path.is_none() => {
            String::from_utf8_lossy(&sink.written.borrow()).into_owned()
        }
        Object::Atomic(value, _) => value.get().to_string(),
        Object::Uuid(text) | Object::Charset(text) => text.clone(),
        Object::Unit(name) => match *name {
            "DAYS" => "Days".into(),
            other => other.to_owned(),
        },
        Object::Zone(zone, name) => zones::name_of(zone, name),
        Object::Temporal(kind, at, zone) => match kind {
            Temporal::Date => at.date().to_string(),
            Temporal::Time => format_time(&at.time()),
            Temporal::DateTime => format!("{}T{}", at.date(), format_time(&at.time())),
            Temporal::Instant => {
                let time = if at.time().subsec_nanosecond() == 0 {
                    at.time().strftime("%H:%M:%S").to_string()
                } else {
                    format_time(&at.time())
                };
                format!("{}T{time}Z", at.date())
            }
            Temporal::Zoned => {
                let zone = zones::zone_suffix(*at, zone)?;
                format!("{}T{}{zone}", at.date(), format_time(&at.time()))
            }
        },
        _ => return Err(unsupported(format!("the text of {}", value.kind()))),
    })
}

/// Evaluates the parts of a lazy string. A closure with a parameter receives a writer.
fn evaluate_parts(machine: &mut Machine<'_>, parts: &[V]) -> Result<String, Fault> {
    let mut out = String::new();
    for part in parts {
        match part {
            V::Closure(closure) if !closure.function.parameters.is_empty() => {
                let class = Class::known("StringBuilder");
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

/// Formats a time as Java does: seconds of zero are omitted, and a fraction has three, six or nine digits.
fn format_time(time: &jiff::civil::Time) -> String {
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
