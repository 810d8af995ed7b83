//! A collection of values that is searched with Groovy's `==`.

use super::super::fault::Fault;
use super::super::machine::Machine;
use super::super::value::{Map, Order, V};
use super::equality::same;
use crate::Value;

/// Values that are searched with Groovy's `==`, which compares numbers by value.
pub struct SameAs {
    /// Present only if all values are strings, ints, longs or null. For these values, `==` is the same as `equals` after all
    /// ints are converted to longs.
    plain: Option<Map>,
    all: Vec<V>,
}

impl SameAs {
    /// Creates an empty collection. `values` must contain all values that will be added or searched for.
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

/// The key of a value in [`SameAs::plain`]; `None` if `==` may differ from `equals` for the value.
fn plain_key(value: &V) -> Option<V> {
    match value {
        V::Plain(Value::Null | Value::Text(_) | Value::Long(_)) => Some(value.clone()),
        V::Plain(Value::Integer(number)) => Some(V::long(i64::from(*number))),
        _ => None,
    }
}
