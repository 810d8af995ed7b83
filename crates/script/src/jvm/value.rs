//! The values of a running script: plain values, which are copied, and shared objects.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use busyhour_java::hash_code;

use super::model::Object;
pub(super) use super::model::{Array, Closure, Host, List, Map, Order, V};
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
        V::List(Rc::new(List {
            items: RefCell::new(items),
            set: None,
            fixed: false,
            range: None,
            is_json: false,
        }))
    }

    pub fn set(items: Vec<V>, order: Order) -> V {
        let mut unique: Vec<V> = Vec::with_capacity(items.len());
        for item in items {
            if !unique.iter().any(|known| known.equals(&item)) {
                unique.push(item);
            }
        }
        V::List(Rc::new(List {
            items: RefCell::new(unique),
            set: Some(order),
            fixed: false,
            range: None,
            is_json: false,
        }))
    }

    /// A range, which cannot be changed.
    pub fn range(items: Vec<V>, text: &str) -> V {
        V::List(Rc::new(List {
            items: RefCell::new(items),
            set: None,
            fixed: true,
            range: Some(text.into()),
            is_json: false,
        }))
    }

    pub fn array(items: Vec<V>, of: Base) -> V {
        V::Array(Rc::new(Array { items: RefCell::new(items), of }))
    }

    pub fn bytes(bytes: &[u8]) -> V {
        V::array(bytes.iter().map(|byte| V::int(i64::from(*byte as i8))).collect(), Base::Byte)
    }

    pub fn map(entries: Vec<(V, V)>) -> V {
        let map = Map { entries: RefCell::new(Vec::new()), order: Order::Added, most: Cell::new(0) };
        for (key, value) in entries {
            map.put(key, value);
        }
        V::Map(Rc::new(map))
    }

    pub fn object(object: Object) -> V {
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

    /// The items of a list, set, array; of a map its entries, of a range its numbers.
    pub fn items(&self) -> Option<Vec<V>> {
        match self {
            V::List(list) => Some(list.ordered()),
            V::Array(array) => Some(array.items.borrow().clone()),
            V::Map(map) => Some(map.entry_objects()),
            V::Object(object) => match &**object {
                Object::Iterator(rest) => Some(rest.borrow().clone()),
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

    /// Java's `equals`.
    pub fn equals(&self, other: &V) -> bool {
        if stack::must_stop() {
            return false;
        }
        match (self, other) {
            (V::Plain(Value::Double(a)), V::Plain(Value::Double(b))) => a.to_bits() == b.to_bits(),
            (V::Plain(a), V::Plain(b)) => a == b,
            (V::List(a), V::List(b)) if a.set.is_some() == b.set.is_some() => {
                let (left, right) = (a.items.borrow(), b.items.borrow());
                left.len() == right.len()
                    && if a.set.is_some() {
                        left.iter().all(|item| right.iter().any(|other| other.equals(item)))
                    } else {
                        left.iter().zip(right.iter()).all(|(a, b)| a.equals(b))
                    }
            }
            (V::Map(a), V::Map(b)) => {
                let (left, right) = (a.entries.borrow(), b.entries.borrow());
                left.len() == right.len()
                    && left.iter().all(|(key, value)| {
                        right.iter().any(|(other, found)| other.equals(key) && found.equals(value))
                    })
            }
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

/// Java's `hashCode`, where it does not depend on an address.
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
            for item in list.items.borrow().iter() {
                all = all.wrapping_mul(31).wrapping_add(hash(item)?);
            }
            all
        }
        _ => return None,
    })
}

/// Places of the items in the order of Java's hash tables: by bucket, and in a bucket as they were added.
fn hash_order<'v>(keys: impl Iterator<Item = &'v V>, most: usize) -> Vec<usize> {
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

/// The natural order of texts and numbers.
pub(super) fn natural(a: &V, b: &V) -> std::cmp::Ordering {
    match (a, b) {
        (V::Plain(Value::Text(a)), V::Plain(Value::Text(b))) => a.encode_utf16().cmp(b.encode_utf16()),
        (V::Plain(a), V::Plain(b)) => {
            crate::java_like::groovy::compare(a, b).unwrap_or(std::cmp::Ordering::Equal)
        }
        (V::Object(a), V::Object(b)) => a.instant().cmp(&b.instant()),
        _ => std::cmp::Ordering::Equal,
    }
}

impl List {
    /// The items in the order in which Java goes through them.
    pub fn ordered(&self) -> Vec<V> {
        let items = self.items.borrow();
        match self.set {
            Some(Order::Hash) => {
                hash_order(items.iter(), items.len()).into_iter().map(|at| items[at].clone()).collect()
            }
            Some(Order::Sorted) => {
                let mut sorted = items.clone();
                sorted.sort_by(natural);
                sorted
            }
            _ => items.clone(),
        }
    }

    /// Adds an item, to a set only if it is new; whether it was added.
    pub fn add(&self, item: V) -> bool {
        let is_new = self.set.is_none() || !self.items.borrow().iter().any(|known| known.equals(&item));
        if is_new {
            self.items.borrow_mut().push(item);
        }
        is_new
    }
}

impl Map {
    pub fn new(order: Order) -> Map {
        Map { entries: RefCell::new(Vec::new()), order, most: Cell::new(0) }
    }

    pub fn get(&self, key: &V) -> Option<V> {
        self.entries.borrow().iter().find(|(known, _)| known.equals(key)).map(|(_, value)| value.clone())
    }

    pub fn put(&self, key: V, value: V) -> V {
        let mut entries = self.entries.borrow_mut();
        if let Some((_, known)) = entries.iter_mut().find(|(known, _)| known.equals(&key)) {
            return std::mem::replace(known, value);
        }
        entries.push((key, value));
        self.most.set(self.most.get().max(entries.len()));
        V::NULL
    }

    pub fn remove(&self, key: &V) -> V {
        let mut entries = self.entries.borrow_mut();
        match entries.iter().position(|(known, _)| known.equals(key)) {
            Some(at) => entries.remove(at).1,
            None => V::NULL,
        }
    }

    /// The entries in the order in which Java goes through them.
    pub fn ordered(&self) -> Vec<(V, V)> {
        let entries = self.entries.borrow();
        match self.order {
            Order::Hash => hash_order(entries.iter().map(|(key, _)| key), self.most.get())
                .into_iter()
                .map(|at| entries[at].clone())
                .collect(),
            Order::Sorted => {
                let mut sorted = entries.clone();
                sorted.sort_by(|(a, _), (b, _)| natural(a, b));
                sorted
            }
            Order::Added => entries.clone(),
        }
    }

    pub fn entry_objects(&self) -> Vec<V> {
        self.ordered().into_iter().map(|(key, value)| V::object(Object::Entry(key, value))).collect()
    }
}
