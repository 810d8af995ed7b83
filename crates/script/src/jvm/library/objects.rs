//! Methods of the library's objects, by kind of object.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::super::classes::Class;
use super::super::fault::{Outcome, thrown};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::operators::pattern_of;
use super::super::patterns::{self, Matcher};
use super::super::tree::Base;
use super::super::value::V;
use super::{
    digest, encode, files, format, json, print, regex, temporal, text_of, time, time_units, unknown, zones,
};
use crate::Value;

#[allow(clippy::too_many_lines, reason = "one arm for each kind or method")]
pub fn call(
    machine: &mut Machine<'_>,
    inner: &Rc<Object>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    match &**inner {
        Object::Builder(text, _) => call_builder(machine, text, object, method, arguments),
        Object::Random(random) => call_random(machine, &mut random.borrow_mut(), object, method, arguments),
        Object::Date(ms) => time::call_date(machine, ms, object, method, arguments),
        Object::Calendar(ms, zone) => time::call_calendar(machine, ms, zone, object, method, arguments),
        Object::DateFormat(pattern, zone) => {
            time::call_date_format(machine, pattern, zone, object, method, arguments)
        }
        Object::NumberFormat(pattern) => match (method, arguments) {
            ("format", [number]) => Ok(V::text(format::format_decimal(pattern, number)?)),
            _ => Err(unknown(object, method)),
        },
        // `dispatch` has already replaced a lazy string with its text.
        Object::LazyText(_) => Err(unknown(object, method)),
        Object::Own(_) => Err(super::super::missing::exception(machine, object, method, arguments)),
        Object::Temporal(..) => temporal::call(machine, object, method, arguments),
        Object::Formatter(pattern) => match (method, arguments) {
            ("format", [V::Object(temporal)]) if temporal::format_predefined(temporal, inner).is_some() => {
                temporal::format_predefined(temporal, inner).unwrap_or(Ok(V::NULL))
            }
            ("format", [V::Object(temporal)]) => {
                let Object::Temporal(_, _, zone) = &**temporal else { return Err(unknown(object, method)) };
                let ms = temporal.instant().ok_or_else(|| unknown(object, method))?;
                Ok(V::text(time::format(machine, pattern, ms, Some(zone))?))
            }
            ("withZone" | "withLocale", [_]) => Ok(object.clone()),
            _ => Err(unknown(object, method)),
        },
        Object::Unit(unit) => time_units::call(machine, unit, object, method, arguments),
        Object::Pattern(pattern) => match (method, arguments) {
            ("matcher", [text]) => {
                let text = print::groovy(machine, text)?;
                Ok(V::object(Object::Matcher(Matcher::new(pattern, &text))))
            }
            ("pattern", []) => Ok(V::text(pattern)),
            ("split", [text]) => {
                let text = text_of(machine, text)?;
                let parts = patterns::split(&text, pattern, 0)?;
                Ok(V::array(parts.into_iter().map(V::text).collect(), Base::Text))
            }
            _ => Err(unknown(object, method)),
        },
        Object::Matcher(matcher) => regex::call(machine, matcher, object, method, arguments),
        Object::Slurper => call_slurper(machine, object, method, arguments),
        Object::Json(content) => super::json_builder::call(machine, content, object, method, arguments),
        Object::File(path) => files::call_file(machine, path, object, method, arguments),
        Object::Writer(..) => files::call_writer(machine, inner, object, method, arguments),
        Object::Reader(_, lines) => files::call_reader(machine, lines, object, method, arguments),
        Object::Digest(algorithm, data) => call_message_digest(algorithm, data, object, method, arguments),
        Object::Mac(algorithm, key, data) => call_mac(algorithm, (key, data), object, method, arguments),
        Object::Encoder(url, padded) => call_encoder((*url, *padded), object, method, arguments),
        Object::Decoder(url) => match (method, arguments) {
            ("decode", [given]) => {
                let text = match given.as_bytes() {
                    Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                    None => text_of(machine, given)?,
                };
                Ok(V::bytes(&encode::decode_base64(&text, *url)?))
            }
            _ => Err(unknown(object, method)),
        },
        Object::Hex => call_hex(machine, object, method, arguments),
        Object::Exception(class, message, cause) => {
            call_exception(machine, (*class, message, cause), object, method, arguments)
        }
        Object::Entry(key, value) => match (method, arguments) {
            ("getKey", []) => Ok(key.clone()),
            ("getValue", []) => Ok(value.clone()),
            ("each", [closure @ V::Closure(_)]) if machine.groovy() => {
                machine.call_value(closure, vec![object.clone()])?;
                Ok(object.clone())
            }
            _ => Err(unknown(object, method)),
        },
        Object::Iterator(rest) => call_iterator(rest, object, method, arguments),
        Object::Atomic(number, class) => call_atomic(machine, (number, *class), object, method, arguments),
        Object::Library(instance) => instance.call(machine, object, method, arguments),
        Object::SubResult(at) => super::result::call_sub_result(machine, *at, object, method),
        Object::Uuid(text) => match method {
            "getMostSignificantBits" | "getLeastSignificantBits" | "version" => {
                let digits = text.replace('-', "");
                let half = |part: Option<&str>| {
                    part.and_then(|part| u64::from_str_radix(part, 16).ok()).unwrap_or(0)
                };
                Ok(match method {
                    "getMostSignificantBits" => V::long(half(digits.get(..16)) as i64),
                    "getLeastSignificantBits" => V::long(half(digits.get(16..)) as i64),
                    _ => V::int(half(digits.get(12..13)) as i64),
                })
            }
            "toString" => Ok(V::text(text)),
            _ => Err(unknown(object, method)),
        },
        Object::Charset(name) => match (method, arguments) {
            ("name" | "displayName", []) => Ok(V::text(name)),
            _ => Err(unknown(object, method)),
        },
        Object::Zone(zone, name) => zones::call(zone, name, object, method, arguments),
        Object::Key(_) | Object::Locale | Object::Plain => {
            let _ = pattern_of;
            Err(unknown(object, method))
        }
    }
}

/// Calls methods of `AtomicInteger` and `AtomicLong`.
fn call_atomic(
    machine: &mut Machine<'_>,
    (number, class): (&Cell<i64>, Class),
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let long = class.name() == "AtomicLong";
    let make = |value: i64| if long { V::long(value) } else { V::int(value) };
    let old = number.get();
    let set = |value: i64| {
        number.set(if long { value } else { i64::from(value as i32) });
        number.get()
    };
    let by = arguments.first().and_then(V::as_long).unwrap_or(0);
    Ok(match (method, arguments.len()) {
        ("get" | "intValue" | "longValue", 0) => make(old),
        ("set", 1) => {
            set(by);
            V::NULL
        }
        ("incrementAndGet", 0) => make(set(old.wrapping_add(1))),
        ("decrementAndGet", 0) => make(set(old.wrapping_sub(1))),
        ("getAndIncrement", 0) => {
            set(old.wrapping_add(1));
            make(old)
        }
        ("getAndDecrement", 0) => {
            set(old.wrapping_sub(1));
            make(old)
        }
        ("addAndGet", 1) => make(set(old.wrapping_add(by))),
        ("getAndSet", 1) => {
            set(by);
            make(old)
        }
        ("getAndAdd", 1) => {
            set(old.wrapping_add(by));
            make(old)
        }
        ("compareAndSet", 2) => {
            let fits = old == by;
            if fits {
                set(arguments[1].as_long().unwrap_or(0));
            }
            V::truth(fits)
        }
        ("updateAndGet" | "getAndUpdate", 1) => {
            let new = machine.call_value(&arguments[0], vec![make(old)])?.as_long().unwrap_or(0);
            let new = set(new);
            make(if method == "updateAndGet" { new } else { old })
        }
        _ => return Err(unknown(object, method)),
    })
}

/// Calls methods of `Iterator` and `StringTokenizer`.
fn call_iterator(rest: &RefCell<VecDeque<V>>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("hasNext" | "hasMoreTokens" | "hasMoreElements", []) => Ok(V::truth(!rest.borrow().is_empty())),
        ("next" | "nextToken" | "nextElement", []) => {
            let next = rest.borrow_mut().pop_front();
            next.ok_or_else(|| thrown("NoSuchElementException", "there is no next element"))
        }
        ("countTokens", []) => Ok(V::int(rest.borrow().len() as i64)),
        _ => Err(unknown(object, method)),
    }
}

/// Calls methods of `Throwable`.
fn call_exception(
    machine: &mut Machine<'_>,
    (class, message, cause): (Class, &Option<String>, &V),
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("getMessage" | "getLocalizedMessage", []) => Ok(V::text_or_null(message.clone())),
        ("getCause", []) => Ok(cause.clone()),
        ("printStackTrace", [V::Object(writer)]) if matches!(&**writer, Object::Writer(..)) => {
            let text = print::java(machine, object)?;
            files::call_writer(machine, writer, &arguments[0], "println", &[V::text(text)])
        }
        ("printStackTrace", []) => {
            let text = print::java(machine, object)?;
            machine.scope.print_error(&format!("{text}\n"));
            Ok(V::NULL)
        }
        ("getStackTrace", []) => Ok(V::array(Vec::new(), Base::Any)),
        ("getClassName", []) => Ok(V::text(class.qualified_name())),
        _ => Err(unknown(object, method)),
    }
}

/// Calls methods of `Hex` of Commons Codec.
fn call_hex(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("decode", [given]) => {
            let text = match given.as_bytes() {
                Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                None => text_of(machine, given)?,
            };
            Ok(V::bytes(&encode::decode_hex(&text)?))
        }
        ("encode", [given]) => {
            let bytes = given.as_bytes().ok_or_else(|| unknown(object, method))?;
            Ok(V::bytes(encode::encode_hex(&bytes).as_bytes()))
        }
        _ => Err(unknown(object, method)),
    }
}

/// Calls methods of `Base64.Encoder`.
fn call_encoder((url, padded): (bool, bool), object: &V, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("encodeToString", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| unknown(object, method))?;
            Ok(V::text(encode::encode_base64(&bytes, url, padded)))
        }
        ("encode", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| unknown(object, method))?;
            Ok(V::bytes(encode::encode_base64(&bytes, url, padded).as_bytes()))
        }
        ("withoutPadding", []) => Ok(V::object(Object::Encoder(url, false))),
        _ => Err(unknown(object, method)),
    }
}

/// Calls methods of `Mac`.
fn call_mac(
    algorithm: &str,
    (key, data): (&RefCell<Vec<u8>>, &RefCell<Vec<u8>>),
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("init", [V::Object(given)]) => match &**given {
            Object::Key(bytes) => {
                key.replace(bytes.clone());
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        },
        ("update", [bytes]) => {
            data.borrow_mut().extend(bytes.as_bytes().ok_or_else(|| unknown(object, method))?);
            Ok(V::NULL)
        }
        ("doFinal", rest @ ([] | [_])) => {
            let mut all = data.take();
            if let Some(bytes) = rest.first() {
                all.extend(bytes.as_bytes().ok_or_else(|| unknown(object, method))?);
            }
            let key = key.borrow().clone();
            Ok(V::bytes(&digest::hmac(algorithm, &key, &all)?))
        }
        _ => Err(unknown(object, method)),
    }
}

/// Calls methods of `MessageDigest`.
fn call_message_digest(
    algorithm: &str,
    data: &RefCell<Vec<u8>>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("update", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| unknown(object, method))?;
            data.borrow_mut().extend(bytes);
            Ok(V::NULL)
        }
        ("digest", rest @ ([] | [_])) => {
            let mut all = data.take();
            if let Some(bytes) = rest.first() {
                all.extend(bytes.as_bytes().ok_or_else(|| unknown(object, method))?);
            }
            Ok(V::bytes(&digest::hash(algorithm, &all)?))
        }
        ("reset", []) => {
            data.take();
            Ok(V::NULL)
        }
        _ => Err(unknown(object, method)),
    }
}

/// Calls methods of `JsonSlurper`.
fn call_slurper(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("parseText", [text]) => {
            let text = match text {
                V::Plain(Value::Null) => {
                    return Err(thrown("IllegalArgumentException", "Text must not be null or empty"));
                }
                text => text_of(machine, text)?,
            };
            json::parse(machine, &text)
        }
        ("parse", [source]) => {
            let text = match (source, source.as_bytes()) {
                (_, Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
                (V::Object(file), _) => match &**file {
                    Object::File(path) => files::text(path)?,
                    Object::Reader(..) | Object::Library(_) => {
                        let text = machine.invoke(source, "getText", Vec::new())?;
                        print::java(machine, &text)?
                    }
                    _ => return Err(unknown(object, method)),
                },
                _ => return Err(unknown(object, method)),
            };
            json::parse(machine, &text)
        }
        ("setType", [_]) => Ok(object.clone()),
        _ => Err(unknown(object, method)),
    }
}

#[allow(clippy::too_many_lines, reason = "one arm for each kind or method")]
fn call_builder(
    machine: &mut Machine<'_>,
    text: &std::cell::RefCell<String>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    machine.spend_text(text.borrow().len() / 8)?;
    let at = |value: &V, text: &str| {
        let unit = usize::try_from(value.as_long().unwrap_or(-1)).ok();
        let found = unit.and_then(|unit| {
            let mut units = 0;
            for (byte, c) in text.char_indices() {
                if units >= unit {
                    return Some(byte);
                }
                units += c.len_utf16();
            }
            (units >= unit).then_some(text.len())
        });
        found.ok_or_else(|| {
            thrown("StringIndexOutOfBoundsException", format!("index {}", value.as_long().unwrap_or(-1)))
        })
    };
    match (method, arguments) {
        ("append" | "leftShift" | "plus", [value]) => {
            let piece = match value {
                V::Array(array) if array.of == Base::Char => {
                    let units: Vec<u16> =
                        array.items.borrow().iter().map(|item| item.as_long().unwrap_or(0) as u16).collect();
                    String::from_utf16_lossy(&units)
                }
                V::Array(array) if array.of == Base::Char => {
                    let text =
                        super::create::new(machine, Class::known("String"), std::slice::from_ref(value))?;
                    print::java(machine, &text)?
                }
                value if method == "append" => print::java(machine, value)?,
                value => print::groovy(machine, value)?,
            };
            if method == "plus" {
                return Ok(V::text(format!("{}{piece}", text.borrow())));
            }
            let len = text.borrow().len() + piece.len();
            machine.spend_text(len / 64)?;
            if len > super::super::machine::TEXT_BYTES_MAX {
                machine.spend_text(len)?;
            }
            text.borrow_mut().push_str(&piece);
            Ok(object.clone())
        }
        ("insert", [place, value]) => {
            let piece = print::java(machine, value)?;
            let mut text = text.borrow_mut();
            let place = at(place, &text)?;
            text.insert_str(place, &piece);
            Ok(object.clone())
        }
        ("setLength", [len]) => {
            let mut text = text.borrow_mut();
            let place = at(len, &text)?;
            text.truncate(place);
            Ok(V::NULL)
        }
        ("deleteCharAt", [place]) => {
            let mut text = text.borrow_mut();
            let place = at(place, &text)?;
            if place >= text.len() {
                return Err(thrown("StringIndexOutOfBoundsException", "index"));
            }
            text.remove(place);
            Ok(object.clone())
        }
        ("delete", [from, to]) => {
            let mut text = text.borrow_mut();
            let from = at(from, &text)?;
            let to = at(to, &text).unwrap_or(text.len()).max(from);
            text.replace_range(from..to, "");
            Ok(object.clone())
        }
        ("replace", [from, to, with]) => {
            let with = text_of(machine, with)?;
            let mut text = text.borrow_mut();
            let from = at(from, &text)?;
            let to = at(to, &text).unwrap_or(text.len()).max(from);
            text.replace_range(from..to, &with);
            Ok(object.clone())
        }
        ("setCharAt", [place, V::Plain(Value::Character(unit))]) => {
            let mut text = text.borrow_mut();
            let place = at(place, &text)?;
            if place >= text.len() {
                return Err(thrown("StringIndexOutOfBoundsException", "index"));
            }
            text.remove(place);
            text.insert(place, char::from_u32(u32::from(*unit)).unwrap_or('\u{fffd}'));
            Ok(V::NULL)
        }
        ("reverse", []) => {
            let reversed: String = text.borrow().chars().rev().collect();
            text.replace(reversed);
            Ok(object.clone())
        }
        _ => {
            let own: std::sync::Arc<str> = text.borrow().as_str().into();
            super::texts::call(machine, &own, method, arguments)
        }
    }
}

fn call_random(
    machine: &mut Machine<'_>,
    random: &mut super::super::random::JavaRandom,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let wrong = |what: &str| thrown("IllegalArgumentException", what);
    match (method, arguments) {
        ("nextInt", []) => Ok(V::int(i64::from(random.int()))),
        ("nextInt", [bound]) => match bound.as_long().and_then(|bound| i32::try_from(bound).ok()) {
            Some(bound) if bound > 0 => Ok(V::int(i64::from(random.below(bound)))),
            _ => Err(wrong("bound must be positive")),
        },
        ("nextInt", [from, to]) => {
            let (Some(from), Some(to)) = (from.as_long(), to.as_long()) else {
                return Err(unknown(object, method));
            };
            match i32::try_from(to - from) {
                Ok(width) if width > 0 => Ok(V::int(from + i64::from(random.below(width)))),
                _ => Err(wrong("bound must be greater than origin")),
            }
        }
        ("nextLong", []) => Ok(V::long(random.long())),
        ("nextLong", [from, to]) => {
            let (Some(from), Some(to)) = (from.as_long(), to.as_long()) else {
                return Err(unknown(object, method));
            };
            if to <= from {
                return Err(wrong("bound must be greater than origin"));
            }
            Ok(V::long(from.wrapping_add((random.long() as u64 % to.wrapping_sub(from) as u64) as i64)))
        }
        ("nextDouble", []) => Ok(V::double(random.double())),
        ("nextDouble", [from, to]) => {
            let (from, to) = (super::super::types::number(from)?, super::super::types::number(to)?);
            Ok(V::double(from + random.double() * (to - from)))
        }
        ("nextFloat", []) => Ok(V::Plain(Value::Float(random.float()))),
        ("nextBoolean", []) => Ok(V::truth(random.boolean())),
        ("nextGaussian", []) => Ok(V::double(random.gaussian())),
        ("nextBytes", [V::Array(array)]) => {
            machine.spend(array.items.borrow().len())?;
            let mut word = 0_i32;
            for (at, item) in array.items.borrow_mut().iter_mut().enumerate() {
                if at % 4 == 0 {
                    word = random.int();
                }
                *item = V::int(i64::from((word >> (8 * (at % 4))) as i8));
            }
            Ok(V::NULL)
        }
        ("setSeed", [seed]) => {
            *random = super::super::random::JavaRandom::new(seed.as_long().unwrap_or(0));
            Ok(V::NULL)
        }
        _ => Err(unknown(object, method)),
    }
}
