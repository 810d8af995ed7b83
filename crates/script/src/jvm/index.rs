//! Places of keys by their hashes, beside the keys in their order.

/// Up to so many keys are compared one by one.
pub(super) const LINEAR_MAX: usize = 8;

/// A hash table of places: open addressing, never more than three quarters full.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// The hash of the key at each place.
    hashes: Vec<u32>,
    /// Places, counted from 1; 0 is empty.
    buckets: Vec<u32>,
    /// Keys that may equal keys with another hash.
    odd: usize,
}

impl Index {
    /// Keys that have a hash here.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether a search by hash finds every key.
    pub fn is_complete(&self) -> bool {
        !self.buckets.is_empty() && self.odd == 0
    }

    /// Memory that it takes.
    pub fn bytes(&self) -> usize {
        (self.hashes.capacity() + self.buckets.capacity()) * size_of::<u32>()
    }

    /// Adds the key of the next place; without a hash it may equal any key.
    pub fn push(&mut self, hash: Option<u32>) {
        self.odd += usize::from(hash.is_none());
        let hash = hash.unwrap_or(0);
        self.hashes.push(hash);
        if self.hashes.len() * 4 > self.buckets.len() * 3 {
            self.rebuild();
        } else {
            self.enter(hash, self.hashes.len());
        }
    }

    fn enter(&mut self, hash: u32, number: usize) {
        let mask = self.buckets.len() - 1;
        let mut bucket = hash as usize & mask;
        while self.buckets[bucket] != 0 {
            bucket = (bucket + 1) & mask;
        }
        self.buckets[bucket] = u32::try_from(number).unwrap_or(0);
    }

    fn rebuild(&mut self) {
        let size = (self.hashes.len() * 2).next_power_of_two().max(2 * LINEAR_MAX);
        self.buckets.clear();
        self.buckets.resize(size, 0);
        for at in 0..self.hashes.len() {
            self.enter(self.hashes[at], at + 1);
        }
    }

    /// The place of a key with this hash that `is_key` accepts.
    pub fn find(&self, hash: u32, mut is_key: impl FnMut(usize) -> bool) -> Option<usize> {
        let mask = self.buckets.len().checked_sub(1)?;
        let mut bucket = hash as usize & mask;
        loop {
            let place = (self.buckets[bucket] as usize).checked_sub(1)?;
            if self.hashes[place] == hash && is_key(place) {
                return Some(place);
            }
            bucket = (bucket + 1) & mask;
        }
    }

    /// Keeps the keys whose places `stays` accepts; they move up.
    pub fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        let mut place = 0;
        self.hashes.retain(|_| {
            place += 1;
            stays(place - 1)
        });
        self.rebuild();
    }

    pub fn clear(&mut self) {
        *self = Index::default();
    }
}
