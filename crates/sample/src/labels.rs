//! The table of sample labels, shared by every core of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sample::LabelId;

/// Maximum number of labels of each kind of sample with their own totals. Samples of further labels are counted under
/// [`OTHER_LABELS`]. The histograms of a label take about 100 KiB, so without this limit a plan with a number in its labels
/// would exhaust the memory.
pub const LABELS_MAX: usize = 1_000;

/// The name of the row for samples of labels beyond the limit.
pub const OTHER_LABELS: &str = "(other labels)";

/// Interns labels: each distinct text has one number, which is never reused. Clones share one table.
///
/// A lookup takes a lock, so each core caches the numbers that it needs.
#[derive(Debug, Clone, Default)]
pub struct Labels(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    names: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, LabelId>,
}

impl Labels {
    /// An empty table.
    #[must_use]
    pub fn new() -> Labels {
        Labels::default()
    }

    /// The number of `name`, which is added to the table if necessary.
    #[must_use]
    pub fn intern(&self, name: &str) -> LabelId {
        let mut table = self.table();
        if let Some(id) = table.ids.get(name) {
            return *id;
        }
        let id = LabelId(u32::try_from(table.names.len()).unwrap_or(u32::MAX));
        let name: Arc<str> = name.into();
        table.names.push(Arc::clone(&name));
        table.ids.insert(name, id);
        id
    }

    /// The text of `id`; empty if there is no label with this number.
    #[must_use]
    pub fn name(&self, id: LabelId) -> Arc<str> {
        self.table().names.get(id.0 as usize).cloned().unwrap_or_else(|| Arc::from(""))
    }

    /// Number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table().names.len()
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labels from number `first` on.
    #[must_use]
    pub fn names_from(&self, first: usize) -> Vec<Arc<str>> {
        self.table().names.get(first..).map(<[_]>::to_vec).unwrap_or_default()
    }

    // A poisoned lock is used all the same, because a panic cannot leave the table inconsistent.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stable_and_shared_by_clones() {
        let labels = Labels::new();
        let other = labels.clone();
        let a = labels.intern("a");
        assert_eq!(other.intern("b"), LabelId(1));
        assert_eq!(other.intern("a"), a);
        assert_eq!(&*labels.name(LabelId(1)), "b");
        assert_eq!(&*labels.name(LabelId(9)), "");
        assert_eq!(labels.names_from(1).len(), 1);
        assert_eq!(labels.names_from(5).len(), 0);
    }
}
