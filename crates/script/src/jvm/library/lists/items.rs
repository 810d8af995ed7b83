//! Functions that the methods of lists share: calls of closures with items, sorting, shuffling.

use std::cmp::Ordering;

use super::super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::super::machine::Machine;
use super::super::super::objects::Object;
use super::super::super::operators::{SameAs, compare};
use super::super::super::patterns;
use super::super::super::truth::truth;
use super::super::super::value::V;

/// Whether a closure returns a value for the item that is true as a condition.
pub fn is_true_for(machine: &mut Machine<'_>, closure: &V, item: V) -> Result<bool, Fault> {
    let value = call_with(machine, closure, item)?;
    truth(machine, &value)
}

/// Calls a closure with an item. If the item is an entry, a closure with two parameters receives its key and value.
pub fn call_with(machine: &mut Machine<'_>, closure: &V, item: V) -> Outcome {
    if let (V::Object(object), V::Closure(own)) = (&item, closure)
        && let Object::Entry(key, value) = &**object
        && own.function.parameters.len() == 2
    {
        return machine.call_value(closure, vec![key.clone(), value.clone()]);
    }
    machine.call_value(closure, vec![item])
}

/// Implements `eachLine`. A closure with two parameters also receives the line's number. Returns the closure's last result.
pub fn each_line<T: AsRef<str>>(
    machine: &mut Machine<'_>,
    lines: impl Iterator<Item = T>,
    first: i64,
    closure: &V,
) -> Outcome {
    let two = matches!(closure, V::Closure(own) if own.function.parameters.len() == 2);
    let mut last = V::NULL;
    for (at, line) in (first..).zip(lines) {
        let mut arguments = vec![V::text(line)];
        if two {
            arguments.push(V::int(at));
        }
        last = machine.call_value(closure, arguments)?;
    }
    Ok(last)
}

/// Implements `splitEachLine`, which passes the parts of each line as a list.
pub fn split_each_line<T: AsRef<str>>(
    machine: &mut Machine<'_>,
    lines: impl Iterator<Item = T>,
    pattern: &str,
    closure: &V,
) -> Outcome {
    let mut last = V::NULL;
    for line in lines {
        machine.spend_text(line.as_ref().len())?;
        let parts = patterns::split(line.as_ref(), pattern, 0)?;
        last = machine.call_value(closure, vec![V::list(parts.into_iter().map(V::text).collect())])?;
    }
    Ok(last)
}

/// Shuffles as Java does: from the end, swaps each item with a random item that is not after it.
pub fn shuffle(machine: &mut Machine<'_>, items: &mut [V], random: Option<&V>) -> Result<(), Fault> {
    machine.spend(items.len() / 4)?;
    let mut own = super::super::super::random::JavaRandom::new(machine.scope.random_bits() as i64);
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

/// Converts a value to an index; `usize::MAX` if the value is not a valid index.
pub fn index_of(value: &V) -> usize {
    value.as_long().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX)
}

/// Compares two items with a closure.
pub fn call_comparison(machine: &mut Machine<'_>, closure: &V, left: &V, right: &V) -> Result<i64, Fault> {
    let order = machine.call_value(closure, vec![left.clone(), right.clone()])?;
    match (order.as_long(), &order) {
        (Some(order), _) => Ok(order),
        (None, V::Plain(plain)) if crate::plain::to_double(plain).is_some() => {
            Ok(crate::plain::to_double(plain).unwrap_or(0.0) as i64)
        }
        _ => {
            let class = super::super::super::missing::class_name(&order);
            let message = format!("Cannot cast the result of a comparison, a {class}, to int");
            Err(thrown("GroovyCastException", message))
        }
    }
}

/// Sorts by a comparator, a closure of one item (a key) or two items (a comparison), or by the natural order.
pub fn sorted(machine: &mut Machine<'_>, items: Vec<V>, by: Option<&V>) -> Result<Vec<V>, Fault> {
    machine.spend(items.len())?;
    let mut failed = None;
    let mut items = items;
    let is_comparator = |by: &V| matches!(by, V::Object(object) if object.class().name() == "Comparator");
    match by {
        Some(comparator) if is_comparator(comparator) => {
            let mut made: Vec<V> = Vec::with_capacity(items.len());
            for item in items {
                let (mut low, mut high) = (0, made.len());
                while low < high {
                    let middle = usize::midpoint(low, high);
                    let pair = vec![made[middle].clone(), item.clone()];
                    if machine.invoke(comparator, "compare", pair)?.as_long().unwrap_or(0) <= 0 {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                made.insert(low, item);
            }
            return Ok(made);
        }
        Some(closure @ V::Closure(own)) if own.function.parameters.len() == 2 => {
            // Binary insertion keeps equal items in their order and calls the closure for one pair at a time.
            let mut made: Vec<V> = Vec::with_capacity(items.len());
            for item in items {
                let (mut low, mut high) = (0, made.len());
                while low < high {
                    let middle = usize::midpoint(low, high);
                    if call_comparison(machine, closure, &made[middle], &item)? <= 0 {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                // Inserting into a long list moves about 2 kB per step.
                machine.spend((made.len() - low) / 64)?;
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

/// The first of each group of items that are equal, or equal according to a closure.
pub fn unique(machine: &mut Machine<'_>, items: Vec<V>, by: Option<&V>) -> Result<Vec<V>, Fault> {
    let mut kept: Vec<V> = Vec::new();
    if let Some(closure @ V::Closure(own)) = by
        && own.function.parameters.len() == 2
    {
        for item in items {
            let mut known = false;
            for other in &kept {
                known = known || call_comparison(machine, closure, other, &item)? == 0;
            }
            if !known {
                kept.push(item);
            }
        }
        return Ok(kept);
    }
    let mut keys = Vec::with_capacity(items.len());
    for item in &items {
        keys.push(match by {
            Some(closure) => call_with(machine, closure, item.clone())?,
            None => item.clone(),
        });
    }
    let mut known = SameAs::new(&keys);
    for (item, key) in items.into_iter().zip(keys) {
        if !known.contains(machine, &key)? {
            known.add(key);
            kept.push(item);
        }
    }
    Ok(kept)
}
