//! Methods of lists, sets and arrays; `closures` implements Groovy's additional methods.

mod closures;
mod items;
mod queues;

use std::cell::RefCell;
use std::rc::Rc;

pub use self::items::{call_with, each_line, index_of, is_true_for, shuffle, split_each_line};
use self::items::{sorted, unique};
use super::super::fault::{Fault, Outcome, thrown};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Array, List, Order, V, copied, first_place, position};
use super::unknown;

/// Sorts items by a comparator or closure.
pub fn sorted_by(machine: &mut Machine<'_>, items: Vec<V>, by: &V) -> Result<Vec<V>, Fault> {
    sorted(machine, items, Some(by))
}

/// Fails if the list is unmodifiable.
fn check_modifiable(list: &List) -> Result<(), Fault> {
    if list.fixed {
        Err(thrown("UnsupportedOperationException", "the list cannot be changed"))
    } else {
        Ok(())
    }
}

/// Calls methods that read few items, without copying the list.
fn call_without_copy(list: &List, method: &str, arguments: &[V], groovy: bool) -> Option<V> {
    match (method, arguments) {
        ("size", []) => Some(V::int(list.items.len() as i64)),
        ("isEmpty", []) => Some(V::truth(list.items.len() == 0)),
        ("contains", [item]) => Some(V::truth(list.contains(item))),
        ("get", [at]) if list.set.is_none() => list.items.borrow().get(index_of(at)).cloned(),
        ("indexOf", [item]) if list.set.is_none() => {
            Some(V::int(list.position(item).map_or(-1, |at| at as i64)))
        }
        ("first" | "head" | "getFirst" | "peek", []) if groovy && list.set.is_none() => {
            list.items.borrow().first().cloned()
        }
        ("last" | "getLast", []) if groovy && list.set.is_none() => list.items.borrow().last().cloned(),
        _ => None,
    }
}

pub fn call(machine: &mut Machine<'_>, list: &Rc<List>, method: &str, arguments: &[V]) -> Outcome {
    let object = || V::List(list.clone());
    let groovy = machine.groovy();
    if let Some(value) = call_without_copy(list, method, arguments, groovy) {
        return Ok(value);
    }
    match (method, arguments) {
        ("add" | "push" | "offer" | "addElement", [item]) => {
            check_modifiable(list)?;
            machine.spend(1)?;
            if method == "push" && groovy && list.set.is_none() {
                machine.spend(list.items.len() / 64)?;
                list.items.borrow_mut().insert(0, item.clone());
                return Ok(V::truth(true));
            }
            Ok(V::truth(list.add(item.clone())))
        }
        ("add", [at, item]) => {
            check_modifiable(list)?;
            machine.spend(list.items.len() / 64)?;
            let mut items = list.items.borrow_mut();
            let at = index_of(at);
            if at > items.len() {
                return Err(thrown(
                    "IndexOutOfBoundsException",
                    format!("Index: {at}, Size: {}", items.len()),
                ));
            }
            items.insert(at, item.clone());
            Ok(V::NULL)
        }
        ("addAll", [others]) => {
            check_modifiable(list)?;
            let others = others.items().ok_or_else(|| unknown(&object(), method))?;
            machine.spend_items(others.len())?;
            let mut any = false;
            for item in others {
                any |= list.add(item);
            }
            Ok(V::truth(any))
        }
        ("set" | "putAt", [at, item]) => {
            check_modifiable(list)?;
            let mut items = list.items.borrow_mut();
            let (at, len) = (index_of(at), items.len());
            match items.get_mut(at) {
                Some(place) => Ok(std::mem::replace(place, item.clone())),
                None => Err(thrown(
                    "IndexOutOfBoundsException",
                    format!("Index {at} out of bounds for length {len}"),
                )),
            }
        }
        ("remove", [at]) if list.set.is_none() && matches!(at, V::Plain(crate::Value::Integer(_))) => {
            check_modifiable(list)?;
            machine.spend(list.items.len() / 64)?;
            let mut items = list.items.borrow_mut();
            let (at, len) = (index_of(at), items.len());
            if at >= len {
                return Err(thrown(
                    "IndexOutOfBoundsException",
                    format!("Index {at} out of bounds for length {len}"),
                ));
            }
            Ok(items.remove(at))
        }
        ("removeAt", [at]) => {
            check_modifiable(list)?;
            machine.spend(list.items.len() / 64)?;
            let mut items = list.items.borrow_mut();
            let (at, len) = (index_of(at), items.len());
            if at >= len {
                return Err(thrown(
                    "IndexOutOfBoundsException",
                    format!("Index {at} out of bounds for length {len}"),
                ));
            }
            Ok(items.remove(at))
        }
        ("remove" | "removeElement", [item]) => {
            check_modifiable(list)?;
            Ok(V::truth(list.remove_item(item)))
        }
        _ => call_removing(machine, list, method, arguments),
    }
}

/// Calls methods that remove items. Passes other methods to `call_ordering`.
fn call_removing(machine: &mut Machine<'_>, list: &Rc<List>, method: &str, arguments: &[V]) -> Outcome {
    let object = || V::List(list.clone());
    match (method, arguments) {
        ("removeAll" | "removeIf" | "retainAll", [what]) => {
            check_modifiable(list)?;
            let before = copied(&list.items.borrow());
            let others = match what {
                V::Closure(_) => None,
                _ if before.is_empty() => None,
                other => {
                    let others = other.items().ok_or_else(|| unknown(&object(), method))?;
                    Some(V::set(others, Order::Added))
                }
            };
            let mut kept = Vec::new();
            for item in &before {
                let found = match &others {
                    Some(V::List(others)) => others.contains(item),
                    _ => is_true_for(machine, what, item.clone())?,
                };
                if found == (method == "retainAll") {
                    kept.push(item.clone());
                }
            }
            let changed = kept.len() != before.len();
            list.items.replace(kept);
            Ok(V::truth(changed))
        }
        ("removeLast" | "pop" | "removeFirst" | "poll", []) => {
            check_modifiable(list)?;
            machine.spend(list.items.len() / 64)?;
            let mut items = list.items.borrow_mut();
            if items.is_empty() {
                return if method == "poll" {
                    Ok(V::NULL)
                } else {
                    Err(thrown("NoSuchElementException", "Cannot pop() an empty List"))
                };
            }
            Ok(if method == "removeLast" { items.pop().unwrap_or(V::NULL) } else { items.remove(0) })
        }
        ("clear", []) => {
            check_modifiable(list)?;
            list.items.replace(Vec::new());
            Ok(V::NULL)
        }
        ("leftShift", [item]) => {
            check_modifiable(list)?;
            list.add(item.clone());
            Ok(object())
        }
        _ => call_ordering(machine, list, method, arguments),
    }
}

/// Calls methods that sort or copy, and those of all collections.
fn call_ordering(machine: &mut Machine<'_>, list: &Rc<List>, method: &str, arguments: &[V]) -> Outcome {
    let object = || V::List(list.clone());
    let groovy = machine.groovy();
    match (method, arguments) {
        ("sort", rest @ ([] | [_])) if !matches!(rest, [V::Plain(_)]) => {
            let by = rest.first();
            let items = sorted(machine, list.ordered(), by)?;
            // With a comparator, Java's method is called, which returns nothing.
            if matches!(by, Some(V::Object(_))) && list.set.is_none() && !list.fixed {
                list.items.replace(items);
                return Ok(V::NULL);
            }
            if list.set.is_none() && !list.fixed {
                list.items.replace(items);
                return Ok(object());
            }
            Ok(V::list(items))
        }
        ("unique", rest) => {
            let items =
                unique(machine, list.ordered(), rest.first().filter(|item| matches!(item, V::Closure(_))))?;
            let copies = matches!(rest.first(), Some(V::Plain(crate::Value::Boolean(false))));
            if list.set.is_none() && !copies && !list.fixed {
                list.items.replace(items);
                return Ok(object());
            }
            Ok(V::list(items))
        }
        ("shuffle", rest) => {
            check_modifiable(list)?;
            let mut items = copied(&list.items.borrow());
            shuffle(machine, &mut items, rest.first())?;
            list.items.replace(items);
            Ok(V::NULL)
        }
        ("asImmutable" | "asUnmodifiable" | "asSynchronized", []) => Ok(object()),
        ("clone", []) => Ok(match list.set {
            Some(order) => V::set(list.ordered(), order),
            None => V::list(list.ordered()),
        }),
        ("step", [by, rest @ ..]) if groovy && list.range.is_some() => {
            let (items, by) = (list.ordered(), by.as_long().unwrap_or(0));
            let step = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
            if step == 0 && items.len() > 1 {
                return Err(thrown("GroovyRuntimeException", "Infinite loop detected due to step size of 0"));
            }
            let mut kept: Vec<V> = if by < 0 {
                items.into_iter().rev().step_by(step.max(1)).collect()
            } else {
                items.into_iter().step_by(step.max(1)).collect()
            };
            match rest {
                [] => Ok(V::list(kept)),
                [closure @ V::Closure(_)] => {
                    for item in kept.drain(..) {
                        machine.call_value(closure, vec![item])?;
                    }
                    Ok(V::NULL)
                }
                _ => Err(unknown(&object(), method)),
            }
        }
        _ => {
            if let Some(outcome) = queues::call(machine, list, method, arguments) {
                return outcome;
            }
            let items = list.ordered();
            call_reading(machine, &object(), &items, method, arguments)
        }
    }
}

pub fn call_array(machine: &mut Machine<'_>, array: &Rc<Array>, method: &str, arguments: &[V]) -> Outcome {
    let object = V::Array(array.clone());
    match (method, arguments) {
        ("size" | "length", []) if method == "size" && !machine.beanshell() => {
            return Ok(V::int(array.items.len() as i64));
        }
        _ => {}
    }
    let items = copied(&array.items.borrow());
    match (method, arguments) {
        ("clone", []) => return Ok(V::array(items, array.of)),
        ("sort", rest @ ([] | [_])) => {
            let made = sorted(machine, items, rest.first())?;
            array.items.replace(made);
            return Ok(object);
        }
        ("encodeBase64" | "encodeHex" | "md5" | "sha256", []) => {
            if let Some(bytes) = object.as_bytes() {
                return Ok(V::text(match method {
                    "encodeBase64" => super::encode::encode_base64(&bytes, false, true),
                    "encodeHex" => super::encode::encode_hex(&bytes),
                    "md5" => super::digest::hash_as_hex("MD5", &bytes)?,
                    _ => super::digest::hash_as_hex("SHA-256", &bytes)?,
                }));
            }
        }
        _ => {}
    }
    if machine.beanshell() {
        return Err(unknown(&object, method));
    }
    call_reading(machine, &object, &items, method, arguments)
}

/// Calls methods that do not change the items, including those of maps, whose items are entries.
pub fn call_reading(
    machine: &mut Machine<'_>,
    object: &V,
    items: &[V],
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("size" | "count", []) => return Ok(V::int(items.len() as i64)),
        ("isEmpty", []) => return Ok(V::truth(items.is_empty())),
        ("get" | "elementAt", [at]) => {
            let at = index_of(at);
            return items.get(at).cloned().ok_or_else(|| {
                thrown(
                    "IndexOutOfBoundsException",
                    format!("Index {} out of bounds for length {}", at as i64, items.len()),
                )
            });
        }
        ("getAt", [at]) => return machine.item(object, at),
        ("contains", [item]) => return Ok(V::truth(position(items, item).is_some())),
        ("containsAll", [others]) => {
            let others = others.items().unwrap_or_default();
            let V::List(known) = V::set(copied(items), Order::Added) else {
                return Err(unknown(object, method));
            };
            return Ok(V::truth(others.iter().all(|other| known.contains(other))));
        }
        ("indexOf", [item]) => {
            return Ok(V::int(position(items, item).map_or(-1, |at| at as i64)));
        }
        ("lastIndexOf", [item]) => {
            let last = items.len().wrapping_sub(1);
            let found = first_place(items.len(), |at| items[last - at].equals(item));
            return Ok(V::int(found.map_or(-1, |at| (last - at) as i64)));
        }
        ("iterator" | "listIterator", []) => {
            return Ok(V::object(Object::Iterator(RefCell::new(copied(items).into()))));
        }
        ("subList", [from, to]) => {
            return items
                .get(index_of(from)..index_of(to))
                .map(|part| V::list(part.to_vec()))
                .ok_or_else(|| thrown("IndexOutOfBoundsException", "subList"));
        }
        ("toArray", _) => return Ok(V::array(items.to_vec(), super::super::tree::Base::Any)),
        ("forEach", [closure @ V::Closure(_)]) => {
            for item in items {
                call_with(machine, closure, item.clone())?;
            }
            return Ok(V::NULL);
        }
        ("stream", []) => return Ok(V::list(items.to_vec())),
        _ => {}
    }
    if let Some(outcome) = queues::call_reading(machine, items, method, arguments) {
        return outcome;
    }
    if !machine.groovy() {
        return Err(unknown(object, method));
    }
    closures::call(machine, object, items, method, arguments)
}
