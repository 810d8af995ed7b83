//! Commons Lang's `RandomUtils`.

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::random::JavaRandom;
use super::super::types;
use super::super::value::V;
use super::instance::{LibraryClass, no_constructor};

/// The class of this file.
pub const CLASSES: &[LibraryClass] = &[LibraryClass {
    class: "RandomUtils",
    statics: "nextInt nextLong nextDouble nextFloat nextBoolean nextBytes",
    constructor_arguments: None,
    methods: "",
    call_static: call,
    construct: no_constructor,
}];

fn check_range(from: f64, to: f64) -> Result<(), Fault> {
    if to < from {
        let message = "Start value must be smaller or equal to end value.";
        return Err(thrown("IllegalArgumentException", message));
    }
    if from < 0.0 {
        return Err(thrown("IllegalArgumentException", "Both range values must be non-negative."));
    }
    Ok(())
}

fn call(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let mut random = JavaRandom::new(machine.scope.random_bits() as i64);
    let wrong = || unsupported(format!("`RandomUtils.{method}` with these arguments"));
    match (method, arguments) {
        ("nextBoolean", []) => Ok(V::truth(random.boolean())),
        ("nextBytes", [count]) => {
            let count = usize::try_from(count.as_long().ok_or_else(wrong)?)
                .map_err(|_| thrown("IllegalArgumentException", "Count cannot be negative."))?;
            machine.spend(count)?;
            let bytes: Vec<u8> = (0..count).map(|_| random.int() as u8).collect();
            Ok(V::bytes(&bytes))
        }
        ("nextInt" | "nextLong", [] | [_, _]) => {
            let bound = if method == "nextInt" { i64::from(i32::MAX) } else { i64::MAX };
            let (from, to) = match arguments {
                [from, to] => (from.as_long().ok_or_else(wrong)?, to.as_long().ok_or_else(wrong)?),
                _ => (0, bound),
            };
            check_range(from as f64, to as f64)?;
            let width = (to - from).max(1) as u64;
            let value = from + (machine.scope.random_bits() % width) as i64;
            Ok(if method == "nextInt" { V::int(value) } else { V::long(value) })
        }
        ("nextDouble" | "nextFloat", [] | [_, _]) => {
            let (from, to) = match arguments {
                [from, to] => (types::number(from)?, types::number(to)?),
                _ if method == "nextFloat" => (0.0, f64::from(f32::MAX)),
                _ => (0.0, f64::MAX),
            };
            check_range(from, to)?;
            let value = from + random.double() * (to - from);
            if method == "nextDouble" {
                return Ok(V::double(value));
            }
            Ok(V::Plain(crate::Value::Float(value as f32)))
        }
        _ => Err(wrong()),
    }
}
