//! The JVMs that are watched at the moment.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The process IDs of the JVMs that probes read at the moment, also of those that a probe recognized after a restart. Clones share the
/// list. A search for new JVMs skips them.
#[derive(Clone, Debug, Default)]
pub struct WatchedJvms(Arc<Mutex<Vec<u32>>>);

impl WatchedJvms {
    /// Whether a probe reads the JVM of this process.
    #[must_use]
    pub fn contains(&self, pid: u32) -> bool {
        self.list().contains(&pid)
    }

    /// Adds a process; each probe that reads it adds it once.
    pub(super) fn add(&self, pid: u32) {
        self.list().push(pid);
    }

    /// Removes a process once.
    pub(super) fn remove(&self, pid: u32) {
        let mut list = self.list();
        if let Some(position) = list.iter().position(|known| *known == pid) {
            list.swap_remove(position);
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
