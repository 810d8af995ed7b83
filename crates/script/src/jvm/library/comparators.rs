//! The class `Comparator`, and static methods that create streams.

use super::super::classes::Class;
use super::super::fault::{Outcome, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::operators::compare;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor};
use super::unknown;

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "Comparator",
        statics: "naturalOrder reverseOrder comparing comparingInt comparingLong comparingDouble",
        constructor_arguments: None,
        methods: "compare reversed thenComparing",
        call_static: |_, method, arguments| match (method, arguments) {
            ("naturalOrder", []) => Ok(comparator(Comparator::Natural)),
            ("reverseOrder", []) => Ok(reversed(comparator(Comparator::Natural))),
            ("comparing" | "comparingInt" | "comparingLong" | "comparingDouble", [key]) => {
                Ok(comparator(Comparator::ByKey(key.clone())))
            }
            _ => Err(unsupported(format!("`Comparator.{method}` with these arguments"))),
        },
        construct: no_constructor,
    },
    LibraryClass {
        class: "IntStream",
        statics: "range rangeClosed of iterate",
        constructor_arguments: None,
        methods: "",
        call_static: stream,
        construct: no_constructor,
    },
    LibraryClass {
        class: "LongStream",
        statics: "range rangeClosed of",
        constructor_arguments: None,
        methods: "",
        call_static: stream,
        construct: no_constructor,
    },
    LibraryClass {
        class: "Stream",
        statics: "of empty concat",
        constructor_arguments: None,
        methods: "",
        call_static: stream,
        construct: no_constructor,
    },
];

/// Calls static methods that create streams, such as `IntStream.range(1, 5)`. A stream is represented by the list of its items.
fn stream(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("a stream of `{method}` with these arguments"));
    match (method, arguments) {
        ("range" | "rangeClosed", [from, to]) => {
            let (Some(from), Some(to)) = (from.as_long(), to.as_long()) else { return Err(wrong()) };
            let to = if method == "range" { to } else { to.saturating_add(1) };
            let count = usize::try_from(to.saturating_sub(from)).unwrap_or(0);
            machine.spend(count)?;
            if count > 1 << 20 {
                return Err(super::super::fault::limit("a stream of more than 1048576 numbers"));
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
enum Comparator {
    Natural,
    IgnoreCase,
    ByKey(V),
    Reversed(V),
    Then(V, V),
}

fn comparator(comparator: Comparator) -> V {
    V::object(Object::Library(Box::new(comparator)))
}

fn reversed(other: V) -> V {
    comparator(Comparator::Reversed(other))
}

/// The object `String.CASE_INSENSITIVE_ORDER`.
pub fn ignoring_case() -> V {
    comparator(Comparator::IgnoreCase)
}

/// Implements `Collections.reverseOrder()` and `Collections.reverseOrder(comparator)`.
pub fn reverse_order(other: Option<&V>) -> V {
    reversed(other.cloned().unwrap_or_else(|| comparator(Comparator::Natural)))
}

impl Instance for Comparator {
    fn class(&self) -> Class {
        Class::known("Comparator")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("compare" | "call", [a, b]) => self.apply(machine, a, b),
            ("reversed", []) => Ok(reversed(object.clone())),
            ("thenComparing", [other @ V::Closure(own)]) if own.function.parameters.len() != 2 => {
                Ok(comparator(Comparator::Then(object.clone(), comparator(Comparator::ByKey(other.clone())))))
            }
            ("thenComparing", [other]) => Ok(comparator(Comparator::Then(object.clone(), other.clone()))),
            _ => Err(unknown(object, method)),
        }
    }
}

impl Comparator {
    fn apply(&self, machine: &mut Machine<'_>, a: &V, b: &V) -> Outcome {
        Ok(match self {
            Comparator::Natural => V::int(compare(a, b)? as i64),
            Comparator::IgnoreCase => return machine.invoke(a, "compareToIgnoreCase", vec![b.clone()]),
            Comparator::ByKey(key) => {
                let (a, b) =
                    (machine.call_value(key, vec![a.clone()])?, machine.call_value(key, vec![b.clone()])?);
                V::int(compare(&a, &b)? as i64)
            }
            Comparator::Reversed(other) => {
                return machine.invoke(other, "compare", vec![b.clone(), a.clone()]);
            }
            Comparator::Then(first, second) => {
                let order = machine.invoke(first, "compare", vec![a.clone(), b.clone()])?;
                if order.as_long() == Some(0) {
                    return machine.invoke(second, "compare", vec![a.clone(), b.clone()]);
                }
                order
            }
        })
    }
}
