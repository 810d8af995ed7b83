//! Named locks that all users of a run share, for critical sections.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap as HashMap;

/// A lock. The user that has waited longest acquires it next.
pub type Lock = Arc<tokio::sync::Mutex<()>>;

/// The locks of a run, by name.
#[derive(Debug, Default)]
pub struct Locks(Mutex<HashMap<String, Lock>>);

impl Locks {
    /// The lock with this name, created at first use.
    pub fn named(&self, name: &str) -> Lock {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(locks.entry(name.to_owned()).or_default())
    }
}
