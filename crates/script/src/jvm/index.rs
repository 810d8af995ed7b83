//! A hash index of keys that are stored in insertion order elsewhere.

/// Maximum number of keys that are compared one by one, without an index.
pub(super) const LINEAR_MAX: usize = 8;

/// A hash table of places of keys: open addressing, at most three quarters full.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// The hash of the key at each place.
    hashes: Vec<u32>,
    /// Places, counted from 1; 0 is empty.
    buckets: Vec<u32>,
    /// Number of keys without a hash. A search by hash does not find them, although such a key may be equal to any key.
    unhashed: usize,
}

impl Index {
    /// Number of indexed keys.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether a search by hash finds every key.
    pub fn is_complete(&self) -> bool {
        !self.buckets.is_empty() && self.unhashed == 0
    }

    /// Memory of the index in bytes.
    pub fn bytes(&self) -> usize {
        (self.hashes.capacity() + self.buckets.capacity()) * size_of::<u32>()
    }

    /// Adds the key of the next place; `hash` is `None` if the key has no hash.
    pub fn push(&mut self, hash: Option<u32>) {
        self.unhashed += usize::from(hash.is_none());
        let hash = hash.unwrap_or(0);
        self.hashes.push(hash);
        if self.hashes.len() * 4 > self.buckets.len() * 3 {
            self.rebuild();
        } else {
            self.insert(hash, self.hashes.len());
        }
    }

    fn insert(&mut self, hash: u32, number: usize) {
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
            self.insert(self.hashes[at], at + 1);
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

    /// Retains the keys whose places `is_kept` accepts, and renumbers their places.
    pub fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut place = 0;
        self.hashes.retain(|_| {
            place += 1;
            is_kept(place - 1)
        });
        self.rebuild();
    }

    pub fn clear(&mut self) {
        *self = Index::default();
    }
}
