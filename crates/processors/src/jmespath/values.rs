//! Operations on values that both the evaluation of a path and its functions use.

use super::error::JmesPathError;
use crate::jsonpath::{StepBudget, Value};

/// Whether a value counts as true: not null, not false, not empty.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Text(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// Whether two values are equal: numbers by their value.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(members)) => {
            left.len() == members.len()
                && left.iter().all(|(key, value)| right.member(key).is_some_and(|other| equal(value, other)))
        }
        _ => match (left.as_f64(), right.as_f64()) {
            (Some(left), Some(right)) => left == right,
            _ => left == right,
        },
    }
}

/// Fails if the steps are used up; [`super::JmesPath::search`] then reports it.
pub(super) fn spend(steps: &StepBudget, count: usize) -> Result<(), JmesPathError> {
    if steps.spend(count) { Ok(()) } else { Err("too many steps".into()) }
}

/// Maximum number of values visited to compare a value with another: members are looked up one by one.
pub(super) fn steps_to_compare(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let inner: usize = members.iter().map(|(_, value)| steps_to_compare(value)).sum();
            inner.saturating_add(members.len().saturating_mul(members.len()) / 8).saturating_add(1)
        }
        Value::Array(items) => 1 + items.iter().map(steps_to_compare).sum::<usize>(),
        other => other.size(),
    }
}
