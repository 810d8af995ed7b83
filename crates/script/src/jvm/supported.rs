//! The methods that the interpreter has for each kind of receiver, by number of arguments: what `check` accepts where
//! the receiver's type is known.
//!
//! `supported_methods.txt` is made by calling each method name on a sample of each kind (`tests`), so that it cannot
//! promise what the interpreter does not have. A test compares; where it fails, it writes the right table to `target`.

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) mod world;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::tree::{Expr, Item, Kind, Name};
use super::{known, missing};
use crate::Value;

type Methods = HashMap<&'static str, HashMap<&'static str, &'static str>>;

fn table() -> &'static Methods {
    static TABLE: OnceLock<Methods> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = include_str!("supported_methods.txt").lines().filter_map(|line| line.split_once(": "));
        rows.map(|(kind, methods)| {
            (kind, methods.split(' ').filter_map(|word| word.split_once('/')).collect())
        })
        .collect()
    })
}

/// Whether the interpreter has the method for that kind of receiver with so many arguments.
pub(super) fn has(kind: &str, method: &str, arguments: usize) -> bool {
    // A test sees to it that each kind has a row. Without this the table could not be made anew.
    let Some(methods) = table().get(kind) else { return true };
    methods
        .get(method)
        .is_some_and(|counts| counts.bytes().any(|count| usize::from(count - b'0') == arguments))
}

/// Whether the interpreter has the static method with so many arguments. More than three are taken like three.
pub(super) fn has_static(class: &str, method: &str, arguments: usize) -> bool {
    has(&format!("static:{class}"), method, arguments.min(3))
}

/// Whether the interpreter makes objects of the class from so many arguments.
pub(super) fn is_made(class: &str, arguments: usize) -> bool {
    let is_listed = table().get("new").is_some_and(|classes| classes.contains_key(class));
    known::is_made(class, arguments) && (!is_listed || arguments > 3 || has("new", class, arguments))
}

/// A kind of receiver in the table, and the rows of the original's classes; without rows nothing is known of them.
pub(super) type Receiver = (&'static str, &'static [&'static str]);

/// The kind of what `new` of a class gives, or a static method that makes objects of its class.
fn of_class(class: &str) -> Option<Receiver> {
    Some(match class {
        "StringBuilder" => ("StringBuilder", &["StringBuilder"]),
        "Date" => ("Date", &["Date"]),
        "Random" => ("Random", &["Random"]),
        "SimpleDateFormat" => ("SimpleDateFormat", &["SimpleDateFormat"]),
        "ArrayList" => ("List", &["ArrayList"]),
        "HashMap" | "LinkedHashMap" => ("Map", &["LinkedHashMap"]),
        "JsonSlurper" => ("JsonSlurper", &["JsonSlurper"]),
        "File" => ("File", &[]),
        "Calendar" | "GregorianCalendar" => ("Calendar", &["GregorianCalendar"]),
        "DecimalFormat" => ("DecimalFormat", &["DecimalFormat"]),
        "LocalDate" => ("LocalDate", &["LocalDate"]),
        "LocalDateTime" => ("LocalDateTime", &["LocalDateTime"]),
        "LocalTime" => ("LocalTime", &["LocalTime"]),
        "Instant" => ("Instant", &["Instant"]),
        "ZonedDateTime" | "OffsetDateTime" => ("ZonedDateTime", &[]),
        "DateTimeFormatter" => ("Formatter", &["DateTimeFormatter"]),
        "MessageDigest" => ("Digest", &["MessageDigest"]),
        "Mac" => ("Mac", &[]),
        "UUID" => ("UUID", &["UUID"]),
        "URL" => ("URL", &[]),
        "XmlSlurper" => ("XmlSlurper", &["XmlSlurper"]),
        "XmlParser" => ("XmlParser", &["XmlParser"]),
        "Arguments" => ("Arguments", &[]),
        "HTTPArgument" => ("HTTPArgument", &[]),
        "HTTPFileArg" => ("HTTPFileArg", &[]),
        "HeaderManager" => ("HeaderManager", &[]),
        "Header" => ("Header", &[]),
        "Cookie" => ("Cookie", &[]),
        "SampleResult" => ("SampleResult", &["SampleResult"]),
        _ => return None,
    })
}

/// The kind of what a method gives: texts, and the objects of JMeter that lead to others.
fn of_call(object: Receiver, method: &str) -> Option<Receiver> {
    Some(match (object.0, method) {
        ("String", "trim" | "toUpperCase" | "toLowerCase" | "substring" | "replaceAll" | "concat") => {
            ("String", &["String", "GString"])
        }
        ("ctx" | "sampleEvent", "getPreviousResult" | "getResult") => ("prev", &[]),
        ("ctx", "getVariables") => ("vars", &[]),
        ("ctx", "getProperties") => ("props", &[]),
        ("ctx", "getThread") => ("thread", &[]),
        ("ctx", "getThreadGroup") => ("group", &[]),
        ("ctx", "getEngine") => ("engine", &[]),
        ("ctx", "getCurrentSampler" | "getPreviousSampler") => ("sampler", &[]),
        ("LocalDate" | "LocalDateTime" | "LocalTime" | "Instant" | "ZonedDateTime", _)
            if method.starts_with("plus") || method.starts_with("minus") =>
        {
            object
        }
        _ => return None,
    })
}

/// The kind of what a static method gives.
fn of_static(class: &str, method: &str) -> Option<Receiver> {
    match (class, method) {
        (
            "LocalDate" | "LocalDateTime" | "LocalTime" | "Instant" | "ZonedDateTime" | "OffsetDateTime",
            "now" | "of" | "parse" | "ofEpochMilli" | "ofEpochSecond",
        )
        | ("Calendar" | "MessageDigest" | "Mac", "getInstance")
        | ("DateTimeFormatter", "ofPattern")
        | ("UUID", "randomUUID" | "fromString") => of_class(class),
        ("Thread", "currentThread") => Some(("thread", &[])),
        ("Base64", "getEncoder" | "getUrlEncoder" | "getMimeEncoder") => Some(("Encoder", &[])),
        ("Base64", "getDecoder" | "getUrlDecoder" | "getMimeDecoder") => Some(("Decoder", &[])),
        _ => None,
    }
}

/// The kind of one of JMeter's objects by its name.
pub(super) fn of_host(name: &str) -> Option<Receiver> {
    Some(match name {
        "vars" => ("vars", &[]),
        "props" => ("props", &[]),
        "log" => ("log", &[]),
        "ctx" => ("ctx", &[]),
        "prev" | "SampleResult" => ("prev", &[]),
        "sampler" => ("sampler", &[]),
        "OUT" => ("OUT", &[]),
        "AssertionResult" => ("AssertionResult", &[]),
        "sampleEvent" => ("sampleEvent", &[]),
        _ => return None,
    })
}

/// The kind of receiver that an expression certainly is; `named`: that of a name.
pub(super) fn kind_of(expr: &Expr, named: &dyn Fn(Name) -> Option<Receiver>) -> Option<Receiver> {
    Some(match &expr.kind {
        Kind::Literal(value) => match value {
            Value::Text(_) => ("String", &["String", "GString"]),
            Value::Integer(_) => ("Integer", &["Integer"]),
            Value::Long(_) => ("Long", &["Long"]),
            Value::Decimal(_) => ("BigDecimal", &["BigDecimal"]),
            Value::Double(_) => ("Double", &["Double"]),
            Value::Boolean(_) => ("Boolean", &["Boolean"]),
            _ => return None,
        },
        Kind::Join(_) | Kind::LazyJoin(_) => ("String", &["String", "GString"]),
        Kind::List(_) => ("List", &["ArrayList"]),
        Kind::Range(..) => ("Range", &["IntRange"]),
        Kind::Map(_) => ("Map", &["LinkedHashMap"]),
        Kind::Closure(_) => ("Closure", &["Closure"]),
        Kind::New(class, _) if !class.is_own() => return of_class(class.name()),
        Kind::Name(name) => return named(*name),
        Kind::Call(Some(object), method, _, false, false) => match &object.kind {
            Kind::Class(class) if !class.is_own() => return of_static(class.name(), method),
            _ => return of_call(kind_of(object, named)?, method),
        },
        _ => return None,
    })
}

/// Why a call cannot be run: the method is there in Groovy and not here. A method that Groovy lacks too is an exception
/// when the script runs.
pub(super) fn refusal(receiver: Receiver, method: &str, items: &[Item], groovy: bool) -> Option<String> {
    let (kind, rows) = receiver;
    let is_certain = items.iter().all(|item| !item.spread);
    if !is_certain || has(kind, method, items.len().min(3)) {
        return None;
    }
    let missing = missing::original_has(rows, method, items.len(), groovy) == Some(false);
    (!missing).then(|| format!("`{method}` of a {kind} with {} arguments", items.len()))
}

/// Whether Groovy's class does not have the method either.
pub(super) fn is_missing(receiver: Receiver, method: &str, items: &[Item], groovy: bool) -> bool {
    let (kind, rows) = receiver;
    !has(kind, method, items.len()) && missing::original_has(rows, method, items.len(), groovy) == Some(false)
}

/// Whether one of JMeter's objects has no such property.
pub(super) fn lacks_property(receiver: Receiver, name: &str) -> bool {
    let (kind, _) = receiver;
    let is_bean =
        matches!(kind, "ctx" | "prev" | "sampler" | "thread" | "group" | "engine" | "AssertionResult");
    let mut letters = name.chars();
    let rest = letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str());
    let rest = rest.unwrap_or_default();
    is_bean
        && !matches!(name, "class" | "TEXT" | "BINARY")
        && !has(kind, &format!("get{rest}"), 0)
        && !has(kind, &format!("is{rest}"), 0)
        && !has(kind, &format!("set{rest}"), 1)
}
