//! Following a path.

use std::cmp::Ordering;

use jmespath::ast::{Ast, Comparator};

use super::{functions, json};
use crate::jsonpath::Value;

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

/// The value of a node of the path over a value.
pub(super) fn evaluate(ast: &Ast, data: &Value) -> Result<Value, String> {
    Ok(match ast {
        Ast::Identity { .. } => data.clone(),
        Ast::Field { name, .. } => data.member(name).cloned().unwrap_or(Value::Null),
        Ast::Subexpr { lhs, rhs, .. } => evaluate(rhs, &evaluate(lhs, data)?)?,
        Ast::Index { idx, .. } => match data {
            Value::Array(items) => {
                let index = i64::from(*idx);
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let index = if index < 0 { index + length } else { index };
                usize::try_from(index).ok().and_then(|index| items.get(index)).cloned().unwrap_or(Value::Null)
            }
            _ => Value::Null,
        },
        Ast::Literal { value, .. } => {
            let text = serde_json::to_string(value.as_ref()).map_err(|error| error.to_string())?;
            json::read(&text)?
        }
        Ast::Or { lhs, rhs, .. } => {
            let left = evaluate(lhs, data)?;
            if is_truthy(&left) { left } else { evaluate(rhs, data)? }
        }
        Ast::And { lhs, rhs, .. } => {
            let left = evaluate(lhs, data)?;
            if is_truthy(&left) { evaluate(rhs, data)? } else { left }
        }
        Ast::Not { node, .. } => Value::Bool(!is_truthy(&evaluate(node, data)?)),
        Ast::Condition { predicate, then, .. } => {
            if is_truthy(&evaluate(predicate, data)?) {
                evaluate(then, data)?
            } else {
                Value::Null
            }
        }
        Ast::Comparison { comparator, lhs, rhs, .. } => {
            compare(comparator, &evaluate(lhs, data)?, &evaluate(rhs, data)?)
        }
        Ast::ObjectValues { node, .. } => match evaluate(node, data)? {
            Value::Object(members) => Value::Array(members.into_iter().map(|(_, value)| value).collect()),
            _ => Value::Null,
        },
        Ast::Projection { lhs, rhs, .. } => match evaluate(lhs, data)? {
            Value::Array(items) => {
                let mut found = Vec::new();
                for item in items {
                    let value = evaluate(rhs, &item)?;
                    if !matches!(value, Value::Null) {
                        found.push(value);
                    }
                }
                Value::Array(found)
            }
            _ => Value::Null,
        },
        Ast::Flatten { node, .. } => match evaluate(node, data)? {
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
        Ast::MultiList { elements, .. } => {
            if matches!(data, Value::Null) {
                return Ok(Value::Null);
            }
            Value::Array(elements.iter().map(|element| evaluate(element, data)).collect::<Result<_, _>>()?)
        }
        Ast::MultiHash { elements, .. } => {
            if matches!(data, Value::Null) {
                return Ok(Value::Null);
            }
            let mut members = Vec::new();
            for pair in elements {
                members.push((pair.key.clone(), evaluate(&pair.value, data)?));
            }
            Value::Object(members)
        }
        Ast::Slice { start, stop, step, .. } => match data {
            Value::Array(items) => Value::Array(slice(items, *start, *stop, *step)?),
            _ => Value::Null,
        },
        // Looked at by the functions that take one.
        Ast::Expref { .. } => Value::Null,
        Ast::Function { name, args, .. } => functions::call(name, args, data)?,
    })
}

fn compare(comparator: &Comparator, left: &Value, right: &Value) -> Value {
    let order = match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.partial_cmp(&right),
        _ => None,
    };
    let ordered = |fits: fn(Ordering) -> bool| order.map_or(Value::Null, |order| Value::Bool(fits(order)));
    match comparator {
        Comparator::Equal => Value::Bool(equal(left, right)),
        Comparator::NotEqual => Value::Bool(!equal(left, right)),
        Comparator::LessThan => ordered(Ordering::is_lt),
        Comparator::LessThanEqual => ordered(Ordering::is_le),
        Comparator::GreaterThan => ordered(Ordering::is_gt),
        Comparator::GreaterThanEqual => ordered(Ordering::is_ge),
    }
}

fn slice(items: &[Value], start: Option<i32>, stop: Option<i32>, step: i32) -> Result<Vec<Value>, String> {
    if step == 0 {
        return Err("invalid value 0 for step size".to_owned());
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
