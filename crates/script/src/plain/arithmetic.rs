//! Operators with one operand.

use super::fault::{Fault, Outcome};
use crate::Value;

/// Evaluates `-value`.
pub(crate) fn negated(value: &Value) -> Outcome {
    Ok(match value {
        Value::Integer(value) => Value::Integer(value.wrapping_neg()),
        Value::Long(value) => Value::Long(value.wrapping_neg()),
        Value::BigInteger(value) => Value::BigInteger(value.checked_neg().ok_or("the number is too large")?),
        Value::Double(value) => Value::Double(-value),
        Value::Float(value) => Value::Float(-value),
        Value::Decimal(value) => Value::Decimal(value.negate().ok_or("the number is too large")?),
        _ => return Err(Fault::new(format!("the operator does not apply to {}", value.type_name()))),
    })
}
