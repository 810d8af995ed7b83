//! Functions shared by the static methods of several classes.

use super::super::super::classes::Class;
use super::super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::super::machine::Machine;
use super::super::super::types;
use super::super::super::value::V;
use super::super::more_statics::floor_div;
use crate::Value;

pub fn wrong(class: &str, method: &str) -> Fault {
    unsupported(format!("`{class}.{method}` with these arguments"))
}

/// Calls a method of `Class`, such as `clazz.getSimpleName()`.
pub fn call_class_method(class: Class, method: &str) -> Outcome {
    match method {
        "getSimpleName" => Ok(V::text(class.name())),
        "getName" | "getTypeName" | "getCanonicalName" => Ok(V::text(class.qualified_name())),
        _ => Err(wrong(class.name(), method)),
    }
}

pub fn number_format_exception(text: &str) -> Fault {
    thrown("NumberFormatException", format!("For input string: \"{text}\""))
}

pub fn math(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("random", []) => Ok(V::double((machine.scope.random_bits() >> 11) as f64 / (1_u64 << 53) as f64)),
        ("pow", [a, b]) => Ok(V::double(types::number(a)?.powf(types::number(b)?))),
        ("atan2", [a, b]) => Ok(V::double(types::number(a)?.atan2(types::number(b)?))),
        ("floorMod", [a, b]) => match (a.as_long(), b.as_long()) {
            (Some(_), Some(0)) => Err(thrown("ArithmeticException", "/ by zero")),
            (Some(a), Some(b)) => {
                let value = a.wrapping_sub(floor_div(a, b).wrapping_mul(b));
                // As on Java 9 and later, the type is that of the divisor.
                Ok(if matches!(arguments[1], V::Plain(Value::Integer(_))) {
                    V::int(value)
                } else {
                    V::long(value)
                })
            }
            _ => Err(wrong("Math", method)),
        },
        ("toIntExact", [a]) => {
            let value = a.as_long().ok_or_else(|| wrong("Math", method))?;
            let overflow = |_| thrown("ArithmeticException", "integer overflow");
            i32::try_from(value).map_err(overflow).map(|value| V::int(value.into()))
        }
        ("round", [V::Plain(Value::Decimal(value))]) => Ok(V::long((value.to_double() + 0.5).floor() as i64)),
        ("round", [V::Plain(Value::Float(value))]) => Ok(V::int((f64::from(*value) + 0.5).floor() as i64)),
        (
            "exp" | "log" | "log10" | "sin" | "cos" | "tan" | "cbrt" | "signum" | "rint" | "toRadians"
            | "toDegrees",
            [a],
        ) => {
            let a = types::number(a)?;
            Ok(V::double(match method {
                "exp" => a.exp(),
                "log" => a.ln(),
                "log10" => a.log10(),
                "sin" => a.sin(),
                "cos" => a.cos(),
                "tan" => a.tan(),
                "cbrt" => a.cbrt(),
                "rint" => a.round_ties_even(),
                "toRadians" => a.to_radians(),
                "toDegrees" => a.to_degrees(),
                _ if a == 0.0 || a.is_nan() => a,
                _ => a.signum(),
            }))
        }
        _ => {
            let mut plain = Vec::new();
            for argument in arguments {
                match argument {
                    V::Plain(value) => plain.push(value.clone()),
                    _ => return Err(wrong("Math", method)),
                }
            }
            Ok(V::from(crate::plain::math(method, &plain, machine.language())?))
        }
    }
}
