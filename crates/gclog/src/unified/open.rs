//! Collections that have begun: stores their details until the line that ends the collection is read.

use std::collections::BTreeMap;

use crate::event::GenerationSizes;
use crate::log::sum;
use crate::size::SizeChange;

/// Maximum number of open collections. Two at a time are usual (a young collection during a concurrent cycle).
const OPEN_MAX: usize = 64;

/// The details of a collection.
#[derive(Debug, Default)]
pub(crate) struct OpenCollection {
    /// Sizes of the young generation; for G1, of its eden and survivor regions together.
    pub young: Option<SizeChange>,
    /// Sizes of the old generation; for G1, of its old, humongous and archive regions together.
    pub old: Option<SizeChange>,
    /// Sizes of the metaspace.
    pub metaspace: Option<SizeChange>,
    /// The committed heap, KiB (ZGC).
    pub capacity_kib: Option<i64>,
    /// The sum of the pauses so far, s (ZGC).
    pub pauses_s: Option<f64>,
    /// Whether objects could not be moved.
    pub is_failure: bool,
}

impl OpenCollection {
    /// The sizes of the generations, if there are any.
    pub fn spaces(&self) -> Option<Box<GenerationSizes>> {
        let spaces = GenerationSizes {
            young: self.young,
            old: self.old,
            metaspace: self.metaspace,
            collected_only: false,
        };
        (spaces.count() > 0).then(|| Box::new(spaces))
    }

    /// Adds the sizes of a part of the young generation.
    pub fn add_young(&mut self, sizes: SizeChange) {
        self.young = sum(self.young, Some(sizes));
    }

    /// Adds the sizes of a part of the old generation.
    pub fn add_old(&mut self, sizes: SizeChange) {
        self.old = sum(self.old, Some(sizes));
    }
}

/// The collections that have begun, by number.
#[derive(Debug, Default)]
pub(crate) struct OpenCollections {
    by_id: BTreeMap<u64, OpenCollection>,
    /// The size of a region of G1, KiB.
    pub region_kib: Option<i64>,
}

impl OpenCollections {
    /// The collection with a number; a new one if it is not open. If there are too many, the collection with the lowest
    /// number is discarded.
    pub fn of(&mut self, id: u64) -> &mut OpenCollection {
        if self.by_id.len() >= OPEN_MAX && !self.by_id.contains_key(&id) {
            self.by_id.pop_first();
        }
        self.by_id.entry(id).or_default()
    }

    /// Removes the collection with a number.
    pub fn take(&mut self, id: Option<u64>) -> OpenCollection {
        id.and_then(|id| self.by_id.remove(&id)).unwrap_or_default()
    }
}
