//! Methods of maps.

use std::rc::Rc;

use super::super::fault::Outcome;
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::operators;
use super::super::tree::Operator;
use super::super::value::{Map, Order, V};
use super::{lists, unknown};
use crate::plain::Binary;

pub fn call(machine: &mut Machine<'_>, map: &Rc<Map>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("size", []) => Ok(V::int(map.len() as i64)),
        ("isEmpty", []) => Ok(V::truth(map.is_empty())),
        ("get" | "getAt", [key]) => Ok(map.get(key).unwrap_or(V::NULL)),
        ("get", [key, default]) => {
            if let Some(value) = map.get(key) {
                return Ok(value);
            }
            map.put(key.clone(), default.clone());
            Ok(default.clone())
        }
        ("getOrDefault" | "getProperty", [key, default]) => {
            Ok(map.get(key).unwrap_or_else(|| default.clone()))
        }
        ("getProperty", [key]) => Ok(map.get(key).unwrap_or(V::NULL)),
        ("put" | "setProperty", [key, value]) => Ok(map.put(key.clone(), value.clone())),
        ("putAt", [key, value]) => {
            map.put(key.clone(), value.clone());
            Ok(V::NULL)
        }
        ("putIfAbsent", [key, value]) => match map.get(key) {
            Some(known) if !known.is_null() => Ok(known),
            _ => Ok(map.put(key.clone(), value.clone())),
        },
        ("computeIfAbsent", [key, closure]) => match map.get(key) {
            Some(known) if !known.is_null() => Ok(known),
            _ => {
                let value = machine.call_value(closure, vec![key.clone()])?;
                map.put(key.clone(), value.clone());
                Ok(value)
            }
        },
        ("putAll", [V::Map(other)]) => {
            for (key, value) in other.ordered() {
                map.put(key, value);
            }
            Ok(V::NULL)
        }
        ("remove", [key]) => Ok(map.remove(key)),
        ("clear", []) => {
            map.clear();
            Ok(V::NULL)
        }
        ("containsKey", [key]) => Ok(V::truth(map.contains_key(key))),
        ("containsValue", [value]) => Ok(V::truth(map.contains_value(value))),
        ("keySet", []) => Ok(V::set(map.ordered().into_iter().map(|(key, _)| key).collect(), Order::Added)),
        ("values", []) => Ok(V::list(map.ordered().into_iter().map(|(_, value)| value).collect())),
        ("entrySet", []) => Ok(V::list(map.entry_objects())),
        ("clone", []) => Ok(V::map(map.ordered())),
        _ => call_with_closures(machine, map, method, arguments),
    }
}

/// Calls methods that take closures or other maps, and those of `map_methods`.
fn call_with_closures(machine: &mut Machine<'_>, map: &Rc<Map>, method: &str, arguments: &[V]) -> Outcome {
    let object = V::Map(map.clone());
    match (method, arguments) {
        ("sort", rest) => {
            let entries = match rest.first() {
                Some(closure) => {
                    let entries = V::list(map.entry_objects());
                    let V::List(list) = &entries else { return Err(unknown(&object, method)) };
                    lists::call(machine, list, "sort", std::slice::from_ref(closure))?;
                    list.items.borrow().clone()
                }
                None => return Ok(V::map(map.in_order(Order::Sorted))),
            };
            Ok(V::map(pairs(&entries)))
        }
        ("findAll", [closure]) => {
            let mut kept = Vec::new();
            for (key, value) in map.ordered() {
                let entry = V::object(Object::Entry(key.clone(), value.clone()));
                if lists::is_true_for(machine, closure, entry)? {
                    kept.push((key, value));
                }
            }
            Ok(V::map(kept))
        }
        ("each" | "forEach", [closure]) => {
            for (key, value) in map.ordered() {
                lists::call_with(machine, closure, V::object(Object::Entry(key, value)))?;
            }
            Ok(object)
        }
        ("eachWithIndex", [closure @ V::Closure(own)]) => {
            let parameters = own.function.parameters.len();
            for (at, (key, value)) in map.ordered().into_iter().enumerate() {
                let at = V::int(at as i64);
                let entry = || V::object(Object::Entry(key.clone(), value.clone()));
                let arguments = match parameters {
                    3 => vec![key.clone(), value.clone(), at],
                    2 => vec![entry(), at],
                    _ => vec![entry()],
                };
                machine.call_value(closure, arguments)?;
            }
            Ok(object)
        }
        ("plus", [other]) => operators::binary(machine, Operator::Plain(Binary::Add), &object, other),
        ("subMap", [keys]) => {
            let keys = keys.items().unwrap_or_default();
            Ok(V::map(keys.into_iter().filter_map(|key| map.get(&key).map(|value| (key, value))).collect()))
        }
        ("groupBy", [closure]) => {
            let groups = Map::new(Order::Added);
            for (key, value) in map.ordered() {
                let entry = V::object(Object::Entry(key.clone(), value.clone()));
                let group = lists::call_with(machine, closure, entry)?;
                match groups.get(&group) {
                    Some(V::Map(entries)) => {
                        entries.put(key, value);
                    }
                    _ => {
                        groups.put(group, V::map(vec![(key, value)]));
                    }
                }
            }
            Ok(V::Map(Rc::new(groups)))
        }
        ("removeAll" | "retainAll", [closure @ V::Closure(_)]) if machine.groovy() => {
            let before = map.entry_objects();
            let mut kept = Vec::new();
            for entry in &before {
                if lists::is_true_for(machine, closure, entry.clone())? == (method == "retainAll") {
                    kept.push(entry.clone());
                }
            }
            let changed = kept.len() != before.len();
            map.replace(pairs(&kept));
            Ok(V::truth(changed))
        }
        (
            "isEmpty" | "size" | "find" | "any" | "every" | "collect" | "collectEntries" | "collectMany"
            | "count" | "inject" | "max" | "min" | "iterator" | "findResult" | "withIndex",
            _,
        ) => {
            let entries = map.entry_objects();
            lists::call_reading(machine, &object, &entries, method, arguments)
        }
        _ => super::map_methods::call(machine, map, method, arguments),
    }
}

fn pairs(entries: &[V]) -> Vec<(V, V)> {
    entries
        .iter()
        .filter_map(|entry| match entry {
            V::Object(object) => match &**object {
                Object::Entry(key, value) => Some((key.clone(), value.clone())),
                _ => None,
            },
            _ => None,
        })
        .collect()
}
