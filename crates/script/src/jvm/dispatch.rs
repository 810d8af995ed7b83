//! Method calls: selects the file of the library that implements the object's class.

use super::fault::{Fault, Outcome, thrown};
use super::library::{host, lists, maps, numbers, objects, statics, texts};
use super::machine::Machine;
use super::missing::unknown;
use super::tree::{Base, Type};
use super::truth::truth;
use super::value::{V, hash};
use super::{curry, durations, functional, json_value, missing, places, print, types};
use crate::Value;

/// Calls a method. Throws Groovy's exception if the method does not exist in Java and Groovy either.
pub fn call(machine: &mut Machine<'_>, object: &V, method: &str, arguments: Vec<V>) -> Outcome {
    let outcome = dispatch(machine, object, method, &arguments);
    if outcome.is_ok() {
        return outcome;
    }
    outcome.map_err(|fault| missing::explain(machine, fault, object, method, &arguments))
}

/// Calls a method; `Unsupported` if it is not implemented here.
#[allow(clippy::too_many_lines, reason = "one arm for each kind of value")]
pub fn dispatch(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
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
    // Lists, maps, arrays and closures receive a lazy string without evaluating it.
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
        ("toString", []) if json_value::is_json_array(object) => {
            return Ok(V::text(json_value::to_text(machine, object)?));
        }
        ("toString", []) if matches!(object, V::Plain(Value::Text(_))) => return Ok(object.clone()),
        // Groovy has its own `toString` for collections and arrays.
        ("toString", []) => return Ok(V::text(print::groovy(machine, object)?)),
        ("inspect", []) if machine.groovy() => return Ok(V::text(print::inspect(machine, object)?)),
        ("equals", [other]) if !matches!(object, V::Host(_)) => {
            return Ok(V::truth(object.equals(other)));
        }
        ("hashCode", []) => {
            if let Some(hash) = hash(object) {
                return Ok(V::int(i64::from(hash)));
            }
        }
        ("is", [other]) if machine.groovy() => return Ok(V::truth(object.equals(other))),
        ("getClass", []) => {
            return match types::class_of(object) {
                Some(class) => Ok(V::Class(class)),
                None => places::property(machine, object, "class"),
            };
        }
        ("with" | "tap", [closure @ V::Closure(_)]) if machine.groovy() => {
            machine.delegates.push(object.clone());
            let value = machine.call_value(closure, vec![object.clone()]);
            machine.delegates.pop();
            let value = value?;
            return Ok(if method == "tap" { object.clone() } else { value });
        }
        ("asBoolean", []) => return Ok(V::truth(truth(machine, object)?)),
        ("asType", [V::Class(class)]) => {
            let target = Type { base: Base::Class(*class), boxed: true, arrays: 0 };
            return types::converted(machine, object.clone(), target);
        }
        _ => {}
    }
    match object {
        V::Plain(Value::Text(text)) => {
            let value = texts::call(machine, text, method, arguments)?;
            // Java's methods return the same string if nothing changes; BeanShell's `==` distinguishes it from a copy.
            Ok(match &value {
                V::Plain(Value::Text(made)) if machine.beanshell() && made == text && method != "intern" => {
                    object.clone()
                }
                _ => value,
            })
        }
        V::Plain(_) => match durations::of_number(machine, object, method) {
            Some(value) if arguments.is_empty() => Ok(value),
            _ => numbers::call(machine, object, method, arguments),
        },
        V::List(list) => {
            let list = list.clone();
            lists::call(machine, &list, method, arguments)
        }
        V::Array(array) => {
            let array = array.clone();
            lists::call_array(machine, &array, method, arguments)
        }
        V::Map(map) => {
            let map = map.clone();
            maps::call(machine, &map, method, arguments)
        }
        V::Closure(closure) => match method {
            "call" | "doCall" => machine.call_value(object, arguments.to_vec()),
            "curry" | "rcurry" | "ncurry" => curry::curried(object, method, arguments),
            "memoize" if arguments.is_empty() => Ok(object.clone()),
            "getMaximumNumberOfParameters" if arguments.is_empty() => {
                let function = &closure.function;
                let count = if function.implicit { 1 } else { function.parameters.len() };
                Ok(V::int(count as i64))
            }
            _ if functional::is_method(method)
                || *closure.function.name == *method
                || machine
                    .tree
                    .classes
                    .iter()
                    .any(|class| class.without_body.iter().any(|name| **name == *method)) =>
            {
                machine.call_value(object, arguments.to_vec())
            }
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
