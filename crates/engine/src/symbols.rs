//! What compiling hands out: slots for variable names and ids for elements' private state.

use crate::user::StateId;
use crate::variables::{Names, Slot};

/// The symbols of a program while it is being compiled.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Variable names.
    pub names: Names,
    states: u32,
}

impl Symbols {
    /// The slot of a variable name.
    pub fn slot(&mut self, name: &str) -> Slot {
        self.names.slot(name)
    }

    /// A new place for an element's private state in every user.
    pub fn state(&mut self) -> StateId {
        self.states += 1;
        StateId(self.states - 1)
    }

    /// Number of private states handed out.
    pub fn state_count(&self) -> u32 {
        self.states
    }
}
