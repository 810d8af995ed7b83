//! The class `Collectors`: the terminal operations of a stream.

use std::rc::Rc;

use super::super::classes::Class;
use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Map, Order, V};
use super::instance::{Instance, LibraryClass, no_constructor};
use super::{print, text_of, unknown};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[LibraryClass {
    class: "Collectors",
    statics: "toList toSet joining counting toMap groupingBy partitioningBy",
    constructor_arguments: None,
    methods: "collect",
    call_static: |machine, method, arguments| {
        let collector = match (method, arguments) {
            ("toList", []) => Collector::List,
            ("toSet", []) => Collector::Set,
            ("counting", []) => Collector::Count,
            ("toMap", [key, value]) => Collector::Map(key.clone(), value.clone()),
            ("groupingBy" | "partitioningBy", [key, rest @ ..]) if rest.len() <= 1 => {
                Collector::Groups(key.clone(), rest.first().cloned(), method == "partitioningBy")
            }
            ("joining", rest) if rest.len() <= 3 && rest.len() != 2 => {
                let mut parts = Vec::new();
                for part in rest {
                    parts.push(text_of(machine, part)?);
                }
                let mut parts = parts.into_iter();
                let mut next = || parts.next().unwrap_or_default();
                Collector::Joined { separator: next(), prefix: next(), suffix: next() }
            }
            _ => return Err(unsupported(format!("`Collectors.{method}` with these arguments"))),
        };
        Ok(V::object(Object::Library(Box::new(collector))))
    },
    construct: no_constructor,
}];

/// A collector.
#[derive(Debug)]
enum Collector {
    List,
    Set,
    Count,
    Map(V, V),
    /// Groups items: the closure that returns an item's group, the collector of each group, and whether the only groups are
    /// true and false (`partitioningBy`).
    Groups(V, Option<V>, bool),
    Joined {
        separator: String,
        prefix: String,
        suffix: String,
    },
}

impl Instance for Collector {
    fn class(&self) -> Class {
        Class::known("Collectors")
    }

    /// Implements `collect`, which a list calls on its collector with the items of the stream.
    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let ("collect", [items]) = (method, arguments) else { return Err(unknown(object, method)) };
        let items = items.items().unwrap_or_default();
        Ok(match self {
            Collector::List => V::list(items),
            Collector::Set => V::set(items, Order::Hash),
            Collector::Count => V::long(i64::try_from(items.len()).unwrap_or(i64::MAX)),
            Collector::Map(key, value) => {
                let map = Map::new(Order::Hash);
                for item in items {
                    let key = machine.call_value(key, vec![item.clone()])?;
                    if map.get(&key).is_some() {
                        let message = format!("Duplicate key {}", print::java(machine, &key)?);
                        return Err(thrown("IllegalStateException", message));
                    }
                    let value = machine.call_value(value, vec![item])?;
                    map.put(key, value);
                }
                V::Map(Rc::new(map))
            }
            Collector::Groups(key, end, is_partition) => {
                let mut groups: Vec<(V, Vec<V>)> = Vec::new();
                if *is_partition {
                    groups.extend([(V::truth(false), Vec::new()), (V::truth(true), Vec::new())]);
                }
                for item in items {
                    let key = machine.call_value(key, vec![item.clone()])?;
                    match groups.iter_mut().find(|(known, _)| known.equals(&key)) {
                        Some((_, group)) => group.push(item),
                        None => groups.push((key, vec![item])),
                    }
                }
                let map = Map::new(if *is_partition { Order::Added } else { Order::Hash });
                for (key, group) in groups {
                    let group = V::list(group);
                    let value = match end {
                        Some(end) => machine.invoke(end, "collect", vec![group])?,
                        None => group,
                    };
                    map.put(key, value);
                }
                V::Map(Rc::new(map))
            }
            Collector::Joined { separator, prefix, suffix } => {
                let mut texts = Vec::new();
                for item in &items {
                    texts.push(print::java(machine, item)?);
                }
                V::text(format!("{prefix}{}{suffix}", texts.join(separator)))
            }
        })
    }
}
