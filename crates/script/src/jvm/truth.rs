//! Truth of values as conditions.

use super::fault::{Fault, evaluation_fault, thrown};
use super::machine::Machine;
use super::objects::Object;
use super::patterns;
use super::value::V;
use crate::Value;
use crate::language::Dialect;
use crate::plain::convert;

/// The truth of the value as a condition.
pub(super) fn truth(machine: &Machine<'_>, value: &V) -> Result<bool, Fault> {
    match machine.tree.dialect {
        Dialect::Groovy => truth_of_groovy(value),
        Dialect::BeanShell => match value {
            V::Plain(Value::Boolean(value)) => Ok(*value),
            other => Err(thrown(
                "RuntimeException",
                format!("a condition must be a boolean, not {}", other.kind()),
            )),
        },
        Dialect::Jexl2 => truth_of_jexl(value, false),
        Dialect::Jexl3 => truth_of_jexl(value, true),
    }
}

/// The truth of a value in JEXL. Objects of `other` classes are false in version 2 and true in version 3.
fn truth_of_jexl(value: &V, other: bool) -> Result<bool, Fault> {
    Ok(match value {
        V::Plain(Value::Null) => return Err(evaluation_fault("null is not a valid condition")),
        V::Plain(Value::Boolean(value)) => *value,
        V::Plain(Value::Integer(value)) => *value != 0,
        V::Plain(Value::Long(value)) => *value != 0,
        V::Plain(Value::BigInteger(value)) => *value != 0,
        V::Plain(Value::Float(value)) => *value != 0.0 && !value.is_nan(),
        V::Plain(Value::Double(value)) => *value != 0.0 && !value.is_nan(),
        V::Plain(Value::Decimal(value)) => !value.is_zero(),
        V::Plain(Value::Text(text)) => !matches!(&**text, "" | "false"),
        _ => other,
    })
}

fn truth_of_groovy(value: &V) -> Result<bool, Fault> {
    Ok(match value {
        V::Plain(value) => convert::truth(value),
        V::List(list) => !list.items.borrow().is_empty(),
        V::Array(array) => !array.items.borrow().is_empty(),
        V::Map(map) => !map.is_empty(),
        V::Object(object) => match &**object {
            Object::Matcher(matcher) => patterns::find(&matcher.pattern, &matcher.text, 0)?.is_some(),
            Object::Iterator(rest) => !rest.borrow().is_empty(),
            Object::Builder(text, _) => !text.borrow().is_empty(),
            Object::Atomic(value, _) => value.get() != 0,
            Object::Library(instance) => instance.is_true(),
            _ => true,
        },
        V::Void => false,
        V::Closure(_) | V::Class(_) | V::Host(_) => true,
    })
}
