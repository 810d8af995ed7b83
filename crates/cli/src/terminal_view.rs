//! The screen of a run that goes on: the same facts as the live page, and keys that change the run.
//!
//! Whatever ends the run, the terminal is left as it was found: [`Screen`] gives it back when it is dropped, and a panic
//! does before its words are printed.

mod draw;
mod keys;
mod terminal;

pub(crate) use draw::{Shown, draw};
pub(crate) use keys::Key;
pub(crate) use terminal::{Screen, give_back, reason_against};
