//! Methods of queues, stacks, vectors and streams, which are all represented by lists.

use std::rc::Rc;

use super::super::super::fault::{Outcome, thrown_without_message};
use super::super::super::machine::Machine;
use super::super::super::objects::Object;
use super::super::super::tree::Base;
use super::super::super::value::{List, V};
use super::super::optional;
use super::items::{call_with, index_of};

/// Calls methods that change a list; `None` for other methods.
pub(super) fn call(
    machine: &mut Machine<'_>,
    list: &Rc<List>,
    method: &str,
    arguments: &[V],
) -> Option<Outcome> {
    let missing = || Err(thrown_without_message("NoSuchElementException"));
    if list.fixed {
        return None;
    }
    Some(match (method, arguments) {
        ("addFirst" | "offerFirst", [item]) => {
            list.items.borrow_mut().insert(0, item.clone());
            Ok(if method == "addFirst" { V::NULL } else { V::truth(true) })
        }
        ("addLast" | "offerLast" | "put", [item]) if list.set.is_none() => {
            list.items.borrow_mut().push(item.clone());
            Ok(if method == "offerLast" { V::truth(true) } else { V::NULL })
        }
        ("addIfAbsent", [item]) => {
            let is_new = !list.items.borrow().iter().any(|known| known.equals(item));
            if is_new {
                list.items.borrow_mut().push(item.clone());
            }
            Ok(V::truth(is_new))
        }
        ("insertElementAt", [item, at]) => {
            let mut items = list.items.borrow_mut();
            let at = index_of(at).min(items.len());
            items.insert(at, item.clone());
            Ok(V::NULL)
        }
        ("addAll", [at, others]) => {
            let others = others.items()?;
            let mut items = list.items.borrow_mut();
            let at = index_of(at).min(items.len());
            items.splice(at..at, others);
            Ok(V::truth(true))
        }
        ("pollFirst" | "pollLast" | "take" | "remove", []) => {
            let mut items = list.items.borrow_mut();
            if items.is_empty() {
                return Some(if method.starts_with("poll") { Ok(V::NULL) } else { missing() });
            }
            Ok(if method == "pollLast" { items.pop().unwrap_or(V::NULL) } else { items.remove(0) })
        }
        ("replaceAll", [closure]) => {
            let before = list.ordered();
            let mut made = Vec::with_capacity(before.len());
            for item in before {
                match call_with(machine, closure, item) {
                    Ok(item) => made.push(item),
                    Err(fault) => return Some(Err(fault)),
                }
            }
            list.items.replace(made);
            Ok(V::NULL)
        }
        _ => return None,
    })
}

/// Calls methods that read a list; `None` for other methods.
pub(super) fn call_reading(
    machine: &mut Machine<'_>,
    items: &[V],
    method: &str,
    arguments: &[V],
) -> Option<Outcome> {
    let missing = || Err(thrown_without_message("NoSuchElementException"));
    let end = |item: Option<&V>| item.cloned().map_or_else(missing, Ok);
    let iterator = || V::object(Object::Iterator(std::cell::RefCell::new(items.iter().cloned().collect())));
    Some(match (method, arguments) {
        ("peekFirst", []) => Ok(items.first().cloned().unwrap_or(V::NULL)),
        ("peekLast", []) => Ok(items.last().cloned().unwrap_or(V::NULL)),
        ("element" | "firstElement" | "getFirst", []) => end(items.first()),
        ("lastElement" | "getLast", []) => end(items.last()),
        ("empty", []) => Ok(V::truth(items.is_empty())),
        ("elements", []) => Ok(iterator()),
        ("findFirst" | "findAny", []) => Ok(optional::optional(items.first().cloned())),
        ("boxed" | "parallelStream" | "sequential" | "parallel" | "asLongStream", []) => {
            Ok(V::list(items.to_vec()))
        }
        ("mapToObj" | "mapToInt" | "mapToLong" | "mapToDouble", [closure]) => {
            let mut made = Vec::with_capacity(items.len());
            for item in items {
                match call_with(machine, closure, item.clone()) {
                    Ok(item) => made.push(item),
                    Err(fault) => return Some(Err(fault)),
                }
            }
            Ok(V::list(made))
        }
        ("forEachOrdered", [closure]) => {
            for item in items {
                if let Err(fault) = call_with(machine, closure, item.clone()) {
                    return Some(Err(fault));
                }
            }
            Ok(V::NULL)
        }
        ("sorted", [by]) => {
            return Some(machine.invoke(&V::list(items.to_vec()), "toSorted", vec![by.clone()]));
        }
        ("permutations", []) if items.len() <= 8 => {
            let mut all: Vec<Vec<V>> = vec![Vec::new()];
            for item in items {
                all = all
                    .iter()
                    .flat_map(|known| {
                        (0..=known.len()).map(|at| {
                            let mut made = known.clone();
                            made.insert(at, item.clone());
                            made
                        })
                    })
                    .collect();
            }
            if let Err(fault) = machine.spend(all.len()) {
                return Some(Err(fault));
            }
            Ok(V::list(all.into_iter().map(V::list).collect()))
        }
        ("combinations", []) => {
            let mut all: Vec<Vec<V>> = vec![Vec::new()];
            for part in items {
                let choices = part.items().unwrap_or_else(|| vec![part.clone()]);
                if let Err(fault) = machine.spend(all.len().saturating_mul(choices.len())) {
                    return Some(Err(fault));
                }
                all = choices
                    .iter()
                    .flat_map(|choice| {
                        all.iter().map(|known| {
                            let mut made = known.clone();
                            made.push(choice.clone());
                            made
                        })
                    })
                    .collect();
            }
            Ok(V::list(all.into_iter().map(V::list).collect()))
        }
        ("toArray", [closure @ V::Closure(_)]) => {
            let _ = closure;
            Ok(V::array(items.to_vec(), Base::Any))
        }
        _ => return None,
    })
}
