//! The values of a running script: plain values, which are copied, and shared objects.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_java::hash_code;

use super::counted::Counted;
use super::model::Object;
pub(super) use super::model::{Array, Closure, Host, List, Map, Order, V};
use super::release::OBJECT_BYTES;
use super::stack;
use super::tree::Base;
use crate::Value;

impl From<Value> for V {
    fn from(value: Value) -> V {
        match value {
            Value::List(items) => V::list(items.iter().cloned().map(V::from).collect()),
            Value::Array(items) => V::array(items.iter().cloned().map(V::from).collect(), Base::Text),
            value => V::Plain(value),
        }
    }
}

impl V {
    pub const NULL: V = V::Plain(Value::Null);

    pub fn text(text: impl AsRef<str>) -> V {
        let text = text.as_ref();
        stack::spend(text.len() / BYTES_PER_STEP);
        V::Plain(Value::text(text))
    }

    pub fn text_or_null(text: Option<String>) -> V {
        text.map_or(V::NULL, V::text)
    }

    pub fn int(value: i64) -> V {
        V::Plain(Value::Integer(value as i32))
    }

    pub fn long(value: i64) -> V {
        V::Plain(Value::Long(value))
    }

    pub fn double(value: f64) -> V {
        V::Plain(Value::Double(value))
    }

    pub fn truth(value: bool) -> V {
        V::Plain(Value::Boolean(value))
    }

    pub fn list(items: Vec<V>) -> V {
        stack::spend_items(items.len());
        V::List(Rc::new(List::new(items)))
    }

    pub fn set(items: Vec<V>, order: Order) -> V {
        stack::spend_items(items.len());
        let mut set = List::new(Vec::with_capacity(items.len()));
        set.set = Some(order);
        for item in items {
            set.add(item);
        }
        V::List(Rc::new(set))
    }

    /// Creates a range, which cannot be changed.
    pub fn range(items: Vec<V>, text: &str) -> V {
        let mut list = List::new(items);
        list.fixed = true;
        list.range = Some(text.into());
        V::List(Rc::new(list))
    }

    pub fn array(items: Vec<V>, of: Base) -> V {
        stack::spend_items(items.len());
        V::Array(Rc::new(Array { items: Counted::new(items), of }))
    }

    pub fn bytes(bytes: &[u8]) -> V {
        V::array(bytes.iter().map(|byte| V::int(i64::from(*byte as i8))).collect(), Base::Byte)
    }

    pub fn map(entries: Vec<(V, V)>) -> V {
        stack::spend_items(entries.len());
        let map = Map::new(Order::Added);
        for (key, value) in entries {
            map.put(key, value);
        }
        V::Map(Rc::new(map))
    }

    pub fn object(object: Object) -> V {
        stack::count_bytes(0, OBJECT_BYTES);
        V::Object(Rc::new(object))
    }

    pub fn is_null(&self) -> bool {
        matches!(self, V::Plain(Value::Null))
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            V::Plain(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn as_long(&self) -> Option<i64> {
        match self {
            V::Plain(Value::Integer(value)) => Some(i64::from(*value)),
            V::Plain(Value::Long(value)) => Some(*value),
            V::Plain(Value::Character(value)) => Some(i64::from(*value)),
            V::Object(object) => match &**object {
                Object::Atomic(value, _) => Some(value.get()),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn as_bytes(&self) -> Option<Vec<u8>> {
        match self {
            V::Array(array) if array.of == Base::Byte => {
                Some(array.items.borrow().iter().map(|item| item.as_long().unwrap_or(0) as u8).collect())
            }
            _ => None,
        }
    }

    /// The items of a list, set, array or range, or the entries of a map.
    pub fn items(&self) -> Option<Vec<V>> {
        match self {
            V::List(list) => Some(list.ordered()),
            V::Array(array) => Some(copied(&array.items.borrow())),
            V::Map(map) => Some(map.entry_objects()),
            V::Object(object) => match &**object {
                Object::Iterator(rest) => {
                    let rest = rest.borrow();
                    stack::spend_items(rest.len());
                    Some(rest.iter().cloned().collect())
                }
                Object::Library(instance) => instance.items(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The name of the value's kind, for messages.
    pub fn kind(&self) -> String {
        match self {
            V::Plain(value) => value.type_name().to_owned(),
            V::Void => "void".into(),
            V::List(list) if list.set.is_some() => "a set".into(),
            V::List(_) => "a list".into(),
            V::Array(_) => "an array".into(),
            V::Map(_) => "a map".into(),
            V::Closure(_) => "a closure".into(),
            V::Object(object) => format!("a {}", object.class().name()),
            V::Class(class) => format!("the class {}", class.name()),
            V::Host(host) => match host {
                Host::Vars => "vars".into(),
                Host::Props => "props".into(),
                Host::Log => "log".into(),
                Host::Context => "ctx".into(),
                Host::Sample => "the sample result".into(),
                Host::Previous => "prev".into(),
                Host::Sampler => "sampler".into(),
                Host::Out => "OUT".into(),
                Host::Err => "System.err".into(),
                Host::Assertion => "AssertionResult".into(),
                Host::Event => "sampleEvent".into(),
                Host::Thread => "the thread".into(),
                Host::Engine => "the engine".into(),
                Host::Group => "the thread group".into(),
            },
        }
    }

    /// Implements Java's `equals`.
    pub fn equals(&self, other: &V) -> bool {
        if stack::must_stop() {
            return false;
        }
        match (self, other) {
            (V::Plain(Value::Double(a)), V::Plain(Value::Double(b))) => a.to_bits() == b.to_bits(),
            (V::Plain(Value::Text(a)), V::Plain(Value::Text(b))) => same_text(a, b),
            (V::Plain(a), V::Plain(b)) => a == b,
            (V::List(a), V::List(b)) if Rc::ptr_eq(a, b) => true,
            (V::List(a), V::List(b)) if a.set.is_some() == b.set.is_some() => a.equals(b),
            (V::Map(a), V::Map(b)) => Rc::ptr_eq(a, b) || a.equals(b),
            (V::Array(a), V::Array(b)) => Rc::ptr_eq(a, b),
            (V::Closure(a), V::Closure(b)) => Rc::ptr_eq(a, b),
            (V::Object(a), V::Object(b)) if Rc::ptr_eq(a, b) => true,
            (V::Object(a), other) if a.library().is_some() => a.library().is_some_and(|a| a.is_equal(other)),
            (V::Object(a), V::Object(b)) => a.equals(b),
            (V::Class(a), V::Class(b)) => a == b,
            (V::Host(a), V::Host(b)) => a == b,
            (V::Void, V::Void) => true,
            _ => false,
        }
    }
}

/// Number of bytes of text that can be copied or compared in the time of a step.
const BYTES_PER_STEP: usize = 64;

fn same_text(a: &Arc<str>, b: &Arc<str>) -> bool {
    if a.len() != b.len() {
        return false;
    }
    stack::spend(a.len() / BYTES_PER_STEP);
    a == b
}

/// Copies the items and counts the steps; returns an empty vector if not enough steps are left.
pub(super) fn copied(items: &[V]) -> Vec<V> {
    if stack::spend_items(items.len()) { items.to_vec() } else { Vec::new() }
}

/// The first of `places` places that `is_wanted` accepts. Each call of `is_wanted` counts as a comparison of values.
pub(super) fn first_place(places: usize, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
    for at in 0..places {
        // Four comparisons of plain values take about as long as a step.
        if at % 16 == 15 && !stack::spend(4) {
            return None;
        }
        if is_wanted(at) {
            return Some(at);
        }
    }
    None
}

/// The place of the first item that is equal to a value.
pub(super) fn position(items: &[V], wanted: &V) -> Option<usize> {
    first_place(items.len(), |at| items[at].equals(wanted))
}

/// Implements Java's `hashCode`; `None` if it depends on an object's address, or is not implemented here.
pub(super) fn hash(value: &V) -> Option<i32> {
    if stack::must_stop() {
        return None;
    }
    Some(match value {
        V::Plain(Value::Null) => 0,
        V::Plain(Value::Text(text)) => hash_code(text),
        V::Plain(Value::Integer(value)) => *value,
        V::Plain(Value::Long(value)) => (*value ^ (*value as u64 >> 32) as i64) as i32,
        V::Plain(Value::Boolean(value)) => {
            if *value {
                1231
            } else {
                1237
            }
        }
        V::Plain(Value::Character(unit)) => i32::from(*unit),
        V::Plain(Value::Double(value)) => {
            let bits = value.to_bits();
            (bits ^ (bits >> 32)) as i32
        }
        V::List(list) if list.set.is_none() => {
            let mut all = 1_i32;
            if !stack::spend(1 + list.items.len() / 2) {
                return None;
            }
            for item in list.items.borrow().iter() {
                all = all.wrapping_mul(31).wrapping_add(hash(item)?);
            }
            all
        }
        _ => return None,
    })
}

/// The places of the items in the order of Java's hash tables: by bucket, and within a bucket in insertion order. `most` is the
/// maximum number of entries that the table has had, which determines its number of buckets.
pub(super) fn hash_order<'v>(keys: impl Iterator<Item = &'v V>, most: usize) -> Vec<usize> {
    stack::spend(most / 2);
    let mut size = 16_usize;
    while size * 3 / 4 < most {
        size *= 2;
    }
    let mut places: Vec<(usize, usize)> = keys
        .enumerate()
        .map(|(at, key)| {
            let code = hash(key).unwrap_or(0) as u32;
            ((code ^ (code >> 16)) as usize & (size - 1), at)
        })
        .collect();
    places.sort_unstable();
    places.into_iter().map(|(_, at)| at).collect()
}

/// The natural order of strings, numbers and dates.
pub(super) fn natural(a: &V, b: &V) -> std::cmp::Ordering {
    match (a, b) {
        (V::Plain(Value::Text(a)), V::Plain(Value::Text(b))) => a.encode_utf16().cmp(b.encode_utf16()),
        (V::Plain(a), V::Plain(b)) => {
            crate::plain::groovy::compare(a, b).unwrap_or(std::cmp::Ordering::Equal)
        }
        (V::Object(a), V::Object(b)) => a.instant().cmp(&b.instant()),
        _ => std::cmp::Ordering::Equal,
    }
}
