//! Truth of values, conversions between types and to strings.

use super::fault::{Fault, Outcome};
use super::operator::Type;
use crate::Value;
use crate::decimal::Decimal;
use crate::language::JavaLike;

/// The truth of the value as a condition in Groovy.
pub(crate) fn truth(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Boolean(value) => *value,
        Value::Character(unit) => *unit != 0,
        Value::Integer(value) => *value != 0,
        Value::Long(value) => *value != 0,
        Value::BigInteger(value) => *value != 0,
        Value::Float(value) => *value != 0.0,
        Value::Double(value) => *value != 0.0,
        Value::Decimal(value) => !value.is_zero(),
        Value::Text(text) => !text.is_empty(),
        Value::List(items) | Value::Array(items) => !items.is_empty(),
    }
}

/// The text of the value when it is concatenated to a string.
pub(crate) fn printed(value: &Value, language: JavaLike) -> Result<String, Fault> {
    match value {
        Value::Array(_) if language == JavaLike::Groovy => Ok(value.to_java_string()),
        Value::Array(_) => Err(Fault::new(format!("the text of {} is not supported", value.type_name()))),
        _ => Ok(value.to_java_string()),
    }
}

fn mismatch(value: &Value, target: Type) -> Fault {
    let target = match target {
        Type::Int => "int",
        Type::Long => "long",
        Type::Double => "double",
        Type::Boolean => "boolean",
        Type::Text => "String",
    };
    Fault::new(format!("the conversion of {} to {target} is not supported", value.type_name()))
}

/// Converts a value that is assigned to a variable of this type.
pub(crate) fn assigned(value: Value, target: Type, language: JavaLike) -> Outcome {
    match (target, &value) {
        (Type::Text, Value::Text(_) | Value::Null) => Ok(value),
        (Type::Text, _) if language == JavaLike::Groovy => Ok(Value::Text(printed(&value, language)?.into())),
        (Type::Boolean, Value::Boolean(_)) => Ok(value),
        (Type::Boolean, _) if language == JavaLike::Groovy => Ok(Value::Boolean(truth(&value))),
        (Type::Int | Type::Long | Type::Double, _) if language == JavaLike::Groovy => {
            numeric(&value, target, true)
        }
        (Type::Int, Value::Integer(_)) => Ok(value),
        (Type::Long, Value::Integer(_) | Value::Long(_)) => numeric(&value, target, false),
        (Type::Double, Value::Integer(_) | Value::Long(_) | Value::Double(_)) => {
            numeric(&value, target, false)
        }
        _ => Err(mismatch(&value, target)),
    }
}

/// Converts the initial value of a typed variable. BeanShell narrows numbers here, but not in assignments.
pub(crate) fn declared(value: Value, target: Type, language: JavaLike) -> Outcome {
    match (language, target, &value) {
        (
            JavaLike::BeanShell,
            Type::Int | Type::Long,
            Value::Integer(_) | Value::Long(_) | Value::Double(_),
        ) => numeric(&value, target, false),
        _ => assigned(value, target, language),
    }
}

/// Evaluates Groovy's `x as int`.
pub(crate) fn converted(value: Value, target: Type) -> Outcome {
    match (target, &value) {
        (_, Value::Null) => Ok(Value::Null),
        (Type::Text, _) => assigned(value, Type::Text, JavaLike::Groovy),
        (Type::Int, Value::Text(text)) => super::parse::parse_integer(trimmed(text)),
        (Type::Long, Value::Text(text)) => super::parse::parse_long(trimmed(text)),
        (Type::Double, Value::Text(text)) => super::parse::parse_double(text),
        _ => numeric(&value, target, false),
    }
}

/// Implements Java's `trim`.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// Evaluates a cast, such as `(int) x`.
pub(crate) fn cast(value: Value, target: Type, language: JavaLike) -> Outcome {
    match (target, &value) {
        (Type::Int | Type::Long | Type::Double, _) => numeric(&value, target, language == JavaLike::Groovy),
        (Type::Text, Value::Text(_) | Value::Null) => Ok(value),
        (Type::Text | Type::Boolean, _) if language == JavaLike::Groovy => assigned(value, target, language),
        (Type::Boolean, Value::Boolean(_)) => Ok(value),
        _ => Err(mismatch(&value, target)),
    }
}

/// Applies Java's numeric conversions. With `single_text`, as in Groovy, a string of one character is converted to its code.
fn numeric(value: &Value, target: Type, single_text: bool) -> Outcome {
    let from_long = |value: i64| match target {
        Type::Int => Value::Integer(value as i32),
        Type::Long => Value::Long(value),
        _ => Value::Double(value as f64),
    };
    let from_double = |value: f64| match target {
        // Java and Rust both saturate and convert NaN to zero.
        Type::Int => Value::Integer(value as i32),
        Type::Long => Value::Long(value as i64),
        _ => Value::Double(value),
    };
    Ok(match value {
        Value::Integer(value) => from_long(i64::from(*value)),
        Value::Long(value) => from_long(*value),
        Value::Character(unit) => from_long(i64::from(*unit)),
        Value::Double(value) => from_double(*value),
        Value::Float(value) => from_double(f64::from(*value)),
        Value::Decimal(value) if target == Type::Double => Value::Double(value.to_double()),
        Value::Decimal(value) => from_long(value.truncate().ok_or("the number is too large")?),
        Value::Text(text) if single_text => from_long(i64::from(
            single_unit(text).ok_or_else(|| mismatch(&Value::Text(text.clone()), target))?,
        )),
        other => return Err(mismatch(other, target)),
    })
}

/// The UTF-16 unit of a string that consists of a single unit.
pub(crate) fn single_unit(text: &str) -> Option<u16> {
    let mut units = text.encode_utf16();
    match (units.next(), units.next()) {
        (Some(unit), None) => Some(unit),
        _ => None,
    }
}

/// The double that is nearest to a number.
pub(crate) fn to_double(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Integer(value) => f64::from(*value),
        Value::Long(value) => *value as f64,
        Value::BigInteger(value) => *value as f64,
        Value::Float(value) => f64::from(*value),
        Value::Double(value) => *value,
        Value::Decimal(value) => value.to_double(),
        _ => return None,
    })
}

/// Converts a number to an argument of a method of `Math`: decimals become doubles.
pub(crate) fn number_of(value: &Value, language: JavaLike) -> Outcome {
    match value {
        Value::Integer(_) | Value::Long(_) | Value::Double(_) => Ok(value.clone()),
        Value::Decimal(value) if language == JavaLike::Groovy => Ok(Value::Double(value.to_double())),
        other => Err(Fault::new(format!(
            "{} as an argument of a method of Math is not supported",
            other.type_name()
        ))),
    }
}

/// Converts an integer to a decimal.
pub(crate) fn to_decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Integer(value) => Some(Decimal::whole(i64::from(*value))),
        Value::Long(value) => Some(Decimal::whole(*value)),
        Value::Decimal(value) => Some(*value),
        _ => None,
    }
}

/// Evaluates Groovy's `text[index]`, which counts negative indices from the end.
pub(crate) fn character(text: &str, index: &Value) -> Outcome {
    let Value::Integer(index) = index else {
        return Err(Fault::new(format!("an index of {} is not supported", index.type_name())));
    };
    let units: Vec<u16> = text.encode_utf16().collect();
    let at = if *index < 0 { i64::from(*index) + units.len() as i64 } else { i64::from(*index) };
    let at = usize::try_from(at).ok().filter(|at| *at < units.len());
    let at = at.ok_or_else(|| Fault::new(format!("there is no character {index}")))?;
    Ok(Value::text(String::from_utf16_lossy(&units[at..=at])))
}
