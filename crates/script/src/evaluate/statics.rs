//! Static methods and constructors of the JDK's classes.

use super::convert::{self, number_of};
use super::{Fault, Outcome};
use crate::number::{java_parse_double, java_parse_long};
use crate::syntax::Dialect;
use crate::syntax::names::Class;
use crate::{Scope, Value};

fn no_number(text: &str) -> Fault {
    Fault::new(format!("`{text}` is no number"))
}

fn mismatch(method: &str, value: &Value) -> Fault {
    Fault::new(format!("`{method}` of {} is not supported", value.type_name()))
}

pub(super) fn parse_integer(text: &str) -> Outcome {
    let value = java_parse_long(text).and_then(|value| i32::try_from(value).ok());
    value.map(Value::Integer).ok_or_else(|| no_number(text))
}

pub(super) fn parse_long(text: &str) -> Outcome {
    java_parse_long(text).map(Value::Long).ok_or_else(|| no_number(text))
}

pub(super) fn parse_double(text: &str) -> Outcome {
    java_parse_double(text).map(Value::Double).ok_or_else(|| no_number(text))
}

pub(super) fn call(
    class: Class,
    method: &'static str,
    arguments: &[Value],
    dialect: Dialect,
    scope: &mut dyn Scope,
) -> Outcome {
    let first = arguments.first().unwrap_or(&Value::Null);
    match (class, method, first) {
        (Class::System, ..) => Ok(Value::Long(scope.wall_clock_ms())),
        (Class::Uuid, ..) => Ok(Value::Text(uuid(scope).into())),
        (Class::Math, "random", _) => Ok(Value::Double(unit(scope.random_bits()))),
        (Class::Math, ..) => math(method, arguments, dialect),
        (Class::Text, _, Value::Null) => Err(Fault::new("`String.valueOf(null)` is not supported")),
        (Class::Text, _, value) => Ok(Value::Text(convert::printed(value, dialect)?.into())),
        (Class::Boolean, "toString", Value::Boolean(value)) => Ok(Value::text(value.to_string())),
        (Class::Boolean, "valueOf", Value::Boolean(value)) => Ok(Value::Boolean(*value)),
        (Class::Boolean, "parseBoolean" | "valueOf", Value::Text(text)) => {
            Ok(Value::Boolean(text.eq_ignore_ascii_case("true")))
        }
        (Class::Integer, "parseInt" | "valueOf", Value::Text(text)) => parse_integer(text),
        (Class::Integer, "valueOf", Value::Integer(_)) | (Class::Long, "valueOf", Value::Long(_)) => {
            Ok(first.clone())
        }
        (Class::Long, "valueOf", Value::Integer(value)) => Ok(Value::Long(i64::from(*value))),
        (Class::Integer, "toString", Value::Integer(_))
        | (Class::Long, "toString", Value::Integer(_) | Value::Long(_)) => {
            Ok(Value::text(first.to_java_string()))
        }
        (Class::Long, "parseLong" | "valueOf", Value::Text(text)) => parse_long(text),
        (Class::Double, "parseDouble" | "valueOf", Value::Text(text)) => parse_double(text),
        (Class::Double, "valueOf", Value::Double(_)) => Ok(first.clone()),
        (Class::Double, "toString", Value::Double(_)) => Ok(Value::text(first.to_java_string())),
        _ => Err(mismatch(method, first)),
    }
}

pub(super) fn construct(class: Class, arguments: &[Value]) -> Outcome {
    match (class, arguments) {
        (Class::Random, []) => Ok(Value::Random),
        (Class::Text, [Value::Text(text)]) => Ok(Value::Text(text.clone())),
        _ => Err(Fault::new("this constructor is not supported")),
    }
}

pub(crate) fn math(method: &str, arguments: &[Value], dialect: Dialect) -> Outcome {
    if arguments.len() > 1 && arguments.iter().any(|value| matches!(value, Value::Decimal(_))) {
        return Err(Fault::new(format!("`Math.{method}` of BigDecimals is not supported")));
    }
    let numbers = arguments.iter().map(|value| number_of(value, dialect)).collect::<Result<Vec<_>, _>>()?;
    match (method, numbers.as_slice()) {
        ("abs", [Value::Integer(value)]) => Ok(Value::Integer(value.wrapping_abs())),
        ("abs", [Value::Long(value)]) => Ok(Value::Long(value.wrapping_abs())),
        ("abs", [Value::Double(value)]) => Ok(Value::Double(value.abs())),
        ("max", [Value::Integer(a), Value::Integer(b)]) => Ok(Value::Integer(*a.max(b))),
        ("min", [Value::Integer(a), Value::Integer(b)]) => Ok(Value::Integer(*a.min(b))),
        ("max" | "min", [a, b]) => extreme(method == "max", a, b),
        // By way of a float, which holds no more digits.
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
                _ => return Err(Fault::new(format!("`Math.{method}` of these is not supported"))),
            }))
        }
        _ => Err(Fault::new(format!("`Math.{method}` of these is not supported"))),
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

/// A double in [0, 1) with 53 random bits.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A whole number in [0, bound), without bias (Lemire, "Fast Random Integer Generation in an Interval", 2019).
fn below(bound: u64, scope: &mut dyn Scope) -> u64 {
    let threshold = bound.wrapping_neg() % bound;
    loop {
        let product = u128::from(scope.random_bits()) * u128::from(bound);
        if product as u64 >= threshold {
            return (product >> 64) as u64;
        }
    }
}

fn uuid(scope: &mut dyn Scope) -> String {
    let bits = (u128::from(scope.random_bits()) << 64) | u128::from(scope.random_bits());
    // Version 4, variant 1 (RFC 9562).
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Methods of `java.util.Random`.
pub(super) fn random(method: &str, arguments: &[Value], scope: &mut dyn Scope) -> Outcome {
    match (method, arguments) {
        ("nextInt", []) => Ok(Value::Integer(scope.random_bits() as i32)),
        ("nextInt", [Value::Integer(bound)]) => match u64::try_from(*bound) {
            Ok(bound) if bound > 0 => Ok(Value::Integer(below(bound, scope) as i32)),
            _ => Err(Fault::new("the bound must be positive")),
        },
        ("nextDouble", []) => Ok(Value::Double(unit(scope.random_bits()))),
        ("nextBoolean", []) => Ok(Value::Boolean(scope.random_bits() >> 63 == 1)),
        _ => Err(Fault::new(format!("`{method}` of a Random is not supported"))),
    }
}
