//! `Comparator` and what makes them, and streams that begin with numbers or items.

use super::super::classes::Class;
use super::super::fault::{Outcome, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::operators::compare;
use super::super::value::V;
use super::instance::{Instance, Offer, not_made};
use super::unknown;

/// The classes of this file.
pub const OFFERS: &[Offer] = &[
    Offer {
        class: "Comparator",
        statics: "naturalOrder reverseOrder comparing comparingInt comparingLong comparingDouble",
        made: None,
        methods: "compare reversed thenComparing",
        call: |_, method, arguments| match (method, arguments) {
            ("naturalOrder", []) => Ok(comparator(Order::Natural)),
            ("reverseOrder", []) => Ok(reversed(comparator(Order::Natural))),
            ("comparing" | "comparingInt" | "comparingLong" | "comparingDouble", [key]) => {
                Ok(comparator(Order::By(key.clone())))
            }
            _ => Err(unsupported(format!("`Comparator.{method}` with these arguments"))),
        },
        make: not_made,
    },
    Offer {
        class: "IntStream",
        statics: "range rangeClosed of iterate",
        made: None,
        methods: "",
        call: stream,
        make: not_made,
    },
    Offer {
        class: "LongStream",
        statics: "range rangeClosed of",
        made: None,
        methods: "",
        call: stream,
        make: not_made,
    },
    Offer {
        class: "Stream",
        statics: "of empty concat",
        made: None,
        methods: "",
        call: stream,
        make: not_made,
    },
];

/// `IntStream.range(1, 5)` and its like: a stream is the list of its items.
fn stream(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("a stream of `{method}` with these arguments"));
    match (method, arguments) {
        ("range" | "rangeClosed", [from, to]) => {
            let (Some(from), Some(to)) = (from.as_long(), to.as_long()) else { return Err(wrong()) };
            let to = if method == "range" { to } else { to.saturating_add(1) };
            let count = usize::try_from(to.saturating_sub(from)).unwrap_or(0);
            machine.spend(count)?;
            if count > 1 << 20 {
                return Err(super::super::fault::limit("a stream of a million numbers"));
            }
            Ok(V::list((from..to.max(from)).map(V::int).collect()))
        }
        ("of", [V::Array(array)]) => Ok(V::list(array.items.borrow().clone())),
        ("of", items) => Ok(V::list(items.to_vec())),
        ("empty", []) => Ok(V::list(Vec::new())),
        ("concat", [a, b]) => {
            let mut items = a.items().ok_or_else(wrong)?;
            items.extend(b.items().ok_or_else(wrong)?);
            Ok(V::list(items))
        }
        _ => Err(wrong()),
    }
}

#[derive(Debug)]
enum Order {
    Natural,
    IgnoringCase,
    By(V),
    Reversed(V),
    Then(V, V),
}

fn comparator(order: Order) -> V {
    V::object(Object::Library(Box::new(order)))
}

fn reversed(other: V) -> V {
    comparator(Order::Reversed(other))
}

/// `String.CASE_INSENSITIVE_ORDER`
pub fn ignoring_case() -> V {
    comparator(Order::IgnoringCase)
}

/// `Collections.reverseOrder()`, with a comparator or without.
pub fn reverse_order(other: Option<&V>) -> V {
    reversed(other.cloned().unwrap_or_else(|| comparator(Order::Natural)))
}

impl Instance for Order {
    fn class(&self) -> Class {
        Class::known("Comparator")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("compare" | "call", [a, b]) => self.compared(machine, a, b),
            ("reversed", []) => Ok(reversed(object.clone())),
            ("thenComparing", [other @ V::Closure(own)]) if own.function.parameters.len() != 2 => {
                Ok(comparator(Order::Then(object.clone(), comparator(Order::By(other.clone())))))
            }
            ("thenComparing", [other]) => Ok(comparator(Order::Then(object.clone(), other.clone()))),
            _ => Err(unknown(object, method)),
        }
    }
}

impl Order {
    fn compared(&self, machine: &mut Machine<'_>, a: &V, b: &V) -> Outcome {
        Ok(match self {
            Order::Natural => V::int(compare(a, b)? as i64),
            Order::IgnoringCase => return machine.invoke(a, "compareToIgnoreCase", vec![b.clone()]),
            Order::By(key) => {
                let (a, b) =
                    (machine.call_value(key, vec![a.clone()])?, machine.call_value(key, vec![b.clone()])?);
                V::int(compare(&a, &b)? as i64)
            }
            Order::Reversed(other) => return machine.invoke(other, "compare", vec![b.clone(), a.clone()]),
            Order::Then(first, second) => {
                let order = machine.invoke(first, "compare", vec![a.clone(), b.clone()])?;
                if order.as_long() == Some(0) {
                    return machine.invoke(second, "compare", vec![a.clone(), b.clone()]);
                }
                order
            }
        })
    }
}
