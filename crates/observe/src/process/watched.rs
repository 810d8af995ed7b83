//! The processes that are watched at the moment.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::identity::Identity;
use crate::proc_root::ProcRoot;

/// The processes that probes read at the moment, also those that a probe recognized after a restart. Clones share the list. A search for
/// further processes skips them.
#[derive(Clone, Debug, Default)]
pub struct WatchedProcesses(Arc<Mutex<FxHashMap<String, Identity>>>);

impl WatchedProcesses {
    /// Whether a probe reads this process, or will read it because it is the successor of a watched process that has ended.
    #[must_use]
    pub fn contains(&self, root: &ProcRoot, pid: u32) -> bool {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.values().any(|watched| {
            watched.pid == pid
                || !watched.is_running(root)
                    && watched.find_successor(root).is_some_and(|successor| successor.pid == pid)
        })
    }

    /// Records the process that a source reads.
    pub(super) fn set(&self, source: &str, identity: &Identity) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.insert(source.to_owned(), identity.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_and_its_successor_are_watched_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = ProcRoot::recorded(dir.path());
        let add = |pid: u32, command: &str| super::super::tests::add_process(dir.path(), pid, command);
        add(7, "shop");
        let watched = WatchedProcesses::default();
        watched.set("process:7", &Identity::read(&root, 7, &[]).unwrap());
        add(8, "shop");
        add(9, "other");
        assert!(watched.contains(&root, 7));
        assert!(!watched.contains(&root, 8), "it runs at the same time");
        std::fs::remove_dir_all(dir.path().join("proc/7")).unwrap();
        assert!(watched.contains(&root, 8));
        assert!(!watched.contains(&root, 9));
    }
}
