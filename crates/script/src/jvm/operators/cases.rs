//! Comparison of values with the cases of a `switch`.

use super::super::fault::Fault;
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::print;
use super::super::truth::truth;
use super::super::value::V;
use super::super::{patterns, types};
use super::equality::same;
use crate::Value;
use crate::plain::Binary;
use crate::plain::beanshell;

/// Whether a value matches a case of Groovy's `switch`, or the right operand of `in`.
pub fn is_case(machine: &mut Machine<'_>, case: &V, value: &V) -> Result<bool, Fault> {
    match case {
        V::List(_) | V::Array(_) => {
            for item in case.items().unwrap_or_default() {
                if same(value, &item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        V::Map(map) => match map.get(value) {
            Some(found) => truth(machine, &found),
            None => Ok(false),
        },
        V::Class(class) => {
            let target = super::super::tree::Type {
                base: super::super::tree::Base::Class(*class),
                boxed: true,
                arrays: 0,
            };
            let text = class.name() == "String" && value.as_text().is_some();
            Ok(text || types::is_instance(value, target))
        }
        V::Closure(_) => {
            let result = machine.call_value(case, vec![value.clone()])?;
            truth(machine, &result)
        }
        V::Object(object) => match &**object {
            Object::Pattern(pattern) => {
                let text = print::groovy(machine, value)?;
                Ok(patterns::whole(pattern, &text)?.is_some())
            }
            _ => same(case, value),
        },
        _ => same(case, value),
    }
}

/// Whether a value matches a case of Java's `switch`.
pub fn java_case(case: &V, value: &V) -> Result<bool, Fault> {
    match (case, value) {
        (V::Plain(Value::Text(a)), V::Plain(Value::Text(b))) => Ok(a == b),
        (V::Plain(a), V::Plain(b)) => Ok(beanshell::binary(Binary::Equal, a, b)? == Value::Boolean(true)),
        _ => Ok(case.equals(value)),
    }
}
