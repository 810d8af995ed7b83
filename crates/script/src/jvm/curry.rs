//! Closures with some of their arguments given in advance.

use super::classes::Class;
use super::fault::Outcome;
use super::machine::Machine;
use super::missing::unknown;
use super::model::Instance;
use super::objects::Object;
use super::value::V;

/// The closure that `curry`, `rcurry` and `ncurry` return.
#[derive(Debug)]
struct Curried {
    closure: V,
    /// The position of the given arguments among all arguments; `None` for the end.
    at: Option<usize>,
    given: Vec<V>,
}

/// The result of `curry`, `rcurry` or `ncurry`.
pub fn curried(closure: &V, method: &str, arguments: &[V]) -> Outcome {
    let (at, given) = match (method, arguments) {
        ("curry", given) => (Some(0), given),
        ("rcurry", given) => (None, given),
        ("ncurry", [at, given @ ..]) => {
            let at = at.as_long().and_then(|at| usize::try_from(at).ok());
            (Some(at.ok_or_else(|| unknown(closure, method))?), given)
        }
        _ => return Err(unknown(closure, method)),
    };
    let curried = Curried { closure: closure.clone(), at, given: given.to_vec() };
    Ok(V::object(Object::Library(Box::new(curried))))
}

/// The closure `first >> second`, which calls `second` with the result of `first`.
#[derive(Debug)]
struct Composed {
    second: V,
    first: V,
}

/// The closure that calls `first`, and then `second` with the result of `first`.
pub fn composed(second: &V, first: &V) -> V {
    V::object(Object::Library(Box::new(Composed { second: second.clone(), first: first.clone() })))
}

impl Instance for Composed {
    fn class(&self) -> Class {
        Class::known("Closure")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match method {
            "call" | "doCall" => {
                let value = machine.call_value(&self.first, arguments.to_vec())?;
                machine.call_value(&self.second, vec![value])
            }
            _ => Err(unknown(object, method)),
        }
    }
}

impl Instance for Curried {
    fn take_values(&mut self, values: &mut Vec<V>) {
        values.push(std::mem::replace(&mut self.closure, V::NULL));
        values.append(&mut self.given);
    }

    fn class(&self) -> Class {
        Class::known("Closure")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match method {
            "call" | "doCall" => {
                let mut all = arguments.to_vec();
                let at = self.at.unwrap_or(all.len()).min(all.len());
                all.splice(at..at, self.given.iter().cloned());
                machine.call_value(&self.closure, all)
            }
            "curry" | "rcurry" | "ncurry" => curried(object, method, arguments),
            _ => Err(unknown(object, method)),
        }
    }
}
