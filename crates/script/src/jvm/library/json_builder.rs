//! `JsonBuilder`: objects of JSON made by calls inside closures.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::fault::Outcome;
use super::super::machine::Machine;
use super::super::value::{Map, Order, V};
use super::{json, unknown};

/// A method of a builder that holds `content`.
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
            Ok(V::text(json::pretty(&json::write(machine, &content)?)))
        }
        ("getContent", []) => Ok(content.borrow().clone()),
        ("call", [V::Closure(_) | V::Map(_) | V::List(_)]) => {
            let made = value(machine, arguments)?;
            content.replace(made.clone());
            Ok(made)
        }
        ("call", [items, closure @ V::Closure(_)]) if items.items().is_some() => {
            let made = value(machine, &[items.clone(), closure.clone()])?;
            content.replace(made.clone());
            Ok(made)
        }
        ("call", items) => {
            let made = V::list(items.to_vec());
            content.replace(made.clone());
            Ok(made)
        }
        (_, [_, ..]) if !super::super::known::is_method(method) => {
            let made = V::map(vec![(V::text(method), value(machine, arguments)?)]);
            content.replace(made.clone());
            Ok(made)
        }
        _ => Err(unknown(object, method)),
    }
}

/// A call without an object inside the closure of a builder: a member of the object that is being made.
pub fn member(machine: &mut Machine<'_>, name: &str, arguments: &[V]) -> Option<Outcome> {
    let map = machine.builders.last()?.clone();
    let value = match value(machine, arguments) {
        Ok(value) => value,
        Err(fault) => return Some(Err(fault)),
    };
    map.put(V::text(name), value.clone());
    Some(Ok(value))
}

/// The value of the arguments of such a call.
fn value(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    match arguments {
        [closure @ V::Closure(_)] => made_by(machine, closure, Vec::new()),
        [one] => Ok(one.clone()),
        [items, closure @ V::Closure(_)] if items.items().is_some() => {
            let mut made = Vec::new();
            for item in items.items().unwrap_or_default() {
                made.push(made_by(machine, closure, vec![item])?);
            }
            Ok(V::list(made))
        }
        all => Ok(V::list(all.to_vec())),
    }
}

/// The object whose members the calls inside a closure make.
fn made_by(machine: &mut Machine<'_>, closure: &V, arguments: Vec<V>) -> Outcome {
    let map = Rc::new(Map::new(Order::Added));
    machine.builders.push(map.clone());
    let outcome = machine.call_value(closure, arguments);
    machine.builders.pop();
    outcome?;
    Ok(V::Map(map))
}
