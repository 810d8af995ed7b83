//! Looking for values among others by Groovy's `==`.

use super::super::fault::Fault;
use super::super::machine::Machine;
use super::super::value::{Map, Order, V};
use super::equality::same;
use crate::Value;

/// Values among which others are looked for by Groovy's `==`, which compares numbers by their value.
pub struct SameAs {
    /// For texts and whole numbers up to 64 bits, `==` is `equals` once numbers have the same type.
    plain: Option<Map>,
    all: Vec<V>,
}

impl SameAs {
    /// No values yet; `values` are all that will be added or looked for.
    pub fn new(values: &[V]) -> SameAs {
        let is_plain = values.iter().all(|value| plain_key(value).is_some());
        SameAs { plain: is_plain.then(|| Map::new(Order::Added)), all: Vec::new() }
    }

    pub fn add(&mut self, value: V) {
        match (&self.plain, plain_key(&value)) {
            (Some(plain), Some(key)) => {
                plain.put(key, V::NULL);
            }
            _ => self.all.push(value),
        }
    }

    pub fn contains(&self, machine: &mut Machine<'_>, value: &V) -> Result<bool, Fault> {
        if let (Some(plain), Some(key)) = (&self.plain, plain_key(value)) {
            return Ok(plain.contains_key(&key));
        }
        machine.spend(self.all.len() / 4)?;
        for other in &self.all {
            if same(other, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The value that stands for it in a [`SameAs`]; `None` if `==` may compare it in another way.
fn plain_key(value: &V) -> Option<V> {
    match value {
        V::Plain(Value::Null | Value::Text(_) | Value::Long(_)) => Some(value.clone()),
        V::Plain(Value::Integer(number)) => Some(V::long(i64::from(*number))),
        _ => None,
    }
}
