//! The full-screen terminal view of a run: the same information as the live page, and keys that change the load.
//!
//! The state of the terminal is restored however the run ends: when [`Screen`] is dropped, and in a panic before its message is
//! printed.

mod draw;
mod keys;
mod terminal;

pub(crate) use draw::{Shown, draw};
pub(crate) use keys::Key;
pub(crate) use terminal::{Screen, is_in_foreground, reason_against, restore};
