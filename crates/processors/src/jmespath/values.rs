//! Operations on values that the evaluation of paths and the functions share.

use super::error::JmesPathError;
use crate::jsonpath::{StepBudget, Value};

/// Whether a value counts as true: it is not null, false or empty.
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

/// Whether two values are equal. Numbers are compared by value, not by type.
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

/// Takes steps from the budget.
///
/// # Errors
/// The budget is exhausted. [`super::JmesPath::search`] replaces the error with one that names the limit.
pub(super) fn spend(budget: &StepBudget, count: usize) -> Result<(), JmesPathError> {
    if budget.spend(count) { Ok(()) } else { Err("too many steps".into()) }
}

/// Upper bound of the steps for comparing a value with another. Members are found by a linear search.
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
