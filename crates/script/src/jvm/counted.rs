//! Vectors whose memory counts towards the memory limit of the running script.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::ops::{Deref, DerefMut};

use super::stack::count_bytes;

/// The items of a list or array.
#[derive(Debug)]
pub(super) struct Counted<T> {
    values: RefCell<Vec<T>>,
    bytes: Cell<usize>,
    /// Number of changes other than appending an item.
    changes: Cell<u64>,
}

impl<T> Counted<T> {
    pub fn new(values: Vec<T>) -> Counted<T> {
        let counted = Counted { values: RefCell::new(values), bytes: Cell::new(0), changes: Cell::new(0) };
        counted.count();
        counted
    }

    fn count(&self) {
        let now = self.values.try_borrow().map_or(self.bytes.get(), |values| bytes_of(&values));
        count_bytes(self.bytes.replace(now), now);
    }

    pub fn borrow(&self) -> Ref<'_, Vec<T>> {
        self.values.borrow()
    }

    pub fn borrow_mut(&self) -> CountedMut<'_, T> {
        CountedMut { values: Some(self.values.borrow_mut()), owner: self }
    }

    pub fn len(&self) -> usize {
        self.values.borrow().len()
    }

    pub fn push(&self, value: T) {
        let mut values = self.values.borrow_mut();
        let is_full = values.len() == values.capacity();
        values.push(value);
        drop(values);
        if is_full {
            self.count();
        }
    }

    pub fn replace(&self, values: Vec<T>) -> Vec<T> {
        std::mem::replace(&mut *self.borrow_mut(), values)
    }

    /// Removes and returns all items. No borrow is checked at run time, because the list is borrowed mutably.
    pub fn take(&mut self) -> Vec<T> {
        std::mem::take(self.values.get_mut())
    }

    pub fn changes(&self) -> u64 {
        self.changes.get()
    }
}

fn bytes_of<T>(values: &Vec<T>) -> usize {
    values.capacity() * size_of::<T>()
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        count_bytes(self.bytes.get(), 0);
    }
}

/// A mutable borrow of the items. When the borrow is dropped, the memory of the items is counted again.
pub(super) struct CountedMut<'c, T> {
    values: Option<RefMut<'c, Vec<T>>>,
    owner: &'c Counted<T>,
}

impl<T> Deref for CountedMut<'_, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        match &self.values {
            Some(values) => values,
            None => unreachable!("the items are taken only when the borrow is dropped"),
        }
    }
}

impl<T> DerefMut for CountedMut<'_, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        match &mut self.values {
            Some(values) => values,
            None => unreachable!("the items are taken only when the borrow is dropped"),
        }
    }
}

impl<T> Drop for CountedMut<'_, T> {
    fn drop(&mut self) {
        self.values.take();
        self.owner.changes.set(self.owner.changes.get() + 1);
        self.owner.count();
    }
}
