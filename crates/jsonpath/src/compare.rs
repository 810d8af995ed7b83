//! The comparisons of filters.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::syntax::Comparison;
use crate::value::Value;

/// The value of a filter's operand for the item to which the filter is applied.
pub(crate) enum OperandValue<'v> {
    Value(Cow<'v, Value>),
    Undefined,
}

impl Comparison {
    /// Upper bound of the steps that the comparison takes.
    pub(crate) fn steps(self, left: &OperandValue<'_>, right: &OperandValue<'_>) -> usize {
        let (OperandValue::Value(left), OperandValue::Value(right)) = (left, right) else { return 0 };
        match self {
            Self::AnyOf | Self::NoneOf | Self::SubsetOf => left.size().saturating_mul(right.size()),
            Self::In | Self::NotIn | Self::Contains => left.size().saturating_add(right.size()),
            Self::Size | Self::Empty | Self::Matches => 0,
            Self::Equal | Self::NotEqual => left.size().min(right.size()),
            Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => 1,
        }
    }
}

pub(crate) fn compare(left: &OperandValue<'_>, comparison: Comparison, right: &OperandValue<'_>) -> bool {
    let (left, right) = match (left, right) {
        (OperandValue::Value(left), OperandValue::Value(right)) => (left.as_ref(), right.as_ref()),
        // An undefined value differs from every value, including another undefined value.
        _ => return matches!(comparison, Comparison::NotEqual | Comparison::NotIn),
    };
    let order = |accept: fn(Ordering) -> bool| ordering(left, right).is_some_and(accept);
    match comparison {
        Comparison::Equal => equal(left, right),
        Comparison::NotEqual => !equal(left, right),
        Comparison::Less => order(Ordering::is_lt),
        Comparison::LessEqual => order(Ordering::is_le),
        Comparison::Greater => order(Ordering::is_gt),
        Comparison::GreaterEqual => order(Ordering::is_ge),
        Comparison::In => items(right).is_some_and(|items| contains(items, left)),
        Comparison::NotIn => items(right).is_some_and(|items| !contains(items, left)),
        Comparison::Contains => match (left, right) {
            (Value::Text(text), Value::Text(part)) => text.contains(part.as_str()),
            (Value::Array(items), _) => contains(items, right),
            _ => false,
        },
        Comparison::Size => {
            let size = match left {
                Value::Text(text) => text.encode_utf16().count(),
                Value::Array(items) => items.len(),
                _ => return false,
            };
            right.as_f64().is_some_and(|expected| expected == size as f64)
        }
        Comparison::Empty => {
            let empty = match left {
                Value::Text(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                _ => return false,
            };
            *right == Value::Bool(empty)
        }
        Comparison::AnyOf => {
            compare_arrays(left, right, |left, right| left.iter().any(|item| contains(right, item)))
        }
        Comparison::NoneOf => {
            compare_arrays(left, right, |left, right| !left.iter().any(|item| contains(right, item)))
        }
        Comparison::SubsetOf => {
            compare_arrays(left, right, |left, right| left.iter().all(|item| contains(right, item)))
        }
        Comparison::Matches => false,
    }
}

fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

/// Whether both values are arrays that satisfy `test`.
fn compare_arrays(left: &Value, right: &Value, test: fn(&[Value], &[Value]) -> bool) -> bool {
    match (items(left), items(right)) {
        (Some(left), Some(right)) => test(left, right),
        _ => false,
    }
}

fn contains(items: &[Value], wanted: &Value) -> bool {
    items.iter().any(|item| equal(item, wanted))
}

/// A number and a string are equal if the string represents the number.
fn equal(left: &Value, right: &Value) -> bool {
    if let (Some(left), Some(right)) = (number(left, right), number(right, left)) {
        return left == right;
    }
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        _ => left == right,
    }
}

/// The value as a number. A string is converted only if `other` is a number.
fn number(value: &Value, other: &Value) -> Option<f64> {
    match value {
        Value::Text(text) => other.as_f64().and_then(|_| text.trim().parse().ok()),
        _ => value.as_f64(),
    }
}

fn ordering(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.encode_utf16().cmp(right.encode_utf16())),
        // A string and a number have no order, whether the string is a value of the document or a literal.
        (Value::Text(_), _) | (_, Value::Text(_)) => None,
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}
