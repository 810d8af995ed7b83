//! The result of one step of a walk.

use busyhour_program::ids::{ControllerId, SamplerId};

/// The next step of a walk through a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The controller's pass is over.
    Nothing,
    /// The next step is a sampler.
    Sampler(SamplerId),
    /// A transaction in parent mode: its state determines what to do.
    Transaction(ControllerId),
    /// Many turns found no sampler, or a lock is taken. Call again after other users have run, or when the lock of
    /// [`crate::control::UserPosition::waits`] is free.
    Yield,
}
