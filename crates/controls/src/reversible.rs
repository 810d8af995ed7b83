//! A change of the machine that can be undone.

use crate::error::ControlError;
use crate::system::System;

/// The result of undoing a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The state before was restored.
    Restored,
    /// The state was already as before the change, or the change was never made.
    AlreadyRestored,
    /// The object has ended or was removed.
    Gone,
}

/// A change of the machine that can be undone.
pub trait Reversible {
    /// Makes the change.
    ///
    /// # Errors
    /// The system refuses it. In this case nothing was changed, or [`Reversible::undo`] undoes the part that was
    /// changed.
    fn make(&self, system: &dyn System) -> Result<(), ControlError>;

    /// Restores the state before the change, even if the change was never made or only in part, and if it was undone before.
    ///
    /// # Errors
    /// The system refuses it.
    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError>;
}
