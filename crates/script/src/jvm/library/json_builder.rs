//! The class `JsonBuilder`, which builds JSON objects from calls inside closures.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::fault::Outcome;
use super::super::machine::Machine;
use super::super::value::{Map, Order, V};
use super::{json, unknown};

/// Calls a method of a builder whose content is `content`.
pub fn call(
    machine: &mut Machine<'_>,
    content: &RefCell<V>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("toPrettyString", []) => {
            let content = content.borrow().clone();
            Ok(V::text(json::pretty_print(&json::write(machine, &content)?)))
        }
        ("getContent", []) => Ok(content.borrow().clone()),
        ("call", [V::Closure(_) | V::Map(_) | V::List(_)]) => {
            let made = value_of_arguments(machine, arguments)?;
            content.replace(made.clone());
            Ok(made)
        }
        ("call", [items, closure @ V::Closure(_)]) if items.items().is_some() => {
            let made = value_of_arguments(machine, &[items.clone(), closure.clone()])?;
            content.replace(made.clone());
            Ok(made)
        }
        ("call", items) => {
            let made = V::list(items.to_vec());
            content.replace(made.clone());
            Ok(made)
        }
        (_, [_, ..]) if !super::super::known::is_method(method) => {
            let made = V::map(vec![(V::text(method), value_of_arguments(machine, arguments)?)]);
            content.replace(made.clone());
            Ok(made)
        }
        _ => Err(unknown(object, method)),
    }
}

/// Handles a call without an object inside a builder's closure, which adds a member to the object that is being built.
pub fn member(machine: &mut Machine<'_>, name: &str, arguments: &[V]) -> Option<Outcome> {
    let map = machine.builders.last()?.clone();
    let value = match value_of_arguments(machine, arguments) {
        Ok(value) => value,
        Err(fault) => return Some(Err(fault)),
    };
    map.put(V::text(name), value.clone());
    Some(Ok(value))
}

/// The JSON value for the arguments of a call inside a builder's closure.
fn value_of_arguments(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    match arguments {
        [closure @ V::Closure(_)] => object_of_closure(machine, closure, Vec::new()),
        [only] => Ok(only.clone()),
        [items, closure @ V::Closure(_)] if items.items().is_some() => {
            let mut made = Vec::new();
            for item in items.items().unwrap_or_default() {
                made.push(object_of_closure(machine, closure, vec![item])?);
            }
            Ok(V::list(made))
        }
        all => Ok(V::list(all.to_vec())),
    }
}

/// The object that the calls inside a closure build.
fn object_of_closure(machine: &mut Machine<'_>, closure: &V, arguments: Vec<V>) -> Outcome {
    let map = Rc::new(Map::new(Order::Added));
    machine.builders.push(map.clone());
    let outcome = machine.call_value(closure, arguments);
    machine.builders.pop();
    outcome?;
    Ok(V::Map(map))
}
