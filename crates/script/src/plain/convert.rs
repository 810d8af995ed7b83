//! Truth, conversions between types, texts of values.

use std::sync::Arc;

use super::fault::{Fault, Outcome};
use crate::Value;
use crate::java_like::Decimal;
use crate::syntax::Dialect;
use crate::syntax::ast::Type;

/// The value as a condition.
pub(crate) fn truth(value: &Value, dialect: Dialect) -> Result<bool, Fault> {
    if dialect == Dialect::BeanShell {
        return match value {
            Value::Boolean(value) => Ok(*value),
            other => Err(Fault::new(format!("a condition must be a boolean, not {}", other.type_name()))),
        };
    }
    let jexl = dialect.is_jexl();
    Ok(match value {
        Value::Null if jexl => return Err("null is no condition".into()),
        Value::Null => false,
        Value::Boolean(value) => *value,
        Value::Character(unit) if !jexl => *unit != 0,
        Value::Integer(value) => *value != 0,
        Value::Long(value) => *value != 0,
        Value::BigInteger(value) => *value != 0,
        Value::Float(value) => *value != 0.0 && (!jexl || !value.is_nan()),
        Value::Double(value) => *value != 0.0 && (!jexl || !value.is_nan()),
        Value::Decimal(value) => !value.is_zero(),
        Value::Text(text) if jexl => !matches!(&**text, "" | "false"),
        Value::Text(text) => !text.is_empty(),
        Value::List(items) | Value::Array(items) if !jexl => !items.is_empty(),
        _ => dialect == Dialect::Jexl3,
    })
}

/// The text that the value adds to another text.
pub(crate) fn printed(value: &Value, dialect: Dialect) -> Result<String, Fault> {
    match value {
        Value::Array(_) if dialect == Dialect::Groovy => Ok(value.to_java_string()),
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
    Fault::new(format!("{} does not become {target} here", value.type_name()))
}

/// Converts a value that is assigned to a variable of that type.
pub(crate) fn assigned(value: Value, target: Type, dialect: Dialect) -> Outcome {
    match (target, &value) {
        (Type::Text, Value::Text(_) | Value::Null) => Ok(value),
        (Type::Text, _) if dialect == Dialect::Groovy => Ok(Value::Text(printed(&value, dialect)?.into())),
        (Type::Boolean, Value::Boolean(_)) => Ok(value),
        (Type::Boolean, _) if dialect == Dialect::Groovy => Ok(Value::Boolean(truth(&value, dialect)?)),
        (Type::Int | Type::Long | Type::Double, _) if dialect == Dialect::Groovy => {
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

/// Converts the first value of a declared variable: BeanShell narrows numbers here, but not in assignments.
pub(crate) fn declared(value: Value, target: Type, dialect: Dialect) -> Outcome {
    match (dialect, target, &value) {
        (
            Dialect::BeanShell,
            Type::Int | Type::Long,
            Value::Integer(_) | Value::Long(_) | Value::Double(_),
        ) => numeric(&value, target, false),
        _ => assigned(value, target, dialect),
    }
}

/// Groovy's `x as int`.
pub(crate) fn converted(value: Value, target: Type) -> Outcome {
    match (target, &value) {
        (_, Value::Null) => Ok(Value::Null),
        (Type::Text, _) => assigned(value, Type::Text, Dialect::Groovy),
        (Type::Int, Value::Text(text)) => super::parse::parse_integer(trimmed(text)),
        (Type::Long, Value::Text(text)) => super::parse::parse_long(trimmed(text)),
        (Type::Double, Value::Text(text)) => super::parse::parse_double(text),
        _ => numeric(&value, target, false),
    }
}

/// Java's `trim`.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// `(int) x` and its like.
pub(crate) fn cast(value: Value, target: Type, dialect: Dialect) -> Outcome {
    match (target, &value) {
        (Type::Int | Type::Long | Type::Double, _) => numeric(&value, target, dialect == Dialect::Groovy),
        (Type::Text, Value::Text(_) | Value::Null) => Ok(value),
        (Type::Text | Type::Boolean, _) if dialect == Dialect::Groovy => assigned(value, target, dialect),
        (Type::Boolean, Value::Boolean(_)) => Ok(value),
        _ => Err(mismatch(&value, target)),
    }
}

/// Java's numeric conversions; in Groovy a text of one character counts as that character's code.
fn numeric(value: &Value, target: Type, single_text: bool) -> Outcome {
    let from_long = |value: i64| match target {
        Type::Int => Value::Integer(value as i32),
        Type::Long => Value::Long(value),
        _ => Value::Double(value as f64),
    };
    let from_double = |value: f64| match target {
        // Java and Rust both saturate and take NaN for zero.
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

/// The one UTF-16 unit of a text that has just one.
pub(crate) fn single_unit(text: &str) -> Option<u16> {
    let mut units = text.encode_utf16();
    match (units.next(), units.next()) {
        (Some(unit), None) => Some(unit),
        _ => None,
    }
}

/// The nearest double of a number.
pub(crate) fn to_double(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Integer(value) => f64::from(*value),
        Value::Long(value) => *value as f64,
        Value::BigInteger(value) => *value as f64,
        // By way of the text, so that 1.1f is 1.1.
        Value::Float(value) => f64::from(*value),
        Value::Double(value) => *value,
        Value::Decimal(value) => value.to_double(),
        _ => return None,
    })
}

/// A number as the methods of `Math` take it: decimals become doubles.
pub(crate) fn number_of(value: &Value, dialect: Dialect) -> Outcome {
    match value {
        Value::Integer(_) | Value::Long(_) | Value::Double(_) => Ok(value.clone()),
        Value::Decimal(value) if dialect == Dialect::Groovy => Ok(Value::Double(value.to_double())),
        other => Err(Fault::new(format!("{} is no argument of a method of Math here", other.type_name()))),
    }
}

/// A whole number as a decimal.
pub(crate) fn to_decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Integer(value) => Some(Decimal::whole(i64::from(*value))),
        Value::Long(value) => Some(Decimal::whole(*value)),
        Value::Decimal(value) => Some(*value),
        _ => None,
    }
}

/// `value[index]`.
pub(crate) fn index(value: &Value, index: &Value, dialect: Dialect) -> Outcome {
    let Value::Integer(index) = index else {
        return Err(Fault::new(format!("an index of {} is not supported", index.type_name())));
    };
    let wrap = |len: usize| {
        // Groovy counts negative indices from the end.
        let at = if *index < 0 && dialect == Dialect::Groovy {
            i64::from(*index) + len as i64
        } else {
            i64::from(*index)
        };
        usize::try_from(at).ok().filter(|at| *at < len)
    };
    match value {
        Value::Array(items) => wrap(items.len())
            .map(|at| items[at].clone())
            .ok_or_else(|| Fault::new(format!("there is no item {index}"))),
        Value::List(items) => match wrap(items.len()) {
            Some(at) => Ok(items[at].clone()),
            None if *index >= 0 && dialect == Dialect::Groovy => Ok(Value::Null),
            None => Err(Fault::new(format!("there is no item {index}"))),
        },
        Value::Text(text) if dialect == Dialect::Groovy => {
            let units: Vec<u16> = text.encode_utf16().collect();
            let at = wrap(units.len()).ok_or_else(|| Fault::new(format!("there is no character {index}")))?;
            Ok(Value::Text(Arc::from(String::from_utf16_lossy(&units[at..=at]))))
        }
        other => Err(Fault::new(format!("an index into {} is not supported", other.type_name()))),
    }
}
