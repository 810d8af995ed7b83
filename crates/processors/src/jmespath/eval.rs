//! Evaluation of a path.

use std::borrow::Cow;
use std::cmp::Ordering;

use jmespath::ast::{Ast, Comparator};

use super::error::JmesPathError;
use super::values::{equal, is_truthy, spend, steps_to_compare};
use super::{functions, json};
use crate::jsonpath::{StepBudget, Value};

/// The owned value; a copy takes as many steps as there are values in it.
pub(super) fn own(value: Cow<'_, Value>, steps: &StepBudget) -> Result<Value, JmesPathError> {
    if let Cow::Borrowed(value) = &value {
        spend(steps, value.size())?;
    }
    Ok(value.into_owned())
}

/// The owned value of a node of the path over a value.
pub(super) fn evaluate_own(ast: &Ast, data: &Value, steps: &StepBudget) -> Result<Value, JmesPathError> {
    own(evaluate(ast, data, steps)?, steps)
}

/// The value of a node of the path over a value.
pub(super) fn evaluate<'v>(
    ast: &Ast,
    data: &'v Value,
    steps: &StepBudget,
) -> Result<Cow<'v, Value>, JmesPathError> {
    spend(steps, 1)?;
    let null = || Cow::Owned(Value::Null);
    Ok(Cow::Owned(match ast {
        Ast::Identity { .. } => return Ok(Cow::Borrowed(data)),
        Ast::Field { name, .. } => {
            if let Value::Object(members) = data {
                spend(steps, members.len() / 8)?;
            }
            return Ok(data.member(name).map_or_else(null, Cow::Borrowed));
        }
        Ast::Subexpr { lhs, rhs, .. } => match evaluate(lhs, data, steps)? {
            Cow::Borrowed(left) => return evaluate(rhs, left, steps),
            Cow::Owned(left) => evaluate_own(rhs, &left, steps)?,
        },
        Ast::Index { idx, .. } => match data {
            Value::Array(items) => {
                let index = i64::from(*idx);
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let index = if index < 0 { index + length } else { index };
                let found = usize::try_from(index).ok().and_then(|index| items.get(index));
                return Ok(found.map_or_else(null, Cow::Borrowed));
            }
            _ => Value::Null,
        },
        Ast::Literal { value, .. } => {
            let text = serde_json::to_string(value.as_ref()).map_err(|error| error.to_string())?;
            spend(steps, text.len() / 16)?;
            json::read(&text)?
        }
        Ast::Or { lhs, rhs, .. } => {
            let left = evaluate(lhs, data, steps)?;
            return if is_truthy(&left) { Ok(left) } else { evaluate(rhs, data, steps) };
        }
        Ast::And { lhs, rhs, .. } => {
            let left = evaluate(lhs, data, steps)?;
            return if is_truthy(&left) { evaluate(rhs, data, steps) } else { Ok(left) };
        }
        Ast::Not { node, .. } => Value::Bool(!is_truthy(&*evaluate(node, data, steps)?)),
        Ast::Condition { predicate, then, .. } => {
            if is_truthy(&*evaluate(predicate, data, steps)?) {
                return evaluate(then, data, steps);
            }
            Value::Null
        }
        Ast::Comparison { comparator, lhs, rhs, .. } => {
            let (left, right) = (evaluate(lhs, data, steps)?, evaluate(rhs, data, steps)?);
            compare(comparator, &left, &right, steps)?
        }
        Ast::ObjectValues { node, .. } => match evaluate_own(node, data, steps)? {
            Value::Object(members) => Value::Array(members.into_iter().map(|(_, value)| value).collect()),
            _ => Value::Null,
        },
        Ast::Projection { lhs, rhs, .. } => match evaluate(lhs, data, steps)?.as_ref() {
            Value::Array(items) => {
                let mut found = Vec::new();
                for item in items {
                    let value = evaluate_own(rhs, item, steps)?;
                    if !matches!(value, Value::Null) {
                        found.push(value);
                    }
                }
                Value::Array(found)
            }
            _ => Value::Null,
        },
        Ast::Flatten { node, .. } => match evaluate_own(node, data, steps)? {
            Value::Array(items) => {
                let mut flat = Vec::new();
                for item in items {
                    match item {
                        Value::Array(inner) => flat.extend(inner),
                        other => flat.push(other),
                    }
                }
                Value::Array(flat)
            }
            _ => Value::Null,
        },
        Ast::MultiList { .. } | Ast::MultiHash { .. } if matches!(data, Value::Null) => Value::Null,
        Ast::MultiList { elements, .. } => Value::Array(
            elements.iter().map(|element| evaluate_own(element, data, steps)).collect::<Result<_, _>>()?,
        ),
        Ast::MultiHash { elements, .. } => {
            let mut members = Vec::new();
            for pair in elements {
                members.push((pair.key.clone(), evaluate_own(&pair.value, data, steps)?));
            }
            Value::Object(members)
        }
        Ast::Slice { start, stop, step, .. } => match data {
            Value::Array(items) => {
                spend(steps, data.size())?;
                Value::Array(slice(items, *start, *stop, *step)?)
            }
            _ => Value::Null,
        },
        // Evaluated by the functions that take an expression.
        Ast::Expref { .. } => Value::Null,
        Ast::Function { name, args, .. } => functions::call(name, args, data, steps, evaluate_own)?,
    }))
}

fn compare(
    comparator: &Comparator,
    left: &Value,
    right: &Value,
    steps: &StepBudget,
) -> Result<Value, JmesPathError> {
    if matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
        spend(steps, steps_to_compare(left).min(steps_to_compare(right)))?;
    }
    let order = match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.partial_cmp(&right),
        _ => None,
    };
    let ordered = |fits: fn(Ordering) -> bool| order.map_or(Value::Null, |order| Value::Bool(fits(order)));
    Ok(match comparator {
        Comparator::Equal => Value::Bool(equal(left, right)),
        Comparator::NotEqual => Value::Bool(!equal(left, right)),
        Comparator::LessThan => ordered(Ordering::is_lt),
        Comparator::LessThanEqual => ordered(Ordering::is_le),
        Comparator::GreaterThan => ordered(Ordering::is_gt),
        Comparator::GreaterThanEqual => ordered(Ordering::is_ge),
    })
}

fn slice(
    items: &[Value],
    start: Option<i32>,
    stop: Option<i32>,
    step: i32,
) -> Result<Vec<Value>, JmesPathError> {
    if step == 0 {
        return Err("invalid value 0 for step size".into());
    }
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let step = i64::from(step);
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let bound = |given: Option<i32>, missing: i64| match given.map(i64::from) {
        None => missing,
        Some(given) if given < 0 => (given + length).clamp(low, high),
        Some(given) => given.clamp(low, high),
    };
    let (mut at, stop) = if step > 0 {
        (bound(start, 0), bound(stop, length))
    } else {
        (bound(start, length - 1), bound(stop, -1))
    };
    let mut found = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        found.extend(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned());
        at += step;
    }
    Ok(found)
}
