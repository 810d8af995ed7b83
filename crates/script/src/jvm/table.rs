//! The entries of a map in insertion order, with an index of their keys.

use std::cell::{Cell, Ref, RefCell};

use super::index::{Index, LINEAR_MAX};
use super::stack::count_bytes;

/// Entries in insertion order. The place of a removed entry remains empty until more than half of all places are empty.
#[derive(Debug, Clone)]
pub(super) struct Table<K, W> {
    places: Vec<Option<(K, W)>>,
    count: usize,
    index: Index,
}

impl<K, W> Default for Table<K, W> {
    fn default() -> Table<K, W> {
        Table { places: Vec::new(), count: 0, index: Index::default() }
    }
}

impl<K, W> Table<K, W> {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The entries in insertion order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &(K, W)> {
        self.places.iter().flatten()
    }

    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Number of places, including empty places.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    pub fn at(&self, place: usize) -> Option<&(K, W)> {
        self.places.get(place)?.as_ref()
    }

    /// Whether the index needs the hash of the next key, and the hashes of all earlier keys that it does not contain yet.
    pub fn needs_hashes(&self) -> bool {
        self.places.len() >= LINEAR_MAX
    }

    /// Adds an entry. `hashes` are the hashes of the keys that the index does not contain yet.
    pub fn push(&mut self, key: K, value: W, hashes: Vec<Option<u32>>) {
        self.places.push(Some((key, value)));
        self.count += 1;
        for hash in hashes {
            self.index.push(hash);
        }
    }

    /// Replaces the value at a place that is not empty.
    pub fn set(&mut self, place: usize, value: W) -> Option<W> {
        let entry = self.places.get_mut(place)?.as_mut()?;
        Some(std::mem::replace(&mut entry.1, value))
    }

    pub fn remove(&mut self, place: usize) -> Option<(K, W)> {
        let removed = self.places.get_mut(place)?.take()?;
        self.count -= 1;
        if self.count * 2 < self.places.len() || self.index.len() == 0 {
            let places = &self.places;
            if self.count <= LINEAR_MAX {
                self.index.clear();
            } else {
                self.index.retain(|place| places.get(place).is_some_and(Option::is_some));
            }
            self.places.retain(Option::is_some);
        }
        Some(removed)
    }

    fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Option<(K, W)>>() + self.index.bytes()
    }

    pub fn into_entries(self) -> impl Iterator<Item = (K, W)> {
        self.places.into_iter().flatten()
    }
}

/// A table whose memory counts towards the memory limit of the running script.
#[derive(Debug)]
pub(super) struct Entries<K, W> {
    table: RefCell<Table<K, W>>,
    bytes: Cell<usize>,
}

impl<K, W> Entries<K, W> {
    pub fn new(table: Table<K, W>) -> Entries<K, W> {
        let entries = Entries { table: RefCell::new(table), bytes: Cell::new(0) };
        entries.change(|_| ());
        entries
    }

    pub fn borrow(&self) -> Ref<'_, Table<K, W>> {
        self.table.borrow()
    }

    /// Changes the table. `change` must not run code of a script, because the table is borrowed.
    pub fn change<R>(&self, change: impl FnOnce(&mut Table<K, W>) -> R) -> R {
        let mut table = self.table.borrow_mut();
        let result = change(&mut table);
        let now = table.bytes();
        count_bytes(self.bytes.replace(now), now);
        result
    }

    /// Removes and returns the table. No borrow is checked at run time, because the entries are borrowed mutably.
    pub fn take(&mut self) -> Table<K, W> {
        std::mem::take(self.table.get_mut())
    }
}

impl<K, W> Drop for Entries<K, W> {
    fn drop(&mut self) {
        count_bytes(self.bytes.get(), 0);
    }
}
