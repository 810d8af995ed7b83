//! Methods that Groovy adds to collections.

use std::rc::Rc;

use super::super::super::fault::{Fault, Outcome, thrown};
use super::super::super::machine::Machine;
use super::super::super::missing;
use super::super::super::objects::Object;
use super::super::super::operators::{self, compare, same};
use super::super::super::tree::Operator;
use super::super::super::truth::truth;
use super::super::super::value::{Map, Order, V, copied, natural};
use super::super::{print, unknown};
use super::items::{call_with, index_of, is_true_for, shuffle, sorted, unique};
use crate::Value;
use crate::plain::Binary;

pub(super) fn call(
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
        ("collect", [V::Object(collector)]) if collector.class().name() == "Collectors" => {
            machine.dispatch(&arguments[0], "collect", &[V::list(items.to_vec())])
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
                let items = value.items().unwrap_or_default();
                machine.room_for(made.len() + items.len())?;
                made.extend(items);
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
                        _ => return Err(missing::exception(machine, &value, "getKey", &[])),
                    },
                    other => {
                        let pair = other.items().unwrap_or_default();
                        let [key, value] = pair.as_slice() else {
                            return Err(missing::exception(machine, other, "getKey", &[]));
                        };
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
        ) => call_with_condition(machine, object, items, method, rest.first()),
        ("count", [item]) => {
            let mut found = 0;
            machine.spend(items.len() / 4)?;
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
        _ => call_reducing(machine, object, items, method, arguments),
    }
}

/// Calls methods that reduce a collection to one value. Passes other methods to `call_grouping`.
fn call_reducing(
    machine: &mut Machine<'_>,
    object: &V,
    items: &[V],
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("inject" | "reduce", [closure]) => {
            let mut items = items.iter().cloned();
            let Some(mut value) = items.next() else {
                let message = "Cannot call inject() on an empty collection without passing an initial value.";
                return Err(thrown("NoSuchElementException", message));
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
            let total = call(machine, object, items, "sum", &[])?;
            operators::binary(machine, Operator::Plain(Binary::Divide), &total, &V::int(items.len() as i64))
        }
        ("max" | "min", rest) => {
            let made = sorted(machine, items.to_vec(), rest.first())?;
            // Of equal items, the first is returned.
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
        _ => call_grouping(machine, object, items, method, arguments),
    }
}

/// Calls methods that join, sort or group. Passes other methods to `call_selecting`.
fn call_grouping(
    machine: &mut Machine<'_>,
    object: &V,
    items: &[V],
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
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
                machine.check_text(text.len())?;
            }
            Ok(V::text(text))
        }
        ("sort", rest) => {
            let by = rest.iter().find(|value| matches!(value, V::Closure(_) | V::Object(_)));
            Ok(V::list(sorted(machine, items.to_vec(), by)?))
        }
        ("toSorted", rest) => Ok(V::list(sorted(machine, items.to_vec(), rest.first())?)),
        ("toUnique", rest) => Ok(V::list(unique(machine, items.to_vec(), rest.first())?)),
        ("groupBy", [closure]) => {
            let groups = Map::new(Order::Added);
            for item in items {
                let key = call_with(machine, closure, item.clone())?;
                match groups.get(&key) {
                    Some(V::List(group)) => {
                        group.add(item.clone());
                    }
                    _ => {
                        groups.put(key, V::list(vec![item.clone()]));
                    }
                }
            }
            Ok(V::Map(Rc::new(groups)))
        }
        ("countBy", [closure]) => {
            let groups = Map::new(Order::Added);
            for item in items {
                let key = call_with(machine, closure, item.clone())?;
                let count = groups.get(&key).and_then(|count| count.as_long()).unwrap_or(0);
                groups.put(key, V::int(count + 1));
            }
            Ok(V::Map(Rc::new(groups)))
        }
        _ => call_selecting(machine, object, items, method, arguments),
    }
}

fn call_with_condition(
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
            Some(closure) => is_true_for(machine, closure, item.clone())?,
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

fn call_selecting(
    machine: &mut Machine<'_>,
    object: &V,
    items: &[V],
    method: &str,
    arguments: &[V],
) -> Outcome {
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
            flatten(machine, items, &mut flat)?;
            Ok(V::list(flat))
        }
        ("plus", [other]) => operators::binary(machine, Operator::Plain(Binary::Add), object, other),
        ("minus", [other]) => operators::binary(machine, Operator::Plain(Binary::Subtract), object, other),
        ("intersect", [other]) => {
            let V::List(others) = V::set(other.items().unwrap_or_default(), Order::Added) else {
                return Err(unknown(object, method));
            };
            Ok(V::list(items.iter().filter(|item| others.contains(item)).cloned().collect()))
        }
        ("disjoint", [other]) => {
            let V::List(others) = V::set(other.items().unwrap_or_default(), Order::Added) else {
                return Err(unknown(object, method));
            };
            Ok(V::truth(!items.iter().any(|item| others.contains(item))))
        }
        ("collate", [size]) => {
            let size = index_of(size).max(1);
            Ok(V::list(items.chunks(size).map(|part| V::list(part.to_vec())).collect()))
        }
        ("withIndex", rest @ ([] | [V::Plain(Value::Integer(_))])) => {
            let first = rest.first().and_then(V::as_long).unwrap_or(0);
            let pair = |(at, item): (i64, &V)| V::list(vec![item.clone(), V::int(at)]);
            Ok(V::list((first..).zip(items).map(pair).collect()))
        }
        ("indexed", rest @ ([] | [V::Plain(Value::Integer(_))])) => {
            let first = rest.first().and_then(V::as_long).unwrap_or(0);
            Ok(V::map((first..).zip(items).map(|(at, item)| (V::int(at), item.clone())).collect()))
        }
        ("indices" | "getIndices", []) => Ok(V::list((0..items.len()).map(|at| V::int(at as i64)).collect())),
        ("transpose", []) => {
            // The rows may be the same list many times, so the sum of their lengths is checked.
            let mut rows: Vec<Vec<V>> = Vec::with_capacity(items.len());
            let mut count = 0;
            for row in items {
                let row = row.items().unwrap_or_default();
                count += row.len();
                machine.room_for(2 * count)?;
                rows.push(row);
            }
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
            let mut items = copied(items);
            machine.spend(items.len())?;
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

/// Appends the items of nested lists in the order in which Groovy visits them.
fn flatten(machine: &mut Machine<'_>, items: &[V], out: &mut Vec<V>) -> Result<(), Fault> {
    machine.check_stack()?;
    machine.spend(1 + items.len() / 4)?;
    machine.room_for(out.len() + items.len())?;
    for item in items {
        match item {
            V::List(list) => flatten(machine, &list.ordered(), out)?,
            V::Array(array) => {
                let items = copied(&array.items.borrow());
                flatten(machine, &items, out)?;
            }
            other => out.push(other.clone()),
        }
    }
    Ok(())
}
