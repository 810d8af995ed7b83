//! Constructors.

use std::cell::{Cell, RefCell};

use jiff::tz::TimeZone;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::random::JavaRandom;
use super::super::tree::Base;
use super::super::value::{Map, Order, V};
use super::{encode, files, print, text_of};
use crate::Value;
use crate::decimal::Decimal;

pub fn new(machine: &mut Machine<'_>, class: Class, arguments: &[V]) -> Outcome {
    let name = class.name();
    let wrong = || unsupported(format!("`new {name}` with these arguments"));
    if let Some(declared) = super::registry::find(name) {
        return (declared.construct)(machine, arguments);
    }
    match (name, arguments) {
        ("Object", []) => Ok(V::object(Object::Plain)),
        ("String", []) => Ok(V::text("")),
        ("String", [bytes, from, len, rest @ ..]) if bytes.as_bytes().is_some() => {
            let bytes = bytes.as_bytes().unwrap_or_default();
            let at = |value: &V| usize::try_from(value.as_long().unwrap_or(-1)).ok();
            let part = match (at(from), at(len)) {
                (Some(from), Some(len)) => bytes.get(from..from.saturating_add(len)),
                _ => None,
            };
            let Some(part) = part else {
                let message = format!("offset, count, length {}", bytes.len());
                return Err(thrown("StringIndexOutOfBoundsException", message));
            };
            machine.spend_text(bytes.len())?;
            let charset = match rest.first() {
                Some(charset) => text_of(machine, charset)?,
                None => "UTF-8".into(),
            };
            Ok(V::text(encode::decode_text(part, &charset)?))
        }
        ("String", [bytes, rest @ ..]) => {
            if let Some(bytes) = bytes.as_bytes() {
                let charset = match rest.first() {
                    Some(charset) => text_of(machine, charset)?,
                    None => "UTF-8".into(),
                };
                machine.spend_text(bytes.len())?;
                return Ok(V::text(encode::decode_text(&bytes, &charset)?));
            }
            if let V::Array(array) = bytes
                && array.of == Base::Char
            {
                let units: Vec<u16> =
                    array.items.borrow().iter().map(|item| item.as_long().unwrap_or(0) as u16).collect();
                return Ok(V::text(String::from_utf16_lossy(&units)));
            }
            Ok(V::text(text_of(machine, bytes)?))
        }
        ("Integer" | "Long" | "Double" | "Boolean", [value]) => {
            machine.dispatch(&V::Class(class), "valueOf", std::slice::from_ref(value))
        }
        ("StringBuilder" | "StringBuffer", []) => Ok(V::object(Object::Builder(RefCell::default(), class))),
        ("StringBuilder" | "StringBuffer", [V::Plain(Value::Integer(_))]) => {
            Ok(V::object(Object::Builder(RefCell::default(), class)))
        }
        ("StringBuilder" | "StringBuffer", [text]) => {
            let text = text_of(machine, text)?;
            Ok(V::object(Object::Builder(RefCell::new(text), class)))
        }
        ("Random" | "SecureRandom", []) => {
            let seed = machine.scope.random_bits() as i64;
            Ok(V::object(Object::Random(RefCell::new(JavaRandom::new(seed)))))
        }
        ("Random", [seed]) => {
            let seed = seed.as_long().ok_or_else(wrong)?;
            Ok(V::object(Object::Random(RefCell::new(JavaRandom::new(seed)))))
        }
        ("Date", []) => Ok(V::object(Object::Date(Cell::new(machine.scope.wall_clock_ms())))),
        ("Date", [ms]) => Ok(V::object(Object::Date(Cell::new(ms.as_long().ok_or_else(wrong)?)))),
        ("GregorianCalendar", []) => Ok(V::object(Object::Calendar(
            Cell::new(machine.scope.wall_clock_ms()),
            RefCell::new(TimeZone::system()),
        ))),
        ("SimpleDateFormat", [pattern, ..]) => {
            let pattern = text_of(machine, pattern)?;
            // Formats a date once, so that the constructor rejects an unsupported pattern.
            super::time::format(machine, &pattern, 0, Some(&TimeZone::UTC))?;
            Ok(V::object(Object::DateFormat(pattern, RefCell::default())))
        }
        ("DecimalFormat", [pattern]) => Ok(V::object(Object::NumberFormat(text_of(machine, pattern)?))),
        _ => new_collection(machine, class, arguments),
    }
}

/// Whether objects of the class are collections or maps.
pub fn is_collection(class: &str) -> bool {
    ["List", "Set", "Map", "Queue", "Deque", "Vector", "Stack", "Hashtable"]
        .iter()
        .any(|end| class.ends_with(end))
}

/// Calls constructors of collections and counters.
fn new_collection(machine: &mut Machine<'_>, class: Class, arguments: &[V]) -> Outcome {
    let name = class.name();
    let wrong = || unsupported(format!("`new {name}` with these arguments"));
    match (name, arguments) {
        (
            "ArrayList"
            | "LinkedList"
            | "Vector"
            | "ArrayDeque"
            | "ConcurrentLinkedQueue"
            | "ConcurrentLinkedDeque"
            | "LinkedBlockingQueue"
            | "LinkedBlockingDeque"
            | "ArrayBlockingQueue"
            | "CopyOnWriteArrayList",
            [] | [V::Plain(Value::Integer(_))],
        ) => Ok(V::list(Vec::new())),
        (
            "ArrayList"
            | "LinkedList"
            | "Vector"
            | "ArrayDeque"
            | "ConcurrentLinkedQueue"
            | "ConcurrentLinkedDeque"
            | "LinkedBlockingQueue"
            | "LinkedBlockingDeque"
            | "CopyOnWriteArrayList",
            [items],
        ) => Ok(V::list(items.items().ok_or_else(wrong)?)),
        ("HashSet" | "LinkedHashSet" | "TreeSet", rest @ ([] | [_])) => {
            let order = match name {
                "HashSet" => Order::Hash,
                "TreeSet" => Order::Sorted,
                _ => Order::Added,
            };
            let items = match rest.first() {
                None | Some(V::Plain(Value::Integer(_))) => Vec::new(),
                Some(items) => items.items().ok_or_else(wrong)?,
            };
            Ok(V::set(items, order))
        }
        (
            "HashMap"
            | "LinkedHashMap"
            | "TreeMap"
            | "ConcurrentHashMap"
            | "Hashtable"
            | "Properties"
            | "ConcurrentSkipListMap"
            | "WeakHashMap",
            rest,
        ) => {
            let order = match name {
                "LinkedHashMap" => Order::Added,
                "TreeMap" | "ConcurrentSkipListMap" => Order::Sorted,
                "HashMap" | "ConcurrentHashMap" | "WeakHashMap" => Order::Hash,
                _ => Order::Added,
            };
            let map = Map::new(order);
            match rest.first() {
                None | Some(V::Plain(Value::Integer(_))) => {}
                Some(V::Map(other)) => {
                    for (key, value) in other.ordered() {
                        map.put(key, value);
                    }
                }
                Some(_) => return Err(wrong()),
            }
            Ok(V::Map(std::rc::Rc::new(map)))
        }
        ("AtomicInteger" | "AtomicLong", rest) => {
            let start = rest.first().map_or(Some(0), V::as_long).ok_or_else(wrong)?;
            Ok(V::object(Object::Atomic(Cell::new(start), class)))
        }
        _ => new_number_or_stream(machine, class, arguments),
    }
}

/// Calls constructors of numbers, files, streams, JSON and exceptions.
#[allow(clippy::too_many_lines, reason = "one arm for each constructor")]
fn new_number_or_stream(machine: &mut Machine<'_>, class: Class, arguments: &[V]) -> Outcome {
    let name = class.name();
    let wrong = || unsupported(format!("`new {name}` with these arguments"));
    match (name, arguments) {
        ("BigDecimal", [value]) => match value {
            V::Plain(Value::Text(text)) => Decimal::parse(text)
                .map(|value| V::Plain(Value::Decimal(value)))
                .ok_or_else(|| thrown("NumberFormatException", format!("`{text}` is not a number"))),
            V::Plain(Value::Integer(value)) => {
                Ok(V::Plain(Value::Decimal(Decimal::whole(i64::from(*value)))))
            }
            V::Plain(Value::Long(value)) => Ok(V::Plain(Value::Decimal(Decimal::whole(*value)))),
            V::Plain(Value::Decimal(_)) => Ok(value.clone()),
            _ => Err(wrong()),
        },
        ("BigInteger", [sign, bytes]) if bytes.as_bytes().is_some() => {
            let bytes = bytes.as_bytes().unwrap_or_default();
            if bytes.len() > 15 {
                machine.spend(bytes.len())?;
                return match sign.as_long() {
                    Some(0 | 1) => Ok(super::magnitude::from_bytes(bytes)),
                    _ => Err(unsupported("a number of more than 128 bits")),
                };
            }
            let value = bytes.iter().fold(0_i128, |value, byte| value << 8 | i128::from(*byte));
            let value = if sign.as_long().unwrap_or(1) < 0 { -value } else { value };
            Ok(V::Plain(Value::BigInteger(value)))
        }
        ("BigInteger", [text, radix]) => {
            let text = text_of(machine, text)?;
            let radix = radix.as_long().and_then(|radix| u32::try_from(radix).ok()).unwrap_or(10);
            let digits = text.strip_prefix('+').unwrap_or(&text);
            if !digits.is_empty() && digits.len() > 24 && digits.chars().all(|c| c.is_digit(radix)) {
                return Err(unsupported("a number of more than 128 bits"));
            }
            i128::from_str_radix(digits, radix.clamp(2, 36))
                .map(|value| V::Plain(Value::BigInteger(value)))
                .map_err(|_| {
                    let radix = if radix == 10 { String::new() } else { format!(" under radix {radix}") };
                    thrown("NumberFormatException", format!("For input string: \"{text}\"{radix}"))
                })
        }
        ("BigInteger", [text]) => {
            let text = text_of(machine, text)?;
            text.parse()
                .map(|value| V::Plain(Value::BigInteger(value)))
                .map_err(|_| thrown("NumberFormatException", format!("For input string: \"{text}\"")))
        }
        ("StringTokenizer", [text, rest @ ..]) => {
            let text = text_of(machine, text)?;
            let separators = match rest.first() {
                Some(separators) => text_of(machine, separators)?,
                None => " \t\n\r\u{c}".into(),
            };
            let parts =
                text.split(|c| separators.contains(c)).filter(|part| !part.is_empty()).map(V::text).collect();
            Ok(V::object(Object::Iterator(RefCell::new(parts))))
        }
        ("ArrayIterator", [V::Array(_)]) => {
            Ok(V::object(Object::Iterator(RefCell::new(arguments[0].items().unwrap_or_default().into()))))
        }
        ("File", [path]) => Ok(V::object(Object::File(text_of(machine, path)?.into()))),
        ("File", [parent, child]) => {
            let parent = match parent {
                V::Plain(Value::Null) => String::new(),
                other => print::java(machine, other)?,
            };
            let child = text_of(machine, child)?;
            Ok(V::object(Object::File(std::path::Path::new(&parent).join(child.trim_start_matches('/')))))
        }
        ("FileWriter" | "FileOutputStream", [file, rest @ ..]) => {
            let appends = matches!(rest.last(), Some(V::Plain(Value::Boolean(true))));
            files::writer_of(class, file, appends)
        }
        ("StringWriter", _) => Ok(files::writer_to_memory(class)),
        ("PrintWriter" | "PrintStream", [target, ..]) => files::writer_of(class, target, false),
        (
            "BufferedWriter" | "OutputStreamWriter" | "BufferedOutputStream" | "DataOutputStream",
            [target, ..],
        ) => files::writer_around(machine, class, target),
        ("FileReader" | "FileInputStream", [file, ..]) => files::reader_of(class, file),
        ("BufferedReader" | "InputStreamReader" | "BufferedInputStream", [source, ..]) => {
            files::reader_around(machine, class, source)
        }
        ("StringReader", [text]) => {
            let text = text_of(machine, text)?;
            Ok(files::reader_of_text(class, &text))
        }
        ("GregorianCalendar", parts) if (3..=6).contains(&parts.len()) => {
            let calendar = V::object(Object::Calendar(Cell::new(0), RefCell::new(TimeZone::system())));
            let mut all = parts.to_vec();
            all.resize(6, V::int(0));
            machine.invoke(&calendar, "clear", Vec::new())?;
            machine.invoke(&calendar, "set", all)?;
            Ok(calendar)
        }
        ("JsonSlurperClassic" | "JsonSlurper", _) => Ok(V::object(Object::Slurper)),
        ("JsonBuilder", []) => Ok(V::object(Object::Json(RefCell::new(V::NULL)))),
        ("JsonBuilder", [content]) => Ok(V::object(Object::Json(RefCell::new(content.clone())))),
        ("SecretKeySpec", [bytes, ..]) => Ok(V::object(Object::Key(bytes.as_bytes().ok_or_else(wrong)?))),
        ("Hex", []) => Ok(V::object(Object::Hex)),
        ("Locale", _) => Ok(V::object(Object::Locale)),
        (_, rest) if class.is_a(Class::known("Throwable")) => new_exception(machine, class, rest),
        _ => Err(wrong()),
    }
}

fn new_exception(machine: &mut Machine<'_>, class: Class, arguments: &[V]) -> Result<V, Fault> {
    let message = match arguments.first() {
        None | Some(V::Plain(Value::Null)) => None,
        Some(value) => Some(print::groovy(machine, value)?),
    };
    let cause = arguments.get(1).cloned().unwrap_or(V::NULL);
    Ok(V::object(Object::Exception(class, message, cause)))
}
