//! The full-screen terminal view of a run: the same information as the live page, and keys that change the load.
//!
//! The state of the terminal is always restored at the end of a run: when [`Screen`] is dropped, and after a panic, before
//! the panic's message is printed.

mod draw;
mod keys;
mod terminal;

pub(crate) use draw::{Shown, draw};
pub(crate) use keys::Key;
pub(crate) use terminal::{Screen, is_in_foreground, reason_against, restore};
