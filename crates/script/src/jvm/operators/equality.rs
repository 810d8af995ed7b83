//! Equality and order of values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::fault::{Fault, thrown, unsupported};
use super::super::objects::Object;
use super::super::value::{V, natural};
use super::super::{missing, stack};
use crate::Value;
use crate::plain::Binary;
use crate::plain::groovy;

/// Whether Groovy's `==` is true for the values.
pub fn same(left: &V, right: &V) -> Result<bool, Fault> {
    if stack::must_stop() {
        return Ok(false);
    }
    Ok(match (left, right) {
        (V::Plain(Value::BigInteger(a)), V::Plain(b)) | (V::Plain(b), V::Plain(Value::BigInteger(a))) => {
            match b {
                Value::BigInteger(b) => a == b,
                Value::Integer(b) => *a == i128::from(*b),
                Value::Long(b) => *a == i128::from(*b),
                _ => false,
            }
        }
        (V::Plain(a), V::Plain(b)) => groovy::binary(Binary::Equal, a, b)? == Value::Boolean(true),
        (V::List(a), V::List(b)) if Rc::ptr_eq(a, b) => true,
        (V::Map(a), V::Map(b)) if Rc::ptr_eq(a, b) => true,
        (V::List(_) | V::Array(_), V::List(_) | V::Array(_)) => {
            let is_set = |value: &V| matches!(value, V::List(list) if list.set.is_some());
            if is_set(left) || is_set(right) {
                return Ok(left.equals(right));
            }
            let (a, b) = (left.items().unwrap_or_default(), right.items().unwrap_or_default());
            if a.len() != b.len() || !stack::spend(1 + a.len() / 4) {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(&b) {
                if !same(a, b)? {
                    return Ok(false);
                }
            }
            true
        }
        (V::Map(a), V::Map(b)) => {
            let (a, b) = (a.ordered(), b.clone());
            if a.len() != b.len() || !stack::spend(1 + a.len() / 2) {
                return Ok(false);
            }
            for (key, value) in &a {
                match b.get(key) {
                    Some(other) if same(value, &other)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (V::Object(a), V::Plain(_)) if matches!(&**a, Object::Atomic(..)) => {
            return Err(unsupported("comparing an atomic number"));
        }
        _ => left.equals(right),
    })
}

fn length_ms(object: &Object) -> Option<i64> {
    object.library()?.length_ms()
}

pub fn compare(left: &V, right: &V) -> Result<Ordering, Fault> {
    match (left, right) {
        (V::Plain(Value::BigInteger(_)), V::Plain(Value::Null)) => Ok(Ordering::Greater),
        (V::Plain(Value::BigInteger(a)), V::Plain(b)) => match b {
            Value::BigInteger(b) => Ok(a.cmp(b)),
            Value::Integer(b) => Ok(a.cmp(&i128::from(*b))),
            Value::Long(b) => Ok(a.cmp(&i128::from(*b))),
            _ => Err(unsupported("comparing a BigInteger")),
        },
        (V::Plain(_), V::Plain(Value::BigInteger(_))) => compare(right, left).map(Ordering::reverse),
        (V::Plain(a), V::Plain(b)) => Ok(groovy::compare(a, b)?),
        (V::Object(a), V::Object(b)) if a.instant().is_some() && b.instant().is_some() => {
            Ok(natural(left, right))
        }
        (V::Object(a), V::Object(b)) if length_ms(a).is_some() && length_ms(b).is_some() => {
            Ok(length_ms(a).cmp(&length_ms(b)))
        }
        _ if left.is_null() => Ok(Ordering::Less),
        _ if right.is_null() => Ok(Ordering::Greater),
        (V::List(_) | V::Map(_) | V::Closure(_), _) | (_, V::List(_) | V::Map(_) | V::Closure(_)) => {
            let (left, right) = (missing::class_name(left), missing::class_name(right));
            Err(thrown("IllegalArgumentException", format!("Cannot compare {left} with {right}")))
        }
        _ => Err(unsupported(format!("comparing {} with {}", left.kind(), right.kind()))),
    }
}
