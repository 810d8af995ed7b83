//! Values as conditions.

use super::fault::{Fault, thrown};
use super::machine::Machine;
use super::objects::Object;
use super::patterns;
use super::value::V;
use crate::Value;
use crate::evaluate::convert;
use crate::syntax::Dialect;

/// The value as a condition.
pub(super) fn truth(machine: &Machine<'_>, value: &V) -> Result<bool, Fault> {
    if !machine.groovy() {
        return match value {
            V::Plain(Value::Boolean(value)) => Ok(*value),
            other => Err(thrown(
                "RuntimeException",
                format!("a condition must be a boolean, not {}", other.kind()),
            )),
        };
    }
    Ok(match value {
        V::Plain(value) => convert::truth(value, Dialect::Groovy)?,
        V::List(list) => !list.items.borrow().is_empty(),
        V::Array(array) => !array.items.borrow().is_empty(),
        V::Map(map) => !map.entries.borrow().is_empty(),
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
