//! What a walk finds next.

use busyhour_program::ids::{ControllerId, SamplerId};

/// The next step of a walk through a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Its pass is over.
    Nothing,
    /// A sampler.
    Sampler(SamplerId),
    /// A transaction in parent mode: its state determines what to do.
    Transaction(ControllerId),
    /// Many turns did not find a sampler, or a lock is taken: call again after other users have run, or when
    /// the lock of [`crate::control::UserPlace::waits`] is free.
    Yield,
}
