//! Operators with one operand.

use super::fault::{Fault, Outcome};
use crate::Value;
use crate::jexl::arithmetic as jexl;
use crate::syntax::Dialect;
use crate::syntax::ast::Unary;

pub(crate) fn unary(operator: Unary, value: &Value, dialect: Dialect) -> Outcome {
    if operator == Unary::Not {
        return Ok(Value::Boolean(!super::convert::truth(value, dialect)?));
    }
    if dialect.is_jexl() {
        return jexl::unary(operator, value);
    }
    Ok(match (operator, value) {
        (Unary::Minus, Value::Integer(value)) => Value::Integer(value.wrapping_neg()),
        (Unary::Minus, Value::Long(value)) => Value::Long(value.wrapping_neg()),
        // The literal of the least int or long: its magnitude alone is a size larger.
        (Unary::Minus, Value::BigInteger(value)) => {
            Value::BigInteger(value.checked_neg().ok_or("too large a number")?)
        }
        (Unary::Minus, Value::Double(value)) => Value::Double(-value),
        (Unary::Minus, Value::Float(value)) => Value::Float(-value),
        (Unary::Minus, Value::Decimal(value)) => Value::Decimal(value.negate().ok_or("too large a number")?),
        (
            Unary::Plus,
            Value::Integer(_)
            | Value::Long(_)
            | Value::BigInteger(_)
            | Value::Double(_)
            | Value::Float(_)
            | Value::Decimal(_),
        ) => value.clone(),
        (Unary::BitNot, Value::Integer(value)) => Value::Integer(!value),
        (Unary::BitNot, Value::Long(value)) => Value::Long(!value),
        _ => return Err(Fault::new(format!("the operator does not apply to {}", value.type_name()))),
    })
}

/// JEXL's `empty` and `size`.
pub(super) fn jexl_function(operator: Unary, value: &Value, dialect: Dialect) -> Outcome {
    if operator == Unary::Empty {
        jexl::empty(value, dialect).map(Value::Boolean)
    } else {
        jexl::size(value, dialect).map(Value::Integer)
    }
}
