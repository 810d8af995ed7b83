//! Methods of the classes that scripts use.

pub(super) mod collections;
pub(super) mod collectors;
pub(super) mod cookies;
pub(super) mod create;
pub(super) mod curry;
pub(super) mod digest;
pub(super) mod encode;
pub(super) mod file_server;
pub(super) mod files;
pub(super) mod format;
pub(super) mod headers;
pub(super) mod host;
pub(super) mod instance;
pub(super) mod json;
pub(super) mod json_builder;
pub(super) mod json_path;
pub(super) mod lists;
pub(super) mod maps;
pub(super) mod numbers;
pub(super) mod objects;
pub(super) mod print;
pub(super) mod random_utils;
pub(super) mod regex;
pub(super) mod result;
pub(super) mod sample_result;
pub(super) mod sampler;
pub(super) mod statics;
pub(super) mod temporal;
pub(super) mod texts;
pub(super) mod threads;
pub(super) mod time;
pub(super) mod time_category;
pub(super) mod url;
pub(super) mod xml;

use super::fault::{Fault, Outcome, thrown, unsupported};
use super::machine::Machine;
use super::value::V;
use super::{missing, operators, types};
use crate::Value;

/// That nothing here has the method for these arguments.
pub(super) fn unknown(object: &V, method: &str) -> Fault {
    unsupported(format!("`{method}` of {} with these arguments", object.kind()))
}

/// Calls a method. One that the original's class does not have is an exception, as in Groovy.
pub(super) fn call(machine: &mut Machine<'_>, object: &V, method: &str, arguments: Vec<V>) -> Outcome {
    dispatch(machine, object, method, &arguments)
        .map_err(|fault| missing::explain(machine, fault, object, method, &arguments))
}

/// Calls a method; one that is not here is a refusal.
pub(super) fn dispatch(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    if object.is_null() {
        return match (method, arguments) {
            ("toString", []) if machine.groovy() => Ok(V::text("null")),
            ("equals", [other]) if machine.groovy() => Ok(V::truth(other.is_null())),
            ("is", [other]) if machine.groovy() => Ok(V::truth(other.is_null())),
            _ => {
                Err(thrown("NullPointerException", format!("Cannot invoke method {method}() on null object")))
            }
        };
    }
    if print::is_lazy(object) {
        let text = print::evaluated(machine, object)?;
        return dispatch(machine, &text, method, arguments);
    }
    // Lists and maps keep such a text as it is.
    let keeps = matches!(object, V::List(_) | V::Map(_) | V::Closure(_) | V::Array(_));
    if !keeps && arguments.iter().any(print::is_lazy) {
        let texts: Result<Vec<V>, Fault> =
            arguments.iter().map(|argument| print::evaluated(machine, argument)).collect();
        return dispatch(machine, object, method, &texts?);
    }
    if let Some(outcome) = machine.call_own(object, method, arguments) {
        return outcome;
    }
    match (method, arguments) {
        ("toString", []) if json_path::is_json_array(object) => {
            return Ok(V::text(json_path::text(machine, object)?));
        }
        // Groovy has a `toString` of its own for collections and arrays.
        ("toString", []) => return Ok(V::text(print::groovy(machine, object)?)),
        ("inspect", []) if machine.groovy() => return Ok(V::text(print::inspect(machine, object)?)),
        ("equals", [other]) if !matches!(object, V::Host(_)) => {
            return Ok(V::truth(object.equals(other)));
        }
        ("hashCode", []) => {
            if let Some(hash) = super::value::hash(object) {
                return Ok(V::int(i64::from(hash)));
            }
        }
        ("is", [other]) if machine.groovy() => return Ok(V::truth(object.equals(other))),
        ("getClass", []) => {
            return match types::class_of(object) {
                Some(class) => Ok(V::Class(class)),
                None => super::places::property(machine, object, "class"),
            };
        }
        ("with" | "tap", [closure @ V::Closure(_)]) if machine.groovy() => {
            machine.delegates.push(object.clone());
            let value = machine.call_value(closure, vec![object.clone()]);
            machine.delegates.pop();
            let value = value?;
            return Ok(if method == "tap" { object.clone() } else { value });
        }
        ("asBoolean", []) => return Ok(V::truth(operators::truth(machine, object)?)),
        ("asType", [V::Class(class)]) => {
            let target = super::tree::Type { base: super::tree::Base::Class(*class), boxed: true, arrays: 0 };
            return types::converted(machine, object.clone(), target);
        }
        _ => {}
    }
    match object {
        V::Plain(Value::Text(text)) => texts::call(machine, text, method, arguments),
        V::Plain(_) => match time_category::of_number(machine, object, method) {
            Some(value) if arguments.is_empty() => Ok(value),
            _ => numbers::call(machine, object, method, arguments),
        },
        V::List(list) => {
            let list = list.clone();
            lists::call(machine, &list, method, arguments)
        }
        V::Array(array) => {
            let array = array.clone();
            lists::array(machine, &array, method, arguments)
        }
        V::Map(map) => {
            let map = map.clone();
            maps::call(machine, &map, method, arguments)
        }
        V::Closure(_) => match method {
            "call" | "doCall" => machine.call_value(object, arguments.to_vec()),
            "curry" | "rcurry" | "ncurry" => curry::curried(object, method, arguments),
            _ => Err(unknown(object, method)),
        },
        V::Object(inner) => {
            let inner = inner.clone();
            objects::call(machine, &inner, object, method, arguments)
        }
        V::Class(class) => statics::call(machine, *class, method, arguments),
        V::Host(which) => host::call(machine, *which, method, arguments),
        V::Void => Err(thrown("RuntimeException", format!("`{method}` is called on an undefined variable"))),
    }
}

/// A text argument: a `String`, in Groovy also what stands in for one.
pub(super) fn text_of(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    match value {
        V::Plain(Value::Text(text)) => Ok(text.to_string()),
        V::Plain(Value::Null) => Err(thrown("NullPointerException", "the text is null")),
        V::Object(inner) => match &**inner {
            super::objects::Object::Builder(text, _) => Ok(text.borrow().clone()),
            super::objects::Object::Charset(name) => Ok(name.clone()),
            super::objects::Object::LazyText(_) => print::groovy(machine, value),
            _ => Err(thrown(
                "MissingMethodException",
                format!("the method takes a String, not {}", value.kind()),
            )),
        },
        other => {
            let _ = machine;
            Err(thrown("MissingMethodException", format!("the method takes a String, not {}", other.kind())))
        }
    }
}
