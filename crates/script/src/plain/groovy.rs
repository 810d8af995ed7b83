//! The operators of Groovy: decimals by default, ints that wrap around, comparison by value.

use std::cmp::Ordering;

use crate::Value;
use crate::language::JavaLike;
use crate::plain::{Binary, Fault, Outcome, printed, single_unit, to_decimal, to_double};

/// The error for a decimal with more than 38 digits. Groovy's decimals have any number of digits.
const TOO_LONG: &str = "a decimal number of more than 38 digits is not supported";

pub(crate) fn binary(operator: Binary, left: &Value, right: &Value) -> Outcome {
    let boolean = |value: bool| Ok(Value::Boolean(value));
    match operator {
        Binary::Equal => boolean(equal(left, right)?),
        Binary::NotEqual => boolean(!equal(left, right)?),
        Binary::Less => boolean(compare(left, right)?.is_lt()),
        Binary::LessOrEqual => boolean(compare(left, right)?.is_le()),
        Binary::Greater => boolean(compare(left, right)?.is_gt()),
        Binary::GreaterOrEqual => boolean(compare(left, right)?.is_ge()),
        Binary::BitAnd | Binary::BitOr | Binary::BitXor => bitwise(operator, left, right),
        Binary::Add if is_text(left) || is_text(right) => joined(left, right),
        Binary::Subtract if is_text(left) => {
            let (text, part) = (printed(left, JavaLike::Groovy)?, printed(right, JavaLike::Groovy)?);
            Ok(Value::text(text.replacen(&part, "", 1)))
        }
        Binary::Multiply if is_text(left) => repeated(left, right),
        _ => match (left, right) {
            (Value::Character(unit), Value::Integer(_)) => {
                calculate(operator, &Value::Integer(i32::from(*unit)), right)
            }
            _ => calculate(operator, left, right),
        },
    }
}

fn refused(operator: Binary, left: &Value, right: &Value) -> Fault {
    Fault::new(format!("{operator:?} of {} and {} is not supported", left.type_name(), right.type_name()))
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

fn joined(left: &Value, right: &Value) -> Outcome {
    if matches!(left, Value::List(_) | Value::Array(_)) {
        return Err(refused(Binary::Add, left, right));
    }
    Ok(Value::Text((printed(left, JavaLike::Groovy)? + &printed(right, JavaLike::Groovy)?).into()))
}

fn repeated(text: &Value, times: &Value) -> Outcome {
    let (Value::Text(text), Value::Integer(times)) = (text, times) else {
        return Err(refused(Binary::Multiply, text, times));
    };
    let times = usize::try_from(*times)
        .map_err(|_| Fault::new("a string cannot be repeated a negative number of times"))?;
    if text.len().saturating_mul(times) > 1 << 24 {
        return Err(Fault::Limit("a string of more than 16 MiB".into()));
    }
    Ok(Value::text(text.repeat(times)))
}

fn bitwise(operator: Binary, left: &Value, right: &Value) -> Outcome {
    let apply = |a: i64, b: i64| match operator {
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        _ => a ^ b,
    };
    Ok(match (left, right) {
        (Value::Boolean(a), Value::Boolean(b)) => Value::Boolean(apply(i64::from(*a), i64::from(*b)) != 0),
        (Value::Integer(a), Value::Integer(b)) => Value::Integer(apply(i64::from(*a), i64::from(*b)) as i32),
        (Value::Integer(a), Value::Long(b)) => Value::Long(apply(i64::from(*a), *b)),
        (Value::Long(a), Value::Integer(b)) => Value::Long(apply(*a, i64::from(*b))),
        (Value::Long(a), Value::Long(b)) => Value::Long(apply(*a, *b)),
        _ => return Err(refused(operator, left, right)),
    })
}

/// Ranks of Groovy's number types. The greater rank of the two operands determines the arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Int,
    Long,
    Big,
    Decimal,
    Double,
}

fn rank(value: &Value) -> Option<Rank> {
    Some(match value {
        Value::Integer(_) => Rank::Int,
        Value::Long(_) => Rank::Long,
        Value::BigInteger(_) => Rank::Big,
        Value::Decimal(_) => Rank::Decimal,
        Value::Float(_) | Value::Double(_) => Rank::Double,
        _ => return None,
    })
}

fn long(value: &Value) -> i64 {
    match value {
        Value::Integer(value) => i64::from(*value),
        Value::Long(value) => *value,
        _ => 0,
    }
}

fn calculate(operator: Binary, left: &Value, right: &Value) -> Outcome {
    let (Some(a), Some(b)) = (rank(left), rank(right)) else {
        return Err(refused(operator, left, right));
    };
    match a.max(b) {
        Rank::Double => {
            // Floats become doubles, as in Groovy.
            let (Some(a), Some(b)) = (to_double(left), to_double(right)) else {
                return Err(refused(operator, left, right));
            };
            Ok(Value::Double(match operator {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::Multiply => a * b,
                Binary::Divide => a / b,
                _ => a % b,
            }))
        }
        Rank::Big => Err("calculating with a BigInteger is not supported".into()),
        Rank::Decimal => decimal(operator, left, right),
        _ if operator == Binary::Divide => decimal(operator, left, right),
        Rank::Int => {
            let (a, b) = (long(left) as i32, long(right) as i32);
            Ok(Value::Integer(match operator {
                Binary::Add => a.wrapping_add(b),
                Binary::Subtract => a.wrapping_sub(b),
                Binary::Multiply => a.wrapping_mul(b),
                _ if b == 0 => return Err("/ by zero".into()),
                _ => a.wrapping_rem(b),
            }))
        }
        Rank::Long => {
            let (a, b) = (long(left), long(right));
            Ok(Value::Long(match operator {
                Binary::Add => a.wrapping_add(b),
                Binary::Subtract => a.wrapping_sub(b),
                Binary::Multiply => a.wrapping_mul(b),
                _ if b == 0 => return Err("/ by zero".into()),
                _ => a.wrapping_rem(b),
            }))
        }
    }
}

fn decimal(operator: Binary, left: &Value, right: &Value) -> Outcome {
    let (Some(a), Some(b)) = (to_decimal(left), to_decimal(right)) else {
        return Err(refused(operator, left, right));
    };
    let result = match operator {
        Binary::Add => a.plus(b),
        Binary::Subtract => a.minus(b),
        Binary::Multiply => a.times(b),
        Binary::Divide if b.is_zero() && a.is_zero() => return Err("Division undefined".into()),
        Binary::Divide if b.is_zero() => return Err("Division by zero".into()),
        Binary::Divide => a.divide(b),
        _ => return Err("the remainder of a BigDecimal does not exist".into()),
    };
    result.map(Value::Decimal).ok_or_else(|| TOO_LONG.into())
}

fn compare_numbers(left: &Value, right: &Value) -> Result<Ordering, Fault> {
    let refused =
        || Fault::new(format!("comparing {} with {} is not supported", left.type_name(), right.type_name()));
    let rank = rank(left).zip(rank(right)).map(|(a, b)| a.max(b)).ok_or_else(refused)?;
    match rank {
        Rank::Int | Rank::Long => Ok(long(left).cmp(&long(right))),
        Rank::Big => Err(refused()),
        Rank::Decimal => {
            to_decimal(left).zip(to_decimal(right)).and_then(|(a, b)| a.compare(b)).ok_or_else(refused)
        }
        Rank::Double => {
            let (a, b) = to_double(left).zip(to_double(right)).ok_or_else(refused)?;
            // Groovy has special rules for the order of NaN and of zeros with different signs.
            if a.is_nan() || b.is_nan() || (a == 0.0 && b == 0.0 && a.to_bits() != b.to_bits()) {
                return Err(refused());
            }
            a.partial_cmp(&b).ok_or_else(refused)
        }
    }
}

/// The code of a character, or of a string of one character, for the comparison with a number.
fn as_character(value: &Value) -> Option<Value> {
    match value {
        Value::Character(unit) => Some(Value::Integer(i32::from(*unit))),
        Value::Text(text) => single_unit(text).map(|unit| Value::Integer(i32::from(unit))),
        _ => None,
    }
}

fn equal(left: &Value, right: &Value) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::List(_) | Value::Array(_), _) | (_, Value::List(_) | Value::Array(_)) => {
            Err(refused(Binary::Equal, left, right))
        }
        (Value::Text(a), Value::Text(b)) => Ok(a == b),
        (Value::Boolean(a), Value::Boolean(b)) => Ok(a == b),
        _ => Ok(mixed(left, right)?.is_some_and(Ordering::is_eq)),
    }
}

/// Compares numbers, characters and strings with one another; `None` for combinations that Groovy does not compare.
fn mixed(left: &Value, right: &Value) -> Result<Option<Ordering>, Fault> {
    match (rank(left).is_some(), rank(right).is_some()) {
        (true, true) => compare_numbers(left, right).map(Some),
        (true, false) => as_character(right).map(|right| compare_numbers(left, &right)).transpose(),
        (false, true) => as_character(left).map(|left| compare_numbers(&left, right)).transpose(),
        (false, false) => match (left, right) {
            (Value::Character(unit), Value::Text(text)) | (Value::Text(text), Value::Character(unit)) => {
                let order = single_unit(text).map(|other| unit.cmp(&other));
                Ok(order.map(|order| if is_text(left) { order.reverse() } else { order }))
            }
            (Value::Character(a), Value::Character(b)) => Ok(Some(a.cmp(b))),
            _ => Ok(None),
        },
    }
}

pub(crate) fn compare(left: &Value, right: &Value) -> Result<Ordering, Fault> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(Ordering::Equal),
        (Value::Null, _) => Ok(Ordering::Less),
        (_, Value::Null) => Ok(Ordering::Greater),
        (Value::Text(a), Value::Text(b)) => Ok(a.encode_utf16().cmp(b.encode_utf16())),
        (Value::Boolean(a), Value::Boolean(b)) => Ok(a.cmp(b)),
        _ => mixed(left, right)?.ok_or_else(|| {
            Fault::new(format!("{} cannot be compared with {}", left.type_name(), right.type_name()))
        }),
    }
}
