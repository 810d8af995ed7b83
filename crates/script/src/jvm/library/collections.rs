//! Static methods of `Arrays`, `Collections`, `List`, `Map`, `Objects`.

use super::super::fault::{Outcome, unsupported};
use super::super::machine::Machine;
use super::super::tree::Base;
use super::super::value::{Order, V};
use super::{lists, print};

pub fn call(machine: &mut Machine<'_>, class: &str, method: &str, arguments: &[V]) -> Outcome {
    match (class, method, arguments) {
        ("Arrays", "asList", [V::Array(array)]) => Ok(V::list(array.items.borrow().clone())),
        ("Arrays", "asList", items) | ("List", "of", items) => Ok(V::list(items.to_vec())),
        ("Set", "of", items) => Ok(V::set(items.to_vec(), Order::Hash)),
        ("Map", "of", items) => {
            Ok(V::map(items.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()))
        }
        ("Arrays", "toString", [V::Array(array)]) => {
            let list = V::list(array.items.borrow().clone());
            Ok(V::text(print::java(machine, &list)?))
        }
        ("Arrays", "sort", [V::Array(array)]) => {
            let mut items = array.items.borrow().clone();
            items.sort_by(super::super::value::natural);
            array.items.replace(items);
            Ok(V::NULL)
        }
        ("Arrays", "equals", [a, b]) => {
            let (a, b) = (a.items().unwrap_or_default(), b.items().unwrap_or_default());
            Ok(V::truth(a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.equals(b))))
        }
        ("Arrays", "copyOfRange", [V::Array(array), from, to]) => {
            let items = array.items.borrow();
            let at = |value: &V| usize::try_from(value.as_long().unwrap_or(0)).unwrap_or(0).min(items.len());
            let (from, to) = (at(from), at(to));
            Ok(V::array(items.get(from..to).unwrap_or_default().to_vec(), array.of))
        }
        ("Arrays", "fill", [V::Array(array), value]) => {
            array.items.borrow_mut().iter_mut().for_each(|item| *item = value.clone());
            Ok(V::NULL)
        }
        ("Arrays", "stream", [value]) => Ok(V::list(value.items().unwrap_or_default())),
        ("Collections", "shuffle", [V::List(list), rest @ ..]) => {
            let mut items = list.items.borrow().clone();
            lists::shuffle(machine, &mut items, rest.first())?;
            list.items.replace(items);
            Ok(V::NULL)
        }
        ("Collections", "sort", [V::List(list)]) => {
            list.items.borrow_mut().sort_by(super::super::value::natural);
            Ok(V::NULL)
        }
        ("Collections", "reverse", [V::List(list)]) => {
            list.items.borrow_mut().reverse();
            Ok(V::NULL)
        }
        ("Collections", "addAll", [V::List(list), items @ ..]) => {
            for item in items {
                list.add(item.clone());
            }
            Ok(V::truth(true))
        }
        ("Collections", "emptyList", []) => Ok(V::list(Vec::new())),
        ("Collections", "emptyMap", []) => Ok(V::map(Vec::new())),
        ("Collections", "singletonList", [item]) => Ok(V::list(vec![item.clone()])),
        (
            "Collections",
            "unmodifiableList" | "synchronizedList" | "unmodifiableMap" | "synchronizedMap",
            [value],
        ) => Ok(value.clone()),
        ("Collections", "nCopies", [times, item]) => {
            let times = usize::try_from(times.as_long().unwrap_or(0)).unwrap_or(0);
            machine.spend_items(times)?;
            Ok(V::list(vec![item.clone(); times]))
        }
        ("Collections", "max" | "min", [V::List(list)]) => {
            let items = list.ordered();
            let best = if method == "max" {
                items.into_iter().max_by(super::super::value::natural)
            } else {
                items.into_iter().min_by(super::super::value::natural)
            };
            Ok(best.unwrap_or(V::NULL))
        }
        ("Objects", "equals", [a, b]) => Ok(V::truth(a.equals(b))),
        ("Objects", "isNull", [a]) => Ok(V::truth(a.is_null())),
        ("Objects", "nonNull", [a]) => Ok(V::truth(!a.is_null())),
        ("Objects", "toString", [a]) => Ok(V::text(print::java(machine, a)?)),
        ("Arrays", "hashCode", [_]) => Err(unsupported("`Arrays.hashCode`")),
        _ => {
            let _ = Base::Any;
            Err(unsupported(format!("`{class}.{method}` with these arguments")))
        }
    }
}
