//! Methods of lists, sets and arrays, and Groovy's with closures.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::operators::{compare, same, truth};
use super::super::tree::Operator;
use super::super::value::{Array, List, Order, V, natural};
use super::super::{operators, places};
use super::{print, unknown};
use crate::syntax::ast::Binary;

/// Calls a closure with an item, or an entry's key and value where it takes two.
pub fn call_with(machine: &mut Machine<'_>, closure: &V, item: V) -> Outcome {
    if let (V::Object(object), V::Closure(own)) = (&item, closure)
        && let Object::Entry(key, value) = &**object
        && own.function.parameters.len() == 2
    {
        return machine.call_value(closure, vec![key.clone(), value.clone()]);
    }
    machine.call_value(closure, vec![item])
}

pub fn holds(machine: &mut Machine<'_>, closure: &V, item: V) -> Result<bool, Fault> {
    let value = call_with(machine, closure, item)?;
    truth(machine, &value)
}

fn index_of(value: &V) -> usize {
    value.as_long().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX)
}

/// Sorts by a closure of one item (a key) or two (a comparison), or naturally.
fn sorted(machine: &mut Machine<'_>, items: Vec<V>, by: Option<&V>) -> Result<Vec<V>, Fault> {
    machine.spend(items.len() * 4)?;
    let mut failed = None;
    let mut items = items;
    match by {
        Some(closure @ V::Closure(own)) if own.function.parameters.len() == 2 => {
            // Insertion keeps what is equal in its order and calls the closure one pair at a time.
            let mut made: Vec<V> = Vec::with_capacity(items.len());
            for item in items {
                let (mut low, mut high) = (0, made.len());
                while low < high {
                    let middle = usize::midpoint(low, high);
                    let order = machine.call_value(closure, vec![made[middle].clone(), item.clone()])?;
                    if order.as_long().unwrap_or(0) <= 0 {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                made.insert(low, item);
            }
            return Ok(made);
        }
        Some(closure @ V::Closure(_)) => {
            let mut keyed = Vec::with_capacity(items.len());
            for item in items {
                keyed.push((call_with(machine, closure, item.clone())?, item));
            }
            keyed.sort_by(|(a, _), (b, _)| {
                compare(a, b).unwrap_or_else(|fault| {
                    failed.get_or_insert(fault);
                    Ordering::Equal
                })
            });
            items = keyed.into_iter().map(|(_, item)| item).collect();
        }
        Some(other) => return Err(unsupported(format!("sorting by {}", other.kind()))),
        None => items.sort_by(|a, b| {
            compare(a, b).unwrap_or_else(|fault| {
                failed.get_or_insert(fault);
                Ordering::Equal
            })
        }),
    }
    match failed {
        Some(fault) => Err(fault),
        None => Ok(items),
    }
}

fn fixed(list: &List) -> Result<(), Fault> {
    if list.fixed {
        Err(thrown("UnsupportedOperationException", "the list cannot be changed"))
    } else {
        Ok(())
    }
}

pub fn call(machine: &mut Machine<'_>, list: &Rc<List>, method: &str, arguments: &[V]) -> Outcome {
    let object = || V::List(list.clone());
    let groovy = machine.groovy();
    machine.spend(list.items.borrow().len() / 16)?;
    match (method, arguments) {
        ("add" | "push" | "offer" | "addElement", [item]) => {
            fixed(list)?;
            machine.spend(1)?;
            if method == "push" && groovy && list.set.is_none() {
                list.items.borrow_mut().insert(0, item.clone());
                return Ok(V::truth(true));
            }
            Ok(V::truth(list.add(item.clone())))
        }
        ("add", [at, item]) => {
            fixed(list)?;
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
            fixed(list)?;
            let others = others.items().ok_or_else(|| unknown(&object(), method))?;
            machine.spend(others.len())?;
            let mut any = false;
            for item in others {
                any |= list.add(item);
            }
            Ok(V::truth(any))
        }
        ("set" | "putAt", [at, item]) => {
            fixed(list)?;
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
            fixed(list)?;
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
            fixed(list)?;
            let mut items = list.items.borrow_mut();
            match items.iter().position(|known| known.equals(item)) {
                Some(at) => {
                    items.remove(at);
                    Ok(V::truth(true))
                }
                None => Ok(V::truth(false)),
            }
        }
        ("removeAll" | "removeIf" | "retainAll", [what]) => {
            fixed(list)?;
            let before = list.items.borrow().clone();
            let mut kept = Vec::new();
            for item in &before {
                let found = match what {
                    V::Closure(_) => holds(machine, what, item.clone())?,
                    other => {
                        let others = other.items().ok_or_else(|| unknown(&object(), method))?;
                        others.iter().any(|other| other.equals(item))
                    }
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
            fixed(list)?;
            list.items.borrow_mut().clear();
            Ok(V::NULL)
        }
        ("leftShift", [item]) => {
            list.add(item.clone());
            Ok(object())
        }
        ("sort", rest @ ([] | [_])) if !matches!(rest, [V::Plain(_)]) => {
            let by = rest.first();
            let items = sorted(machine, list.ordered(), by)?;
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
            if list.set.is_none() && !copies {
                list.items.replace(items);
                return Ok(object());
            }
            Ok(V::list(items))
        }
        ("shuffle", rest) => {
            let mut items = list.items.borrow().clone();
            shuffle(machine, &mut items, rest.first())?;
            list.items.replace(items);
            Ok(V::NULL)
        }
        ("asImmutable" | "asUnmodifiable" | "asSynchronized", []) => Ok(object()),
        ("clone", []) => Ok(match list.set {
            Some(order) => V::set(list.ordered(), order),
            None => V::list(list.ordered()),
        }),
        ("retainUnique", _) => Err(unknown(&object(), method)),
        _ => {
            let items = list.ordered();
            reading(machine, &object(), &items, method, arguments)
        }
    }
}

pub fn array(machine: &mut Machine<'_>, array: &Rc<Array>, method: &str, arguments: &[V]) -> Outcome {
    let object = V::Array(array.clone());
    let items = array.items.borrow().clone();
    machine.spend(items.len() / 16)?;
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
                    "encodeBase64" => super::encode::base64(&bytes, false, true),
                    "encodeHex" => super::encode::hexadecimal(&bytes),
                    "md5" => super::digest::hexadecimal("MD5", &bytes)?,
                    _ => super::digest::hexadecimal("SHA-256", &bytes)?,
                }));
            }
        }
        _ => {}
    }
    if !machine.groovy() {
        return Err(unknown(&object, method));
    }
    reading(machine, &object, &items, method, arguments)
}

fn unique(machine: &mut Machine<'_>, items: Vec<V>, by: Option<&V>) -> Result<Vec<V>, Fault> {
    let mut keys: Vec<V> = Vec::new();
    let mut kept = Vec::new();
    for item in items {
        let key = match by {
            Some(closure) => call_with(machine, closure, item.clone())?,
            None => item.clone(),
        };
        let mut known = false;
        for other in &keys {
            known = known || same(other, &key)?;
        }
        machine.spend(keys.len() / 4)?;
        if !known {
            keys.push(key);
            kept.push(item);
        }
    }
    Ok(kept)
}

/// Java's shuffle: from the end, each with one at or before it.
pub fn shuffle(machine: &mut Machine<'_>, items: &mut [V], random: Option<&V>) -> Result<(), Fault> {
    let mut own = super::super::random::JavaRandom::new(machine.scope.random_bits() as i64);
    for at in (1..items.len()).rev() {
        let bound = at as i32 + 1;
        let other = match random {
            Some(V::Object(object)) => match &**object {
                Object::Random(random) => random.borrow_mut().below(bound),
                _ => return Err(unsupported("this source of random numbers")),
            },
            _ => own.below(bound),
        };
        items.swap(at, other as usize);
    }
    Ok(())
}

/// Methods that leave the items as they are; also those of maps, whose items are entries.
pub fn reading(machine: &mut Machine<'_>, object: &V, items: &[V], method: &str, arguments: &[V]) -> Outcome {
    machine.spend(items.len() / 16)?;
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
        ("getAt", [at]) => return places::index(machine, object, at),
        ("contains", [item]) => return Ok(V::truth(items.iter().any(|known| known.equals(item)))),
        ("containsAll", [others]) => {
            let others = others.items().unwrap_or_default();
            return Ok(V::truth(others.iter().all(|other| items.iter().any(|known| known.equals(other)))));
        }
        ("indexOf", [item]) => {
            return Ok(V::int(items.iter().position(|known| known.equals(item)).map_or(-1, |at| at as i64)));
        }
        ("lastIndexOf", [item]) => {
            return Ok(V::int(items.iter().rposition(|known| known.equals(item)).map_or(-1, |at| at as i64)));
        }
        ("iterator" | "listIterator", []) => {
            return Ok(V::object(Object::Iterator(items.to_vec().into())));
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
    if !machine.groovy() {
        return Err(unknown(object, method));
    }
    with_closures(machine, object, items, method, arguments)
}

fn with_closures(
    machine: &mut Machine<'_>,
    object: &V,
    items: &[V],
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("each", [closure]) => {
            for item in items {
                call_with(machine, closure, item.clone())?;
            }
            Ok(object.clone())
        }
        ("reverseEach", [closure]) => {
            for item in items.iter().rev() {
                call_with(machine, closure, item.clone())?;
            }
            Ok(object.clone())
        }
        ("eachWithIndex", [closure]) => {
            for (at, item) in items.iter().enumerate() {
                machine.call_value(closure, vec![item.clone(), V::int(at as i64)])?;
            }
            Ok(object.clone())
        }
        ("collect" | "collectNested" | "map", [closure]) => {
            let mut made = Vec::with_capacity(items.len());
            for item in items {
                made.push(call_with(machine, closure, item.clone())?);
            }
            Ok(V::list(made))
        }
        ("collect", []) | ("toList", []) => Ok(V::list(items.to_vec())),
        ("collectMany" | "flatMap", [closure]) => {
            let mut made = Vec::new();
            for item in items {
                let value = call_with(machine, closure, item.clone())?;
                made.extend(value.items().unwrap_or_default());
            }
            Ok(V::list(made))
        }
        ("collectEntries", rest) => {
            let mut entries = Vec::new();
            for item in items {
                let value = match rest.first() {
                    Some(closure) => call_with(machine, closure, item.clone())?,
                    None => item.clone(),
                };
                match &value {
                    V::Map(map) => entries.extend(map.ordered()),
                    V::Object(object) => match &**object {
                        Object::Entry(key, value) => entries.push((key.clone(), value.clone())),
                        _ => return Err(unknown(&value, method)),
                    },
                    other => {
                        let pair = other.items().unwrap_or_default();
                        let [key, value] = pair.as_slice() else { return Err(unknown(object, method)) };
                        entries.push((key.clone(), value.clone()));
                    }
                }
            }
            Ok(V::map(entries))
        }
        (
            "find" | "findResult" | "findAll" | "grep" | "filter" | "findIndexOf" | "findLastIndexOf" | "any"
            | "every" | "count" | "findIndexValues" | "split" | "takeWhile" | "dropWhile" | "anyMatch"
            | "allMatch" | "noneMatch",
            rest @ ([] | [V::Closure(_)]),
        ) => choosing(machine, object, items, method, rest.first()),
        ("count", [item]) => {
            let mut found = 0;
            for other in items {
                found += i64::from(same(other, item)?);
            }
            Ok(V::int(found))
        }
        ("grep", [what]) => {
            let mut kept = Vec::new();
            for item in items {
                if operators::is_case(machine, what, item)? {
                    kept.push(item.clone());
                }
            }
            Ok(V::list(kept))
        }
        ("inject" | "reduce", [closure]) => {
            let mut items = items.iter().cloned();
            let Some(mut value) = items.next() else {
                return Err(thrown("NoSuchElementException", "Cannot call inject() on an empty collection"));
            };
            for item in items {
                value = machine.call_value(closure, vec![value, item])?;
            }
            Ok(value)
        }
        ("inject" | "reduce", [start, closure]) => {
            let mut value = start.clone();
            for item in items {
                value = match (item, closure) {
                    (V::Object(entry), V::Closure(own)) if own.function.parameters.len() == 3 => {
                        match &**entry {
                            Object::Entry(k, v) => {
                                machine.call_value(closure, vec![value, k.clone(), v.clone()])?
                            }
                            _ => return Err(unknown(object, method)),
                        }
                    }
                    _ => machine.call_value(closure, vec![value, item.clone()])?,
                };
            }
            Ok(value)
        }
        ("sum", rest) => {
            let closure = rest.first().filter(|value| matches!(value, V::Closure(_)));
            let mut total: Option<V> = rest.first().filter(|value| !matches!(value, V::Closure(_))).cloned();
            for item in items {
                let value = match closure {
                    Some(closure) => call_with(machine, closure, item.clone())?,
                    None => item.clone(),
                };
                total = Some(match total {
                    Some(total) => operators::binary(machine, Operator::Plain(Binary::Add), &total, &value)?,
                    None => value,
                });
            }
            Ok(total.unwrap_or(V::NULL))
        }
        ("average", []) => {
            let total = with_closures(machine, object, items, "sum", &[])?;
            operators::binary(machine, Operator::Plain(Binary::Divide), &total, &V::int(items.len() as i64))
        }
        ("max" | "min", rest) => {
            let made = sorted(machine, items.to_vec(), rest.first())?;
            // Of equal ones the first.
            if method == "min" {
                return Ok(made.into_iter().next().unwrap_or(V::NULL));
            }
            let mut best: Option<V> = None;
            for item in made {
                best = match best {
                    Some(best) if rest.is_empty() && compare(&item, &best)?.is_le() => Some(best),
                    _ => Some(item),
                };
            }
            Ok(best.unwrap_or(V::NULL))
        }
        ("join", rest) => {
            let separator = match rest.first() {
                Some(separator) => print::groovy(machine, separator)?,
                None => String::new(),
            };
            let mut text = String::new();
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push_str(&separator);
                }
                text.push_str(&print::groovy(machine, item)?);
                machine.spend_text(text.len() / 16)?;
            }
            Ok(V::text(text))
        }
        ("sort", rest) => {
            let by = rest.iter().find(|value| matches!(value, V::Closure(_)));
            Ok(V::list(sorted(machine, items.to_vec(), by)?))
        }
        ("toSorted", rest) => Ok(V::list(sorted(machine, items.to_vec(), rest.first())?)),
        ("toUnique", rest) => Ok(V::list(unique(machine, items.to_vec(), rest.first())?)),
        ("groupBy", [closure]) => {
            let mut groups: Vec<(V, Vec<V>)> = Vec::new();
            for item in items {
                let key = call_with(machine, closure, item.clone())?;
                match groups.iter_mut().find(|(known, _)| known.equals(&key)) {
                    Some((_, group)) => group.push(item.clone()),
                    None => groups.push((key, vec![item.clone()])),
                }
            }
            Ok(V::map(groups.into_iter().map(|(key, group)| (key, V::list(group))).collect()))
        }
        ("countBy", [closure]) => {
            let mut groups: Vec<(V, i64)> = Vec::new();
            for item in items {
                let key = call_with(machine, closure, item.clone())?;
                match groups.iter_mut().find(|(known, _)| known.equals(&key)) {
                    Some((_, count)) => *count += 1,
                    None => groups.push((key, 1)),
                }
            }
            Ok(V::map(groups.into_iter().map(|(key, count)| (key, V::int(count))).collect()))
        }
        _ => parts(machine, object, items, method, arguments),
    }
}

fn choosing(
    machine: &mut Machine<'_>,
    object: &V,
    items: &[V],
    method: &str,
    closure: Option<&V>,
) -> Outcome {
    let mut found = Vec::new();
    let mut kept = Vec::new();
    let mut others = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if method == "findResult" {
            let Some(closure) = closure else { return Err(unknown(object, method)) };
            let value = call_with(machine, closure, item.clone())?;
            if !value.is_null() {
                return Ok(value);
            }
            continue;
        }
        let fits = match closure {
            Some(closure) => holds(machine, closure, item.clone())?,
            None => truth(machine, item)?,
        };
        match (method, fits) {
            ("find", true) => return Ok(item.clone()),
            ("findIndexOf", true) => return Ok(V::int(at as i64)),
            ("any" | "anyMatch", true) => return Ok(V::truth(true)),
            ("noneMatch", true) | ("every" | "allMatch", false) => return Ok(V::truth(false)),
            ("takeWhile", false) => return Ok(V::list(kept)),
            ("dropWhile", false) => return Ok(V::list(items[at..].to_vec())),
            (_, true) => {
                found.push(V::int(at as i64));
                kept.push(item.clone());
            }
            (_, false) => others.push(item.clone()),
        }
    }
    Ok(match method {
        "findAll" | "grep" | "filter" | "takeWhile" => match object {
            V::List(list) if list.set.is_some() => V::set(kept, list.set.unwrap_or(Order::Added)),
            _ => V::list(kept),
        },
        "count" => V::int(kept.len() as i64),
        "findIndexValues" => V::list(found),
        "findLastIndexOf" => found.pop().unwrap_or(V::int(-1)),
        "findIndexOf" => V::int(-1),
        "any" | "anyMatch" => V::truth(false),
        "every" | "allMatch" | "noneMatch" => V::truth(true),
        "split" => V::list(vec![V::list(kept), V::list(others)]),
        "dropWhile" => V::list(Vec::new()),
        _ => V::NULL,
    })
}

fn parts(machine: &mut Machine<'_>, object: &V, items: &[V], method: &str, arguments: &[V]) -> Outcome {
    let empty = |what: &str| {
        thrown("NoSuchElementException", format!("Cannot access {what}() element from an empty List"))
    };
    let taken = |by: &V| index_of(by).min(items.len());
    match (method, arguments) {
        ("first" | "head" | "getFirst", []) => items.first().cloned().ok_or_else(|| empty("first")),
        ("last" | "getLast", []) => items.last().cloned().ok_or_else(|| empty("last")),
        ("peek", []) => Ok(items.first().cloned().unwrap_or(V::NULL)),
        ("tail", []) => Ok(V::list(items.get(1..).unwrap_or_default().to_vec())),
        ("init", []) => Ok(V::list(items[..items.len().saturating_sub(1)].to_vec())),
        ("take" | "limit", [by]) => Ok(V::list(items[..taken(by)].to_vec())),
        ("drop" | "skip", [by]) => Ok(V::list(items[taken(by)..].to_vec())),
        ("takeRight", [by]) => Ok(V::list(items[items.len() - taken(by)..].to_vec())),
        ("dropRight", [by]) => Ok(V::list(items[..items.len() - taken(by)].to_vec())),
        ("reverse", _) => Ok(V::list(items.iter().rev().cloned().collect())),
        ("flatten", []) => {
            let mut flat = Vec::new();
            flatten(items, &mut flat);
            Ok(V::list(flat))
        }
        ("plus", [other]) => operators::binary(machine, Operator::Plain(Binary::Add), object, other),
        ("minus", [other]) => operators::binary(machine, Operator::Plain(Binary::Subtract), object, other),
        ("intersect", [other]) => {
            let others = other.items().unwrap_or_default();
            Ok(V::list(
                items.iter().filter(|item| others.iter().any(|other| other.equals(item))).cloned().collect(),
            ))
        }
        ("disjoint", [other]) => {
            let others = other.items().unwrap_or_default();
            Ok(V::truth(!items.iter().any(|item| others.iter().any(|other| other.equals(item)))))
        }
        ("collate", [size]) => {
            let size = index_of(size).max(1);
            Ok(V::list(items.chunks(size).map(|part| V::list(part.to_vec())).collect()))
        }
        ("withIndex", []) => Ok(V::list(
            items
                .iter()
                .enumerate()
                .map(|(at, item)| V::list(vec![item.clone(), V::int(at as i64)]))
                .collect(),
        )),
        ("indexed", []) => {
            Ok(V::map(items.iter().enumerate().map(|(at, item)| (V::int(at as i64), item.clone())).collect()))
        }
        ("indices" | "getIndices", []) => Ok(V::list((0..items.len()).map(|at| V::int(at as i64)).collect())),
        ("transpose", []) => {
            let rows: Vec<Vec<V>> = items.iter().map(|row| row.items().unwrap_or_default()).collect();
            let width = rows.iter().map(Vec::len).min().unwrap_or(0);
            Ok(V::list(
                (0..width).map(|at| V::list(rows.iter().map(|row| row[at].clone()).collect())).collect(),
            ))
        }
        ("toSet", []) => Ok(V::set(items.to_vec(), Order::Hash)),
        ("shuffled", rest) => {
            let mut items = items.to_vec();
            shuffle(machine, &mut items, rest.first())?;
            Ok(V::list(items))
        }
        ("asList", []) => Ok(V::list(items.to_vec())),
        ("distinct", []) => Ok(V::list(unique(machine, items.to_vec(), None)?)),
        ("sorted", []) => {
            let mut items = items.to_vec();
            items.sort_by(natural);
            Ok(V::list(items))
        }
        ("swap", [a, b]) => {
            let mut items = items.to_vec();
            let (a, b) = (index_of(a), index_of(b));
            if a >= items.len() || b >= items.len() {
                return Err(thrown("IndexOutOfBoundsException", "swap"));
            }
            items.swap(a, b);
            Ok(V::list(items))
        }
        _ => Err(unknown(object, method)),
    }
}

fn flatten(items: &[V], out: &mut Vec<V>) {
    for item in items {
        match item {
            V::List(list) => flatten(&list.ordered(), out),
            V::Array(array) => flatten(&array.items.borrow(), out),
            other => out.push(other.clone()),
        }
    }
}
