//! Static methods and constants of classes, and functions that need no object.

mod boxed;
mod common;
pub mod constants;

use std::cell::{Cell, RefCell};

use jiff::tz::TimeZone;

use self::common::{call_class_method, math, wrong};
use super::super::classes::Class;
use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::operators::pattern_of;
use super::super::patterns::{self, Matcher};
use super::super::random::JavaRandom;
use super::super::types;
use super::super::value::{Host, V};
use super::{
    collections, create, digest, encode, file_methods, files, format, json, machine_facts, more_statics,
    print, registry, temporal, text_of, time, time_category, zones,
};
use crate::Value;

/// A constant or property of a class.
pub fn constant(class: Class, name: &str) -> Outcome {
    if let Some(value) = constants::find(class.name(), name) {
        return Ok(value);
    }
    let found = match name {
        "simpleName" if !class.is_own() => V::text(class.name()),
        "name" if !class.is_own() => V::text(class.qualified_name()),
        "class" if !class.is_own() => V::Class(class),
        _ => return Err(unsupported(format!("`{}.{name}`", class.name()))),
    };
    Ok(found)
}

pub fn call(machine: &mut Machine<'_>, class: Class, method: &str, arguments: &[V]) -> Outcome {
    let name = class.name();
    if registry::has_static(name, method)
        && let Some(declared) = registry::find(name)
    {
        return (declared.call_static)(machine, method, arguments);
    }
    if let Some(outcome) = more_statics::call(machine, name, method, arguments) {
        return outcome;
    }
    match (name, method, arguments) {
        ("File", "createTempFile" | "createTempDir", _) => {
            file_methods::create_temporary(machine, method, arguments)
        }
        ("System", "currentTimeMillis", []) => Ok(V::long(machine.scope.wall_clock_ms())),
        ("System", "nanoTime", []) => Ok(V::long(machine.scope.wall_clock_ms().wrapping_mul(1_000_000))),
        ("System", "lineSeparator", []) => Ok(V::text("\n")),
        ("System", "getProperty" | "getenv", [key, rest @ ..]) => {
            let key = text_of(machine, key)?;
            let found = if method == "getenv" {
                machine.scope.environment(&key)
            } else {
                machine.scope.property(&key)
            };
            let known =
                if method == "getenv" { None } else { machine_facts::system_property(machine.scope, &key) };
            Ok(found.or(known).map_or_else(|| rest.first().cloned().unwrap_or(V::NULL), V::text))
        }
        ("System", "getenv", []) => {
            let entries = std::env::vars_os()
                .filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()));
            Ok(V::map(entries.map(|(name, value)| (V::text(name), V::text(value))).collect()))
        }
        ("System", "getProperties", []) => {
            let mut names = machine.scope.property_names();
            names.extend(machine_facts::SYSTEM_PROPERTIES.iter().map(|name| (*name).to_owned()));
            let value = |name: &String| {
                machine.scope.property(name).or_else(|| machine_facts::system_property(machine.scope, name))
            };
            let entries =
                names.iter().filter_map(|name| Some((V::text(name), V::text(value(name)?)))).collect();
            Ok(V::map(entries))
        }
        ("System", "setProperty", [key, value]) => {
            let (key, value) = (text_of(machine, key)?, text_of(machine, value)?);
            let old = machine.scope.property(&key);
            machine.scope.set_property(&key, &value);
            Ok(V::text_or_null(old))
        }
        ("System", "identityHashCode", [_]) => Ok(V::int(0x6ccc_cc3c)),
        ("System", "arraycopy", [V::Array(from), from_at, V::Array(to), to_at, len]) => {
            let at =
                |value: &V| value.as_long().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
            let (from_at, to_at, len) = (at(from_at), at(to_at), at(len));
            let part = from.items.borrow().get(from_at..from_at.saturating_add(len)).map(<[V]>::to_vec);
            let mut items = to.items.borrow_mut();
            match (part, items.get_mut(to_at..to_at.saturating_add(len))) {
                (Some(part), Some(place)) => {
                    place.clone_from_slice(&part);
                    Ok(V::NULL)
                }
                _ => Err(thrown("ArrayIndexOutOfBoundsException", "arraycopy: last index out of bounds")),
            }
        }
        ("Thread", "sleep", [ms]) => {
            machine.scope.pause_ms(u64::try_from(ms.as_long().unwrap_or(0)).unwrap_or(0));
            Ok(V::NULL)
        }
        ("Thread", "currentThread", []) => Ok(V::Host(Host::Thread)),
        ("Math", _, _) => math(machine, method, arguments),
        ("UUID", "randomUUID", []) => Ok(V::object(Object::Uuid(random_uuid(machine)))),
        ("UUID", "nameUUIDFromBytes", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| wrong(name, method))?;
            let hash = digest::hash("MD5", &bytes)?;
            let bits = hash.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
            Ok(V::object(Object::Uuid(uuid_text(bits, 3))))
        }
        ("UUID", "fromString", [text]) => Ok(V::object(Object::Uuid(text_of(machine, text)?))),
        ("ThreadLocalRandom", "current", []) => create::new(machine, Class::known("Random"), &[]),
        _ => call_value_class(machine, class, method, arguments),
    }
}

/// Calls methods of classes of numbers, collections and times.
fn call_value_class(machine: &mut Machine<'_>, class: Class, method: &str, arguments: &[V]) -> Outcome {
    let name = class.name();
    match (name, method, arguments) {
        (
            "Integer" | "Long" | "Double" | "Float" | "Boolean" | "Character" | "String" | "BigDecimal"
            | "BigInteger" | "Short",
            _,
            _,
        ) => boxed::call(machine, class, method, arguments),
        ("Arrays" | "Collections" | "Objects" | "List" | "Map" | "Set", _, _) => {
            collections::call(machine, name, method, arguments)
        }
        ("Calendar" | "GregorianCalendar", "getInstance", rest) => {
            let zone = match rest.first() {
                Some(V::Object(object)) => match &**object {
                    Object::Zone(zone, _) => zone.clone(),
                    _ => TimeZone::system(),
                },
                _ => TimeZone::system(),
            };
            Ok(V::object(Object::Calendar(Cell::new(machine.scope.wall_clock_ms()), RefCell::new(zone))))
        }
        ("ZoneOffset" | "TimeZone", "ofHours" | "ofHoursMinutes" | "ofTotalSeconds" | "setDefault", _) => {
            zones::call_static(name, method, arguments).unwrap_or_else(|| Err(wrong(name, method)))
        }
        ("TimeZone", "getTimeZone", [zone]) | ("ZoneId" | "ZoneOffset", "of", [zone]) => {
            let zone = text_of(machine, zone)?;
            Ok(V::object(Object::Zone(time::zone_of(&zone), zones::normalized_name(&zone))))
        }
        ("TimeZone", "getDefault", []) | ("ZoneId", "systemDefault", []) => {
            Ok(V::object(Object::Zone(TimeZone::system(), "system".into())))
        }
        (
            "LocalDate" | "LocalDateTime" | "LocalTime" | "ZonedDateTime" | "OffsetDateTime" | "Instant",
            _,
            _,
        ) => temporal::create(machine, name, method, arguments),
        ("DateTimeFormatter", "ofPattern", [pattern, ..]) => {
            let pattern = text_of(machine, pattern)?;
            time::format(machine, &pattern, 0, Some(&TimeZone::UTC))?;
            Ok(V::object(Object::Formatter(pattern)))
        }
        ("Date", "parse", [pattern, text]) if machine.groovy() => {
            let (pattern, text) = (text_of(machine, pattern)?, text_of(machine, text)?);
            let ms = time::parse(machine, &pattern, &text, None)?;
            Ok(V::object(Object::Date(ms.into())))
        }
        _ => call_encoding_class(machine, class, method, arguments),
    }
}

/// Calls methods of classes of encodings and hashes.
fn call_encoding_class(machine: &mut Machine<'_>, class: Class, method: &str, arguments: &[V]) -> Outcome {
    let name = class.name();
    match (name, method, arguments) {
        ("Base64", "getEncoder" | "getMimeEncoder", []) => Ok(V::object(Object::Encoder(false, true))),
        ("Base64", "getUrlEncoder", []) => Ok(V::object(Object::Encoder(true, true))),
        ("Base64", "getDecoder" | "getMimeDecoder", []) => Ok(V::object(Object::Decoder(false))),
        ("Base64", "getUrlDecoder", []) => Ok(V::object(Object::Decoder(true))),
        ("Base64", "encodeBase64String", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| wrong(name, method))?;
            Ok(V::text(encode::encode_base64(&bytes, false, true)))
        }
        ("Base64", "encodeBase64", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| wrong(name, method))?;
            Ok(V::bytes(encode::encode_base64(&bytes, false, true).as_bytes()))
        }
        ("Base64", "decodeBase64", [given]) => {
            let text = match given.as_bytes() {
                Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                None => text_of(machine, given)?,
            };
            Ok(V::bytes(&encode::decode_base64(&text, text.contains(['-', '_']))?))
        }
        ("URLEncoder", "encode", [text, rest @ ..]) => {
            let text = text_of(machine, text)?;
            let charset = match rest.first() {
                Some(charset) => text_of(machine, charset)?,
                None => "UTF-8".into(),
            };
            Ok(V::text(encode::encode_url(&encode::encode_text(&text, &charset)?)))
        }
        ("URLDecoder", "decode", [text, rest @ ..]) => {
            let text = text_of(machine, text)?;
            let charset = match rest.first() {
                Some(charset) => text_of(machine, charset)?,
                None => "UTF-8".into(),
            };
            Ok(V::text(encode::decode_url(&text, &charset)?))
        }
        ("TimeUnit" | "ChronoUnit", "valueOf", [unit]) => {
            let unit = text_of(machine, unit)?;
            constants::find(name, &unit).ok_or_else(|| {
                let class = class.qualified_name();
                thrown("IllegalArgumentException", format!("No enum constant {class}.{unit}"))
            })
        }
        ("Charset", "forName", [charset]) => Ok(V::object(Object::Charset(text_of(machine, charset)?))),
        ("Charset", "defaultCharset", []) => Ok(V::object(Object::Charset("UTF-8".into()))),
        ("MessageDigest", "getInstance", [algorithm]) => {
            let algorithm = text_of(machine, algorithm)?;
            digest::hash(&algorithm, b"")?;
            Ok(V::object(Object::Digest(algorithm, RefCell::default())))
        }
        ("Mac", "getInstance", [algorithm]) => {
            let algorithm = text_of(machine, algorithm)?;
            digest::hmac(&algorithm, b"", b"")?;
            Ok(V::object(Object::Mac(algorithm, RefCell::default(), RefCell::default())))
        }
        ("Base64", "encodeBase64URLSafeString", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| wrong(name, method))?;
            Ok(V::text(encode::encode_base64(&bytes, true, false)))
        }
        ("DigestUtils", "md5" | "sha1" | "sha256" | "sha384" | "sha512", [data]) => {
            let hexadecimal = call(machine, class, &format!("{method}Hex"), std::slice::from_ref(data))?;
            Ok(V::bytes(&encode::decode_hex(hexadecimal.as_text().unwrap_or(""))?))
        }
        ("DigestUtils", _, [data]) => {
            let data = match data.as_bytes() {
                Some(bytes) => bytes,
                None => text_of(machine, data)?.into_bytes(),
            };
            let algorithm = match method {
                "md5Hex" => "MD5",
                "sha1Hex" | "shaHex" => "SHA-1",
                "sha256Hex" => "SHA-256",
                "sha384Hex" => "SHA-384",
                "sha512Hex" => "SHA-512",
                _ => return Err(wrong(name, method)),
            };
            Ok(V::text(digest::hash_as_hex(algorithm, &data)?))
        }
        ("Hex", "encodeHexString" | "encodeHex", [bytes]) => {
            let bytes = bytes.as_bytes().ok_or_else(|| wrong(name, method))?;
            Ok(V::text(encode::encode_hex(&bytes)))
        }
        ("Hex", "decodeHex", [text]) => {
            let text = text_of(machine, text)?;
            Ok(V::bytes(&encode::decode_hex(&text)?))
        }
        _ => call_pattern_or_file_class(machine, class, method, arguments),
    }
}

/// Calls methods of classes of patterns, JSON and files.
fn call_pattern_or_file_class(
    machine: &mut Machine<'_>,
    class: Class,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let name = class.name();
    match (name, method, arguments) {
        ("Pattern", "compile", [pattern, rest @ ..]) => {
            let pattern = text_of(machine, pattern)?;
            let bits = rest.first().map_or(Some(0), V::as_long);
            let bits = bits.filter(|bits| bits & !(2 | 8 | 32) == 0).ok_or_else(|| wrong(name, method))?;
            let flags: String = [(2, "(?i)"), (8, "(?m)"), (32, "(?s)")]
                .into_iter()
                .filter_map(|(bit, flag)| (bits & bit != 0).then_some(flag))
                .collect();
            let pattern = format!("{flags}{pattern}");
            patterns::compiled(&pattern)?;
            Ok(V::object(Object::Pattern(pattern)))
        }
        ("Pattern", "matches", [pattern, text]) => {
            let (pattern, text) = (text_of(machine, pattern)?, text_of(machine, text)?);
            Ok(V::truth(patterns::whole(&pattern, &text)?.is_some()))
        }
        ("Pattern", "quote", [text]) => {
            let text = text_of(machine, text)?;
            Ok(V::text(format!("\\Q{text}\\E")))
        }
        ("Matcher", "quoteReplacement", [text]) => {
            let text = text_of(machine, text)?;
            Ok(V::text(text.replace('\\', "\\\\").replace('$', "\\$")))
        }
        ("JsonOutput", "toJson", [value]) => Ok(V::text(json::write(machine, value)?)),
        ("JsonOutput", "prettyPrint", [text]) => {
            let text = text_of(machine, text)?;
            Ok(V::text(json::pretty_print(&text)))
        }
        ("Files", "readAllBytes", [V::Object(path)]) => match &**path {
            Object::File(path) => Ok(V::bytes(&files::bytes(path)?)),
            _ => Err(wrong(name, method)),
        },
        ("Files", "exists" | "readString" | "readAllLines" | "delete" | "size", [path, ..]) => {
            let method = match method {
                "readString" => "getText",
                "readAllLines" => "readLines",
                method => method,
            };
            machine.invoke(path, method, Vec::new())
        }
        ("Files", _, _) => {
            file_methods::call_files(machine, method, arguments).unwrap_or_else(|| Err(wrong(name, method)))
        }
        ("Paths", "get", parts) | ("Path", "of", parts) => {
            let mut path = std::path::PathBuf::new();
            for part in parts {
                path.push(text_of(machine, part)?);
            }
            Ok(V::object(Object::File(path)))
        }
        (
            "FileUtils",
            "write"
            | "writeByteArrayToFile"
            | "readFileToByteArray"
            | "deleteQuietly"
            | "deleteDirectory"
            | "forceMkdir"
            | "getFile",
            _,
        ) => file_methods::call_file_utils(machine, method, arguments)
            .unwrap_or_else(|| Err(wrong(name, method))),
        ("FileUtils", "readFileToString", [file, ..]) => machine.invoke(file, "getText", Vec::new()),
        ("FileUtils", "readLines", [file, ..]) => machine.invoke(file, "readLines", Vec::new()),
        ("FileUtils", "writeStringToFile", [file, text, rest @ ..]) => {
            let appends = matches!(rest.last(), Some(V::Plain(Value::Boolean(true))));
            let method = if appends { "append" } else { "write" };
            machine.invoke(file, method, vec![text.clone()])
        }
        _ => call_jmeter_class(machine, class, method, arguments),
    }
}

/// Calls methods of JMeter's and Commons Lang's classes, and those of any class.
fn call_jmeter_class(machine: &mut Machine<'_>, class: Class, method: &str, arguments: &[V]) -> Outcome {
    let name = class.name();
    match (name, method, arguments) {
        ("JMeterUtils", "getPropDefault", [key, default]) => {
            let key = text_of(machine, key)?;
            let found = machine.scope.property(&key);
            Ok(match (found, default) {
                (None, default) => default.clone(),
                (Some(text), V::Plain(Value::Integer(_))) => {
                    text.trim().parse::<i32>().map_or(default.clone(), |n| V::int(i64::from(n)))
                }
                (Some(text), V::Plain(Value::Long(_))) => {
                    text.trim().parse::<i64>().map_or(default.clone(), V::long)
                }
                (Some(text), V::Plain(Value::Boolean(_))) => {
                    V::truth(text.trim().eq_ignore_ascii_case("true") || text.trim() == "1")
                }
                (Some(text), _) => V::text(text),
            })
        }
        ("JMeterUtils", "getProperty", [key]) => {
            let key = text_of(machine, key)?;
            Ok(V::text_or_null(machine.scope.property(&key)))
        }
        ("JMeterUtils", "setProperty", [key, value]) => {
            let (key, value) = (text_of(machine, key)?, text_of(machine, value)?);
            let old = machine.scope.property(&key);
            machine.scope.set_property(&key, &value);
            Ok(V::text_or_null(old))
        }
        ("JMeterUtils", "getJMeterProperties", []) => Ok(V::Host(Host::Props)),
        ("JMeterUtils", "getJMeterVersion", []) => Ok(V::text("5.6.3")),
        ("StringUtils", _, _) => boxed::string_utils(machine, method, arguments),
        ("RandomStringUtils", "randomNumeric" | "randomAlphabetic" | "randomAlphanumeric", [least, most]) => {
            let (Some(least), Some(most)) = (least.as_long(), most.as_long()) else {
                return Err(wrong(name, method));
            };
            let width = u64::try_from(most.saturating_sub(least)).unwrap_or(0).max(1);
            let len = least.saturating_add((machine.scope.random_bits() % width) as i64);
            call(machine, class, method, &[V::int(len)])
        }
        ("RandomStringUtils", "random", [len, from, to, _, _, V::Array(alphabet)])
            if from.as_long() == Some(0) && to.as_long() == Some(0) =>
        {
            let text = create::new(machine, Class::known("String"), &[V::Array(alphabet.clone())])?;
            call(machine, class, method, &[len.clone(), text])
        }
        ("RandomStringUtils", _, [len]) | ("RandomStringUtils", "random", [len, _] | [len, _, _]) => {
            let flag = |at: usize| matches!(arguments.get(at), Some(V::Plain(Value::Boolean(true))));
            let alphabet: Vec<char> = match method {
                "randomNumeric" => ('0'..='9').collect(),
                "randomAlphabetic" => ('a'..='z').chain('A'..='Z').collect(),
                "randomAlphanumeric" => ('a'..='z').chain('A'..='Z').chain('0'..='9').collect(),
                "random" if arguments.len() == 3 && (flag(1) || flag(2)) => {
                    let letters = ('a'..='z').chain('A'..='Z').filter(|_| flag(1));
                    letters.chain(('0'..='9').filter(|_| flag(2))).collect()
                }
                "random" if arguments.len() == 2 && arguments[1].as_text().is_some() => {
                    arguments[1].as_text().unwrap_or("").chars().collect()
                }
                _ => return Err(wrong(name, method)),
            };
            let len = usize::try_from(len.as_long().unwrap_or(0)).unwrap_or(0);
            machine.spend(len)?;
            if alphabet.is_empty() {
                return Err(thrown("IllegalArgumentException", "The chars array must not be empty"));
            }
            let mut random = JavaRandom::new(machine.scope.random_bits() as i64);
            let mut text = String::new();
            for _ in 0..len {
                text.push(alphabet[random.below(alphabet.len() as i32) as usize]);
            }
            Ok(V::text(text))
        }
        (_, _, []) => call_class_method(class, method),
        (_, "isInstance", [value]) => {
            let target = super::super::tree::Type {
                base: super::super::tree::Base::Class(class),
                boxed: true,
                arrays: 0,
            };
            Ok(V::truth(types::is_instance(value, target)))
        }
        _ => Err(wrong(name, method)),
    }
}

fn random_uuid(machine: &mut Machine<'_>) -> String {
    let bits = (u128::from(machine.scope.random_bits()) << 64) | u128::from(machine.scope.random_bits());
    uuid_text(bits, 4)
}

/// The text of a UUID of that version and variant 1 (RFC 9562).
fn uuid_text(bits: u128, version: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (version << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Calls a function such as `println(…)`.
pub fn call_function(machine: &mut Machine<'_>, name: &str, arguments: Vec<V>) -> Outcome {
    match (name, arguments.as_slice()) {
        // BeanShell's `print` also ends the line.
        ("println" | "print", rest @ ([] | [_])) => {
            let mut text = match rest.first() {
                Some(value) => print::groovy(machine, value)?,
                None => String::new(),
            };
            if name == "println" || !machine.groovy() {
                text.push('\n');
            }
            machine.scope.print(&text);
            Ok(V::NULL)
        }
        ("printf" | "sprintf", [pattern, rest @ ..]) => {
            let pattern = text_of(machine, pattern)?;
            let text = format::format(machine, &pattern, rest)?;
            if name == "sprintf" {
                return Ok(V::text(text));
            }
            machine.scope.print(&text);
            Ok(V::NULL)
        }
        ("sleep", [ms]) => {
            machine.scope.pause_ms(u64::try_from(ms.as_long().unwrap_or(0)).unwrap_or(0));
            Ok(V::NULL)
        }
        ("use", _) => time_category::use_category(machine, &arguments),
        ("it" | "call", _) => Err(unsupported(format!("the function `{name}`"))),
        _ => {
            let _ = (pattern_of, Matcher::new);
            Err(thrown("MissingMethodException", format!("No signature of method: {name}() is applicable")))
        }
    }
}
