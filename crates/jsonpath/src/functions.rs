//! The functions at the end of a path.

use crate::error::FunctionFailure;
use crate::syntax::Function;
use crate::value::Value;

/// Applies a function to a value.
///
/// # Errors
/// The function fails; the error has Jayway's message.
pub(crate) fn apply(function: &Function, value: &Value) -> Result<Value, FunctionFailure> {
    let items = match value {
        Value::Array(items) => Some(items.as_slice()),
        _ => None,
    };
    let item_at = |index: i64| {
        let items = items.unwrap_or_default();
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let wrapped = if index < 0 { length + index } else { index };
        usize::try_from(wrapped)
            .ok()
            .and_then(|index| items.get(index))
            .cloned()
            .ok_or_else(|| FunctionFailure(format!("Index {wrapped} out of bounds for length {length}")))
    };
    match function {
        Function::Length => Ok(match value {
            Value::Array(items) => Value::Integer(i64::try_from(items.len()).unwrap_or(i64::MAX)),
            Value::Object(members) => Value::Integer(i64::try_from(members.len()).unwrap_or(i64::MAX)),
            _ => Value::Null,
        }),
        Function::First => item_at(0),
        Function::Last => item_at(-1),
        Function::Index(index) => item_at(*index),
        Function::Unknown(name) => {
            Err(FunctionFailure(format!("Function with name: {name} does not exist.")))
        }
        Function::Concat => {
            let texts = items.unwrap_or_default().iter().filter_map(|item| match item {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            });
            Ok(Value::Text(texts.collect()))
        }
        Function::Min | Function::Max | Function::Avg | Function::Sum | Function::StdDev => {
            let is_number = |item: &&Value| !matches!(item, Value::Text(_));
            let numbers: Vec<f64> =
                items.unwrap_or_default().iter().filter(is_number).filter_map(Value::as_f64).collect();
            aggregate(function, &numbers).map(Value::Double).ok_or_else(|| {
                FunctionFailure(
                    "Aggregation function attempted to calculate value using empty array".to_owned(),
                )
            })
        }
    }
}

fn aggregate(function: &Function, numbers: &[f64]) -> Option<f64> {
    if numbers.is_empty() {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "no array is that long")]
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    Some(match function {
        Function::Min => numbers.iter().copied().fold(f64::MAX, f64::min),
        Function::Max => numbers.iter().copied().fold(f64::MIN, f64::max),
        Function::Avg => sum / count,
        Function::StdDev => {
            let squares: f64 = numbers.iter().map(|number| number * number).sum();
            // Jayway's formula: the mean of the squares minus the square of the mean.
            (squares / count - sum * sum / count / count).sqrt()
        }
        _ => sum,
    })
}
