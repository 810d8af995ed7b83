//! JMeter's properties, `props`. All users share them; elements and functions can read only those that are strings.

use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Host, Order, V};
use super::{lists, text_of, unknown};
use crate::Value;

/// The value of a property, which may be a string or another plain value.
fn property_value(machine: &Machine<'_>, name: &str) -> Option<V> {
    match machine.scope.property_value(name) {
        Some(value) => Some(V::Plain(value)),
        None => machine.scope.property(name).map(V::text),
    }
}

fn entries(machine: &Machine<'_>) -> Vec<V> {
    let names = machine.scope.property_names();
    let entry = |name: String| {
        let value = property_value(machine, &name).unwrap_or(V::NULL);
        V::object(Object::Entry(V::text(name), value))
    };
    names.into_iter().map(entry).collect()
}

/// Calls a method of `props`.
pub fn call(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("get" | "getAt", [name]) => {
            let name = text_of(machine, name)?;
            Ok(property_value(machine, &name).unwrap_or(V::NULL))
        }
        ("getProperty", [name]) => {
            let name = text_of(machine, name)?;
            Ok(property_value(machine, &name).filter(|value| value.as_text().is_some()).unwrap_or(V::NULL))
        }
        ("getProperty", [name, default]) => {
            let name = text_of(machine, name)?;
            let found = property_value(machine, &name).filter(|value| value.as_text().is_some());
            Ok(found.unwrap_or_else(|| default.clone()))
        }
        ("getOrDefault", [name, default]) => {
            let name = text_of(machine, name)?;
            Ok(property_value(machine, &name).unwrap_or_else(|| default.clone()))
        }
        ("put" | "setProperty" | "putAt", [name, given]) => {
            let name = text_of(machine, name)?;
            let old = property_value(machine, &name);
            match given {
                V::Plain(Value::Text(text)) => machine.scope.set_property(&name, text),
                V::Plain(Value::Null) => return Err(thrown("NullPointerException", "the value is null")),
                V::Plain(plain) if method != "setProperty" => {
                    machine.scope.set_property_value(&name, plain.clone());
                }
                other => return Err(unsupported(format!("{} as a property", other.kind()))),
            }
            Ok(old.unwrap_or(V::NULL))
        }
        ("putIfAbsent", [name, given]) => {
            let text = text_of(machine, name)?;
            match property_value(machine, &text) {
                Some(known) => Ok(known),
                None => call(machine, "put", &[name.clone(), given.clone()]),
            }
        }
        ("remove", [name]) => {
            let name = text_of(machine, name)?;
            let old = property_value(machine, &name);
            machine.scope.remove_property(&name);
            Ok(old.unwrap_or(V::NULL))
        }
        ("containsKey", [name]) => {
            let name = text_of(machine, name)?;
            Ok(V::truth(property_value(machine, &name).is_some()))
        }
        _ => call_on_all(machine, method, arguments),
    }
}

/// Calls methods that apply to all properties.
fn call_on_all(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let names = |machine: &Machine<'_>| machine.scope.property_names().into_iter().map(V::text).collect();
    match (method, arguments) {
        ("size", []) => Ok(V::int(machine.scope.property_names().len() as i64)),
        ("isEmpty", []) => Ok(V::truth(machine.scope.property_names().is_empty())),
        ("keySet" | "stringPropertyNames", []) => Ok(V::set(names(machine), Order::Added)),
        ("propertyNames" | "keys", []) => {
            Ok(V::object(Object::Iterator(std::cell::RefCell::new(names(machine).into()))))
        }
        ("entrySet", []) => Ok(V::list(entries(machine))),
        ("values", []) => {
            let names = machine.scope.property_names();
            Ok(V::list(names.iter().filter_map(|name| property_value(machine, name)).collect()))
        }
        ("each" | "forEach", [closure @ V::Closure(_)]) => {
            for entry in entries(machine) {
                lists::call_with(machine, closure, entry)?;
            }
            Ok(if method == "each" { V::Host(Host::Props) } else { V::NULL })
        }
        ("find" | "findAll" | "collect" | "any" | "every", [V::Closure(_)]) => {
            let map = V::map(Vec::new());
            if let V::Map(map) = &map {
                for name in machine.scope.property_names() {
                    let value = property_value(machine, &name).unwrap_or(V::NULL);
                    map.put(V::text(name), value);
                }
            }
            machine.invoke(&map, method, arguments.to_vec())
        }
        _ => Err(unknown(&V::Host(Host::Props), method)),
    }
}
