//! Functions of `java.lang.Math`.

use super::convert::{self, number_of};
use super::fault::{Fault, Outcome};
use crate::Value;
use crate::language::JavaLike;

fn mismatch(method: &str, value: &Value) -> Fault {
    Fault::new(format!("`{method}` of {} is not supported", value.type_name()))
}

pub(crate) fn math(method: &str, arguments: &[Value], language: JavaLike) -> Outcome {
    if arguments.len() > 1 && arguments.iter().any(|value| matches!(value, Value::Decimal(_))) {
        return Err(Fault::new(format!("`Math.{method}` of BigDecimals is not supported")));
    }
    let numbers = arguments.iter().map(|value| number_of(value, language)).collect::<Result<Vec<_>, _>>()?;
    match (method, numbers.as_slice()) {
        ("abs", [Value::Integer(value)]) => Ok(Value::Integer(value.wrapping_abs())),
        ("abs", [Value::Long(value)]) => Ok(Value::Long(value.wrapping_abs())),
        ("abs", [Value::Double(value)]) => Ok(Value::Double(value.abs())),
        ("max", [Value::Integer(a), Value::Integer(b)]) => Ok(Value::Integer(*a.max(b))),
        ("min", [Value::Integer(a), Value::Integer(b)]) => Ok(Value::Integer(*a.min(b))),
        ("max" | "min", [a, b]) => extreme(method == "max", a, b),
        // Java converts the int to a float, which is exact up to 2^24.
        ("round", [Value::Integer(value)]) if value.unsigned_abs() < 1 << 24 => Ok(Value::Integer(*value)),
        ("round", [Value::Double(value)]) => {
            // Java rounds halves up, towards positive infinity.
            let floor = value.floor();
            Ok(Value::Long(if value - floor >= 0.5 { floor + 1.0 } else { floor } as i64))
        }
        (_, [value]) => {
            let value = convert::to_double(value).ok_or_else(|| mismatch(method, value))?;
            Ok(Value::Double(match method {
                "ceil" => value.ceil(),
                "floor" => value.floor(),
                "sqrt" => value.sqrt(),
                _ => return Err(Fault::new(format!("`Math.{method}` of these arguments is not supported"))),
            }))
        }
        _ => Err(Fault::new(format!("`Math.{method}` of these arguments is not supported"))),
    }
}

fn extreme(greatest: bool, a: &Value, b: &Value) -> Outcome {
    let long = |value: &Value| match value {
        Value::Integer(value) => Some(i64::from(*value)),
        Value::Long(value) => Some(*value),
        _ => None,
    };
    if let (Some(a), Some(b)) = (long(a), long(b)) {
        return Ok(Value::Long(if greatest { a.max(b) } else { a.min(b) }));
    }
    match (convert::to_double(a), convert::to_double(b)) {
        (Some(a), Some(b)) if a.is_nan() || b.is_nan() => Ok(Value::Double(f64::NAN)),
        (Some(a), Some(b)) => Ok(Value::Double(if greatest { a.max(b) } else { a.min(b) })),
        _ => Err(mismatch("Math.max", a)),
    }
}
