//! Evaluates a path over a value.

use std::borrow::Cow;
use std::cmp::Ordering;

use jmespath::ast::{Ast, Comparator, KeyValuePair};

use super::error::JmesPathError;
use super::values::{equal, is_truthy, spend, steps_to_compare};
use super::{functions, json};
use crate::jsonpath::{StepBudget, Value};

/// Converts to an owned value. A copy takes one step for each value in it.
pub(super) fn into_owned_value(value: Cow<'_, Value>, budget: &StepBudget) -> Result<Value, JmesPathError> {
    if let Cow::Borrowed(value) = &value {
        spend(budget, value.size())?;
    }
    Ok(value.into_owned())
}

/// [`evaluate`] with an owned result.
pub(super) fn evaluate_owned(ast: &Ast, data: &Value, budget: &StepBudget) -> Result<Value, JmesPathError> {
    into_owned_value(evaluate(ast, data, budget)?, budget)
}

/// Evaluates a node of the path over a value.
pub(super) fn evaluate<'v>(
    ast: &Ast,
    data: &'v Value,
    budget: &StepBudget,
) -> Result<Cow<'v, Value>, JmesPathError> {
    spend(budget, 1)?;
    let null = || Cow::Owned(Value::Null);
    Ok(Cow::Owned(match ast {
        Ast::Identity { .. } => return Ok(Cow::Borrowed(data)),
        Ast::Field { name, .. } => {
            if let Value::Object(members) = data {
                spend(budget, members.len() / 8)?;
            }
            return Ok(data.member(name).map_or_else(null, Cow::Borrowed));
        }
        Ast::Subexpr { lhs, rhs, .. } => match evaluate(lhs, data, budget)? {
            Cow::Borrowed(left) => return evaluate(rhs, left, budget),
            Cow::Owned(left) => evaluate_owned(rhs, &left, budget)?,
        },
        Ast::Index { idx, .. } => match data {
            Value::Array(items) => return Ok(item_at(items, *idx).map_or_else(null, Cow::Borrowed)),
            _ => Value::Null,
        },
        Ast::Literal { value, .. } => {
            let text = serde_json::to_string(value.as_ref()).map_err(|error| error.to_string())?;
            spend(budget, text.len() / 16)?;
            json::read(&text)?
        }
        Ast::Or { lhs, rhs, .. } => {
            let left = evaluate(lhs, data, budget)?;
            return if is_truthy(&left) { Ok(left) } else { evaluate(rhs, data, budget) };
        }
        Ast::And { lhs, rhs, .. } => {
            let left = evaluate(lhs, data, budget)?;
            return if is_truthy(&left) { evaluate(rhs, data, budget) } else { Ok(left) };
        }
        Ast::Not { node, .. } => Value::Bool(!is_truthy(&*evaluate(node, data, budget)?)),
        Ast::Condition { predicate, then, .. } => {
            if is_truthy(&*evaluate(predicate, data, budget)?) {
                return evaluate(then, data, budget);
            }
            Value::Null
        }
        Ast::Comparison { comparator, lhs, rhs, .. } => {
            let (left, right) = (evaluate(lhs, data, budget)?, evaluate(rhs, data, budget)?);
            compare(comparator, &left, &right, budget)?
        }
        Ast::ObjectValues { node, .. } => match evaluate_owned(node, data, budget)? {
            Value::Object(members) => Value::Array(members.into_iter().map(|(_, value)| value).collect()),
            _ => Value::Null,
        },
        Ast::Projection { lhs, rhs, .. } => match evaluate(lhs, data, budget)?.as_ref() {
            Value::Array(items) => project(items, rhs, budget)?,
            _ => Value::Null,
        },
        Ast::Flatten { node, .. } => match evaluate_owned(node, data, budget)? {
            Value::Array(items) => flatten(items),
            _ => Value::Null,
        },
        Ast::MultiList { .. } | Ast::MultiHash { .. } if matches!(data, Value::Null) => Value::Null,
        Ast::MultiList { elements, .. } => Value::Array(
            elements.iter().map(|element| evaluate_owned(element, data, budget)).collect::<Result<_, _>>()?,
        ),
        Ast::MultiHash { elements, .. } => {
            let member =
                |pair: &KeyValuePair| Ok((pair.key.clone(), evaluate_owned(&pair.value, data, budget)?));
            Value::Object(elements.iter().map(member).collect::<Result<_, JmesPathError>>()?)
        }
        Ast::Slice { start, stop, step, .. } => match data {
            Value::Array(items) => {
                spend(budget, data.size())?;
                Value::Array(slice(items, *start, *stop, *step)?)
            }
            _ => Value::Null,
        },
        // An expression is evaluated by the function that takes it as an argument.
        Ast::Expref { .. } => Value::Null,
        Ast::Function { name, args, .. } => functions::call(name, args, data, budget, evaluate_owned)?,
    }))
}

/// The item at an index; a negative index counts from the end.
fn item_at(items: &[Value], index: i32) -> Option<&Value> {
    let index = i64::from(index);
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let index = if index < 0 { index + length } else { index };
    usize::try_from(index).ok().and_then(|index| items.get(index))
}

/// The values of a path over all items, without nulls.
fn project(items: &[Value], path: &Ast, budget: &StepBudget) -> Result<Value, JmesPathError> {
    let mut found = Vec::new();
    for item in items {
        let value = evaluate_owned(path, item, budget)?;
        if !matches!(value, Value::Null) {
            found.push(value);
        }
    }
    Ok(Value::Array(found))
}

/// The items, with the items of arrays in place of the arrays.
fn flatten(items: Vec<Value>) -> Value {
    let mut flat = Vec::new();
    for item in items {
        match item {
            Value::Array(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    Value::Array(flat)
}

fn compare(
    comparator: &Comparator,
    left: &Value,
    right: &Value,
    budget: &StepBudget,
) -> Result<Value, JmesPathError> {
    if matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
        spend(budget, steps_to_compare(left).min(steps_to_compare(right)))?;
    }
    let order = match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.partial_cmp(&right),
        _ => None,
    };
    let ordered =
        |accept: fn(Ordering) -> bool| order.map_or(Value::Null, |order| Value::Bool(accept(order)));
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
