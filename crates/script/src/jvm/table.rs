//! The entries of a map in the order in which they were added, with an index beside them.

use std::cell::{Cell, Ref, RefCell};

use super::index::{Index, LINEAR_MAX};
use super::stack::count_bytes;

/// Entries in their order. A removed one leaves its place empty until half of the places are.
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

    /// The entries in the order in which they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &(K, W)> {
        self.places.iter().flatten()
    }

    pub fn index(&self) -> &Index {
        &self.index
    }

    /// How many places there are, empty ones included.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    pub fn at(&self, place: usize) -> Option<&(K, W)> {
        self.places.get(place)?.as_ref()
    }

    /// Whether the next key needs a hash, and the keys before it, too, if they have none yet.
    pub fn needs_hashes(&self) -> bool {
        self.places.len() >= LINEAR_MAX
    }

    /// Adds an entry; `hashes` are those of the keys that are not in the index yet.
    pub fn push(&mut self, key: K, value: W, hashes: Vec<Option<u32>>) {
        self.places.push(Some((key, value)));
        self.count += 1;
        for hash in hashes {
            self.index.push(hash);
        }
    }

    /// Replaces the value at a place that has one.
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

/// A table whose memory counts for the script that runs.
#[derive(Debug)]
pub(super) struct Entries<K, W> {
    table: RefCell<Table<K, W>>,
    bytes: Cell<usize>,
}

impl<K, W> Entries<K, W> {
    pub fn new(table: Table<K, W>) -> Entries<K, W> {
        let made = Entries { table: RefCell::new(table), bytes: Cell::new(0) };
        made.change(|_| ());
        made
    }

    pub fn borrow(&self) -> Ref<'_, Table<K, W>> {
        self.table.borrow()
    }

    /// Changes the table. The change calls nothing of a script.
    pub fn change<R>(&self, change: impl FnOnce(&mut Table<K, W>) -> R) -> R {
        let mut table = self.table.borrow_mut();
        let result = change(&mut table);
        let now = table.bytes();
        count_bytes(self.bytes.replace(now), now);
        result
    }

    /// Takes the table out, without borrowing.
    pub fn take(&mut self) -> Table<K, W> {
        std::mem::take(self.table.get_mut())
    }
}

impl<K, W> Drop for Entries<K, W> {
    fn drop(&mut self) {
        count_bytes(self.bytes.get(), 0);
    }
}
