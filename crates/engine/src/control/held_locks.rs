//! The locks that users hold in critical sections.

use std::sync::Arc;

use busyhour_program::controller::CriticalSection;
use busyhour_program::locks::Lock;
use busyhour_program::user::{StateId, UserState};
use tokio::sync::OwnedMutexGuard;

/// A lock that a user holds. Nested sections with the same lock share the hold. The lock is released when the user has left the
/// last of them or ends.
#[derive(Clone, Debug)]
pub struct Hold {
    pub(super) lock: Lock,
    pub(super) _guard: Arc<OwnedMutexGuard<()>>,
}

/// The locks that a user holds through one section.
pub(super) type Held = Vec<Hold>;

/// A walk that waits for a lock.
#[derive(Debug)]
pub(crate) struct LockWait {
    pub(super) lock: Lock,
    /// The lock, once the user has obtained it.
    pub(super) got: Option<Hold>,
}

impl LockWait {
    /// Waits until the lock is free and takes it.
    pub(crate) async fn acquire(&mut self) {
        let guard = Arc::clone(&self.lock).lock_owned().await;
        self.got = Some(Hold { lock: Arc::clone(&self.lock), _guard: Arc::new(guard) });
    }
}

/// Leaves a section, at the end of its pass or earlier.
pub(crate) fn leave_section(section: &CriticalSection, user: &mut UserState) {
    release(section.held, user);
}

/// Releases the locks that a user holds through a section.
pub(crate) fn release(section: StateId, user: &mut UserState) {
    if let Some(held) = user.existing_state::<Held>(section) {
        held.clear();
    }
}
