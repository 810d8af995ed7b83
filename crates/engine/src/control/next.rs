//! What a walk finds next.

use busyhour_program::ids::{ControllerId, SamplerId};

/// The next step of a walk through a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Its pass is over.
    Nothing,
    /// A sampler.
    Sampler(SamplerId),
    /// A transaction in parent mode: its state says what to do.
    Transaction(ControllerId),
    /// Many turns were taken without finding a sampler, or a lock is taken: ask again after letting others run, or when
    /// the lock of [`super::Place::waits`] is to be had.
    Yield,
}
