//! Vectors whose memory counts for the script that runs.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::ops::{Deref, DerefMut};

use super::stack::count_bytes;

/// The items of a list or array.
#[derive(Debug)]
pub(super) struct Counted<T> {
    values: RefCell<Vec<T>>,
    bytes: Cell<usize>,
    /// How often something else happened than an item being added at the end.
    changes: Cell<u64>,
}

impl<T> Counted<T> {
    pub fn new(values: Vec<T>) -> Counted<T> {
        let made = Counted { values: RefCell::new(values), bytes: Cell::new(0), changes: Cell::new(0) };
        made.count();
        made
    }

    fn count(&self) {
        let now = self.values.try_borrow().map_or(self.bytes.get(), |values| bytes_of(&values));
        count_bytes(self.bytes.replace(now), now);
    }

    pub fn borrow(&self) -> Ref<'_, Vec<T>> {
        self.values.borrow()
    }

    pub fn borrow_mut(&self) -> Changing<'_, T> {
        Changing { values: Some(self.values.borrow_mut()), of: self }
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

    /// Takes all items out, without borrowing.
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

/// Items that may be changed; their memory is counted again afterwards.
pub(super) struct Changing<'c, T> {
    values: Option<RefMut<'c, Vec<T>>>,
    of: &'c Counted<T>,
}

impl<T> Deref for Changing<'_, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        match &self.values {
            Some(values) => values,
            None => unreachable!("taken only when it is dropped"),
        }
    }
}

impl<T> DerefMut for Changing<'_, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        match &mut self.values {
            Some(values) => values,
            None => unreachable!("taken only when it is dropped"),
        }
    }
}

impl<T> Drop for Changing<'_, T> {
    fn drop(&mut self) {
        self.values.take();
        self.of.changes.set(self.of.changes.get() + 1);
        self.of.count();
    }
}
