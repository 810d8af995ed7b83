//! The methods that JEXL scripts may call.
//!
//! A call is executed by the library that all languages share. It accepts more than JEXL does: Groovy's methods, and
//! arguments that Groovy converts. The tables here list Java's methods with the types of their parameters.

use super::super::fault::{Fault, evaluation_fault};
use super::super::supported::{Receiver, has};
use super::super::value::V;
use crate::Value;

/// Methods with a letter per parameter: `t` a string, `n` a string or null, `i` an int, `l` a long, `a` any value.
type Methods = &'static [(&'static str, &'static str)];

const STRING: Methods = &[
    ("length", ""),
    ("isEmpty", ""),
    ("equals", "a"),
    ("contains", "t"),
    ("startsWith", "t"),
    ("endsWith", "t"),
    ("equalsIgnoreCase", "n"),
    ("trim", ""),
    ("toLowerCase", ""),
    ("toUpperCase", ""),
    ("toString", ""),
    ("substring", "i"),
    ("substring", "ii"),
    ("indexOf", "t"),
    ("indexOf", "ti"),
    ("lastIndexOf", "t"),
    ("charAt", "i"),
    ("compareTo", "t"),
    ("concat", "t"),
    ("matches", "t"),
    ("replace", "tt"),
    ("replaceAll", "tt"),
    ("replaceFirst", "tt"),
    ("size", ""),
    ("split", "t"),
];
const INTEGER: Methods = &[
    ("compareTo", "i"),
    ("doubleValue", ""),
    ("equals", "a"),
    ("intValue", ""),
    ("longValue", ""),
    ("toString", ""),
];
const LONG: Methods = &[
    ("compareTo", "l"),
    ("doubleValue", ""),
    ("equals", "a"),
    ("intValue", ""),
    ("longValue", ""),
    ("toString", ""),
];
const DOUBLE: Methods =
    &[("doubleValue", ""), ("equals", "a"), ("intValue", ""), ("longValue", ""), ("toString", "")];
const OTHER: Methods = &[("equals", "a"), ("toString", "")];
const ARRAY: Methods = &[("size", "")];
const LIST: Methods = &[
    ("contains", "t"),
    ("equals", "a"),
    ("get", "i"),
    ("indexOf", "t"),
    ("isEmpty", ""),
    ("size", ""),
    ("toString", ""),
];

/// The tables by kind of receiver, as named in the table of supported methods.
const KINDS: &[(&str, Methods)] = &[
    ("String", STRING),
    ("Integer", INTEGER),
    ("Long", LONG),
    ("Double", DOUBLE),
    ("Boolean", OTHER),
    ("Array", ARRAY),
    ("List", LIST),
];

/// Methods of JMeter's objects that take arguments, with the number of arguments. All methods without arguments are
/// supported.
const JMETER_METHODS: &[(&str, &str, usize)] = &[
    ("vars", "get", 1),
    ("vars", "put", 2),
    ("vars", "remove", 1),
    ("props", "get", 1),
    ("props", "getProperty", 1),
    ("props", "getProperty", 2),
    ("props", "put", 2),
    ("props", "setProperty", 2),
    ("log", "trace", 1),
    ("log", "debug", 1),
    ("log", "info", 1),
    ("log", "warn", 1),
    ("log", "error", 1),
    ("prev", "setSuccessful", 1),
    ("prev", "setResponseCode", 1),
    ("prev", "setResponseMessage", 1),
    ("prev", "setSampleLabel", 1),
];

/// Whether a receiver is one of JMeter's objects.
pub(super) fn is_jmeter_object(kind: &str) -> bool {
    matches!(kind, "vars" | "props" | "log" | "ctx" | "prev" | "sampler" | "thread" | "group" | "engine")
}

/// Whether both the interpreter and Java have a method without arguments.
fn has_without_arguments(kind: &str, name: &str) -> bool {
    has(kind, name, 0) && !matches!(name, "asBoolean" | "getClass")
}

/// Whether a call may be compiled: the receiver is an object of JMeter that has the method, or some kind of value has it.
pub(super) fn is_known(receiver: Option<Receiver>, name: &str, count: usize) -> bool {
    match receiver {
        Some((kind, _)) if is_jmeter_object(kind) => {
            count == 0 && has_without_arguments(kind, name) || JMETER_METHODS.contains(&(kind, name, count))
        }
        _ => KINDS.iter().any(|(_, methods)| {
            methods.iter().any(|(known, parameters)| *known == name && parameters.len() == count)
        }),
    }
}

/// The getter of a property of one of JMeter's objects.
pub(super) fn getter(kind: &str, name: &str) -> Option<String> {
    let mut letters = name.chars();
    let first = letters.next()?.to_ascii_uppercase();
    let rest = letters.as_str();
    ["get", "is"]
        .iter()
        .map(|start| format!("{start}{first}{rest}"))
        .find(|getter| has_without_arguments(kind, getter))
}

fn accepts(parameter: u8, value: &V) -> bool {
    match parameter {
        b't' => matches!(value, V::Plain(Value::Text(_))),
        b'n' => matches!(value, V::Plain(Value::Text(_) | Value::Null)),
        b'i' => matches!(value, V::Plain(Value::Integer(_))),
        b'l' => matches!(value, V::Plain(Value::Long(_))),
        _ => true,
    }
}

/// Checks that the object's class has a method for these arguments. JMeter's objects check their arguments themselves.
pub(in crate::jvm) fn check(object: &V, name: &str, arguments: &[V]) -> Result<(), Fault> {
    let methods = match object {
        V::Plain(Value::Null) => return Err(evaluation_fault(format!("`{name}` is called on null"))),
        V::Plain(Value::Text(_)) => STRING,
        V::Plain(Value::Integer(_)) => INTEGER,
        V::Plain(Value::Long(_)) => LONG,
        V::Plain(Value::Double(_)) => DOUBLE,
        V::Plain(_) => OTHER,
        V::Array(_) => ARRAY,
        V::List(_) => LIST,
        V::Void | V::Map(_) | V::Closure(_) | V::Object(_) | V::Class(_) | V::Host(_) => return Ok(()),
    };
    let fits = methods.iter().any(|(known, parameters)| {
        *known == name
            && parameters.len() == arguments.len()
            && parameters.bytes().zip(arguments).all(|(parameter, value)| accepts(parameter, value))
    });
    if fits {
        Ok(())
    } else {
        Err(evaluation_fault(format!("{} has no method `{name}` for these arguments", object.kind())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_has_all_methods() {
        for (kind, methods) in KINDS {
            for (name, parameters) in *methods {
                assert!(has(kind, name, parameters.len()), "{kind}.{name} {parameters}");
            }
        }
        for (kind, name, count) in JMETER_METHODS {
            assert!(has(kind, name, *count), "{kind}.{name} {count}");
        }
    }
}
