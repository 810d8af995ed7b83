//! The operators of BeanShell: Java's arithmetic and the concatenation of strings.

use std::cmp::Ordering;

use crate::Value;
use crate::language::JavaLike;
use crate::plain::{Binary, Fault, Outcome, printed};

/// Two operands after Java's binary numeric promotion.
enum Pair {
    Int(i32, i32),
    Long(i64, i64),
    Double(f64, f64),
}

pub(crate) fn binary(operator: Binary, left: &Value, right: &Value) -> Outcome {
    match operator {
        Binary::Equal => Ok(Value::Boolean(equal(left, right)?)),
        Binary::NotEqual => Ok(Value::Boolean(!equal(left, right)?)),
        Binary::Add if matches!(left, Value::Text(_)) || matches!(right, Value::Text(_)) => Ok(Value::Text(
            (printed(left, JavaLike::BeanShell)? + &printed(right, JavaLike::BeanShell)?).into(),
        )),
        Binary::BitAnd | Binary::BitOr | Binary::BitXor
            if matches!((left, right), (Value::Boolean(_), Value::Boolean(_))) =>
        {
            let (a, b) = (*left == Value::Boolean(true), *right == Value::Boolean(true));
            Ok(Value::Boolean(match operator {
                Binary::BitAnd => a & b,
                Binary::BitOr => a | b,
                _ => a ^ b,
            }))
        }
        _ => {
            let pair = promote(left, right).ok_or_else(|| {
                Fault::new(format!(
                    "{operator:?} of {} and {} is not supported",
                    left.type_name(),
                    right.type_name()
                ))
            })?;
            calculate(operator, &pair)
        }
    }
}

fn promote(left: &Value, right: &Value) -> Option<Pair> {
    let int = |value: &Value| match value {
        Value::Integer(value) => Some(*value),
        Value::Character(unit) => Some(i32::from(*unit)),
        _ => None,
    };
    let long = |value: &Value| match value {
        Value::Long(value) => Some(*value),
        other => int(other).map(i64::from),
    };
    let double = |value: &Value| match value {
        Value::Double(value) => Some(*value),
        other => long(other).map(|value| value as f64),
    };
    if let (Some(a), Some(b)) = (int(left), int(right)) {
        return Some(Pair::Int(a, b));
    }
    if let (Some(a), Some(b)) = (long(left), long(right)) {
        return Some(Pair::Long(a, b));
    }
    Some(Pair::Double(double(left)?, double(right)?))
}

fn order(pair: &Pair) -> Option<Ordering> {
    match pair {
        Pair::Int(a, b) => Some(a.cmp(b)),
        Pair::Long(a, b) => Some(a.cmp(b)),
        Pair::Double(a, b) => a.partial_cmp(b),
    }
}

fn calculate(operator: Binary, pair: &Pair) -> Outcome {
    let test = |accept: fn(Ordering) -> bool| Ok(Value::Boolean(order(pair).is_some_and(accept)));
    match operator {
        Binary::Less => return test(Ordering::is_lt),
        Binary::LessOrEqual => return test(Ordering::is_le),
        Binary::Greater => return test(Ordering::is_gt),
        Binary::GreaterOrEqual => return test(Ordering::is_ge),
        _ => {}
    }
    let zero = || Fault::from("/ by zero");
    Ok(match *pair {
        Pair::Int(a, b) => Value::Integer(match operator {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::Multiply => a.wrapping_mul(b),
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::Divide if b != 0 => a.wrapping_div(b),
            Binary::Remainder if b != 0 => a.wrapping_rem(b),
            _ => return Err(zero()),
        }),
        Pair::Long(a, b) => Value::Long(match operator {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::Multiply => a.wrapping_mul(b),
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::Divide if b != 0 => a.wrapping_div(b),
            Binary::Remainder if b != 0 => a.wrapping_rem(b),
            _ => return Err(zero()),
        }),
        Pair::Double(a, b) => Value::Double(match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Remainder => a % b,
            _ => return Err("a bitwise operation on a double does not exist".into()),
        }),
    })
}

fn equal(left: &Value, right: &Value) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Boolean(a), Value::Boolean(b)) => Ok(a == b),
        // BeanShell compares the identity of objects, which strings do not have here.
        (Value::Text(_), Value::Text(_)) => {
            Err("comparing strings by identity (`==` instead of `equals`) is not supported".into())
        }
        (Value::Text(_), _) | (_, Value::Text(_)) => Ok(false),
        _ => match promote(left, right) {
            Some(pair) => Ok(order(&pair) == Some(Ordering::Equal)),
            None => Err(Fault::new(format!(
                "comparing {} with {} is not supported",
                left.type_name(),
                right.type_name()
            ))),
        },
    }
}
