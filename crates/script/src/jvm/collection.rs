//! Lists, sets and maps: their items and entries, and the search for keys.

use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::counted::Counted;
use super::index::{Index, LINEAR_MAX};
use super::model::{List, Map, Object, Order, V};
use super::stack;
use super::table::{Entries, Table};
use super::value::{copied, first_place, hash_order, natural, position};
use crate::Value;

/// A hash of a key such that equal keys have equal hashes; `None` if the key's class defines its own equality.
///
/// Java's hashes are not used, because strings with equal hashes are easy to construct.
fn key_hash(key: &V) -> Option<u32> {
    let mut hasher = DefaultHasher::new();
    feed(key, &mut hasher)?;
    Some(hasher.finish() as u32)
}

fn hash_of(key: &V) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    feed(key, &mut hasher)?;
    Some(hasher.finish())
}

fn feed(key: &V, hasher: &mut DefaultHasher) -> Option<()> {
    if stack::must_stop() {
        return None;
    }
    std::mem::discriminant(key).hash(hasher);
    match key {
        V::Plain(value) => feed_plain(value, hasher),
        V::Void => {}
        V::List(list) => {
            let items = list.items.borrow();
            if !stack::spend(1 + items.len() / 2) {
                return None;
            }
            if list.set.is_some() {
                let mut all = 0_u64;
                for item in items.iter() {
                    all = all.wrapping_add(hash_of(item)?);
                }
                all.hash(hasher);
            } else {
                for item in items.iter() {
                    feed(item, hasher)?;
                }
            }
        }
        V::Map(map) => {
            let entries = map.entries.borrow();
            if !stack::spend(1 + entries.len()) {
                return None;
            }
            let mut all = 0_u64;
            for (key, value) in entries.iter() {
                all = all.wrapping_add(hash_of(key)?.rotate_left(1) ^ hash_of(value)?);
            }
            all.hash(hasher);
        }
        V::Array(array) => Rc::as_ptr(array).hash(hasher),
        V::Closure(closure) => Rc::as_ptr(closure).hash(hasher),
        V::Class(class) => class.hash(hasher),
        V::Host(host) => std::mem::discriminant(host).hash(hasher),
        V::Object(object) => feed_object(object, hasher)?,
    }
    Some(())
}

fn feed_plain(value: &Value, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Null => {}
        Value::Boolean(value) => value.hash(hasher),
        Value::Character(value) => value.hash(hasher),
        Value::Integer(value) => value.hash(hasher),
        Value::Long(value) => value.hash(hasher),
        Value::BigInteger(value) => value.hash(hasher),
        // As floats, 0.0 and -0.0 are equal.
        Value::Float(value) => (value + 0.0).to_bits().hash(hasher),
        Value::Double(value) => value.to_bits().hash(hasher),
        Value::Decimal(value) => value.hash(hasher),
        Value::Text(text) => {
            stack::spend(text.len() / 64);
            text.hash(hasher);
        }
        Value::List(items) | Value::Array(items) => items.len().hash(hasher),
    }
}

fn feed_object(object: &Rc<Object>, hasher: &mut DefaultHasher) -> Option<()> {
    match &**object {
        Object::Library(_) => return None,
        Object::Date(ms) => ms.get().hash(hasher),
        Object::Temporal(kind, at, _) => {
            std::mem::discriminant(kind).hash(hasher);
            at.hash(hasher);
        }
        Object::Uuid(text) | Object::Charset(text) => text.hash(hasher),
        Object::File(path) => path.hash(hasher),
        Object::Unit(name) => name.hash(hasher),
        Object::Own(frame) => Rc::as_ptr(frame).hash(hasher),
        Object::Entry(key, value) => {
            feed(key, hasher)?;
            feed(value, hasher)?;
        }
        _ => Rc::as_ptr(object).hash(hasher),
    }
    Some(())
}

/// The place of a key among `places` places; `at` returns the key at a place.
fn place_of<'v>(index: &Index, places: usize, key: &V, at: impl Fn(usize) -> Option<&'v V>) -> Option<usize> {
    let is_key = |place: usize| at(place).is_some_and(|known| known.equals(key));
    if !index.is_complete() {
        return first_place(places, is_key);
    }
    // All known keys have a hash, and no key with a hash is equal to a key without one.
    index.find(key_hash(key)?, is_key)
}

impl List {
    pub fn new(items: Vec<V>) -> List {
        List {
            items: Counted::new(items),
            index: RefCell::default(),
            indexed_changes: Cell::new(0),
            set: None,
            fixed: false,
            range: None,
            is_json: false,
        }
    }

    /// The items in the order of Java's iterator.
    pub fn ordered(&self) -> Vec<V> {
        let items = self.items.borrow();
        match self.set {
            Some(Order::Hash) => {
                hash_order(items.iter(), items.len()).into_iter().map(|at| items[at].clone()).collect()
            }
            Some(Order::Sorted) => {
                let mut sorted = copied(&items);
                stack::spend(sorted.len());
                sorted.sort_by(natural);
                sorted
            }
            _ => copied(&items),
        }
    }

    /// Updates the index of a set.
    fn refresh_index(&self) {
        let items = self.items.borrow();
        let changes = self.items.changes();
        let wanted = if items.len() > LINEAR_MAX { items.len() } else { 0 };
        if self.indexed_changes.get() == changes && self.index.borrow().len() == wanted {
            return;
        }
        let mut index = self.index.take();
        if self.indexed_changes.replace(changes) != changes || index.len() > wanted {
            index.clear();
        }
        for item in &items[index.len()..wanted.max(index.len())] {
            index.push(key_hash(item));
        }
        self.index.replace(index);
    }

    /// The index of an item in insertion order.
    pub fn position(&self, item: &V) -> Option<usize> {
        if self.set.is_none() {
            return position(&self.items.borrow(), item);
        }
        self.refresh_index();
        let items = self.items.borrow();
        place_of(&self.index.borrow(), items.len(), item, |at| items.get(at))
    }

    pub fn contains(&self, item: &V) -> bool {
        self.position(item).is_some()
    }

    /// Adds an item, to a set only if it is new. Returns whether it was added.
    pub fn add(&self, item: V) -> bool {
        let is_new = self.set.is_none() || !self.contains(&item);
        if is_new {
            self.items.push(item);
        }
        is_new
    }

    /// Removes an item. Returns whether it was present.
    pub fn remove_item(&self, item: &V) -> bool {
        let Some(at) = self.position(item) else { return false };
        let len = self.items.len();
        stack::spend(len / 32);
        self.items.borrow_mut().remove(at);
        if self.set.is_some() && self.index.borrow().len() == len {
            self.index.borrow_mut().retain(|place| place != at);
            self.indexed_changes.set(self.items.changes());
        }
        true
    }

    /// Implements Java's `equals` for two lists or two sets.
    pub fn equals(&self, other: &List) -> bool {
        let (left, right) = (self.items.borrow(), other.items.borrow());
        if left.len() != right.len() || !stack::spend(1 + left.len() / 4) {
            return false;
        }
        if self.set.is_some() {
            return left.iter().all(|item| other.contains(item));
        }
        left.iter().zip(right.iter()).all(|(a, b)| a.equals(b))
    }
}

impl Map {
    pub fn new(order: Order) -> Map {
        Map { entries: Entries::new(Table::default()), order, most: Cell::new(0) }
    }

    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.borrow().is_empty()
    }

    fn place(&self, key: &V) -> Option<usize> {
        let entries = self.entries.borrow();
        place_of(entries.index(), entries.places(), key, |place| entries.at(place).map(|(key, _)| key))
    }

    pub fn get(&self, key: &V) -> Option<V> {
        let place = self.place(key)?;
        self.entries.borrow().at(place).map(|(_, value)| value.clone())
    }

    pub fn contains_key(&self, key: &V) -> bool {
        self.place(key).is_some()
    }

    pub fn contains_value(&self, value: &V) -> bool {
        let entries = self.entries.borrow();
        stack::spend(entries.len() / 4) && entries.iter().any(|(_, known)| known.equals(value))
    }

    pub fn put(&self, key: V, value: V) -> V {
        if let Some(place) = self.place(&key) {
            return self.entries.change(|entries| entries.set(place, value)).unwrap_or(V::NULL);
        }
        let hashes = self.hashes_with(&key);
        let len = self.entries.change(|entries| {
            entries.push(key, value, hashes);
            entries.len()
        });
        self.most.set(self.most.get().max(len));
        V::NULL
    }

    /// The hashes that the index needs before the key is added.
    fn hashes_with(&self, key: &V) -> Vec<Option<u32>> {
        let entries = self.entries.borrow();
        if !entries.needs_hashes() {
            return Vec::new();
        }
        let mut hashes = Vec::new();
        for place in entries.index().len()..entries.places() {
            hashes.push(entries.at(place).and_then(|(known, _)| key_hash(known)));
        }
        hashes.push(key_hash(key));
        hashes
    }

    pub fn remove(&self, key: &V) -> V {
        let Some(place) = self.place(key) else { return V::NULL };
        let removed = self.entries.change(|entries| entries.remove(place));
        removed.map_or(V::NULL, |(_, value)| value)
    }

    pub fn clear(&self) {
        // The old entries are dropped after the borrow has ended.
        let old = self.entries.change(std::mem::take);
        drop(old);
    }

    /// Replaces all entries with `entries`.
    pub fn replace(&self, entries: Vec<(V, V)>) {
        self.clear();
        for (key, value) in entries {
            self.put(key, value);
        }
    }

    /// The entries in the order of Java's iterator.
    pub fn ordered(&self) -> Vec<(V, V)> {
        self.in_order(self.order)
    }

    /// The entries in the given order.
    pub fn in_order(&self, order: Order) -> Vec<(V, V)> {
        let entries = self.entries.borrow();
        if !stack::spend(entries.len() / 2) {
            return Vec::new();
        }
        let mut all: Vec<(V, V)> = Vec::with_capacity(entries.len());
        all.extend(entries.iter().cloned());
        match order {
            Order::Hash => {
                let order = hash_order(all.iter().map(|(key, _)| key), self.most.get());
                order.into_iter().map(|at| all[at].clone()).collect()
            }
            Order::Sorted => {
                stack::spend(all.len());
                all.sort_by(|(a, _), (b, _)| natural(a, b));
                all
            }
            Order::Added => all,
        }
    }

    pub fn entry_objects(&self) -> Vec<V> {
        self.ordered().into_iter().map(|(key, value)| V::object(Object::Entry(key, value))).collect()
    }

    /// Implements Java's `equals` for two maps.
    pub fn equals(&self, other: &Map) -> bool {
        let (left, right) = (self.entries.borrow(), other.entries.borrow());
        if left.len() != right.len() || !stack::spend(1 + left.len() / 2) {
            return false;
        }
        left.iter().all(|(key, value)| {
            let place =
                place_of(right.index(), right.places(), key, |place| right.at(place).map(|(key, _)| key));
            place.and_then(|place| right.at(place)).is_some_and(|(_, found)| found.equals(value))
        })
    }
}
