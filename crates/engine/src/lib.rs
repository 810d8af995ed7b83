//! The load engine: programs, virtual users, controllers, timers, the clock and the Protocol trait.
//!
//! A [`program::Program`] is immutable and shared; a virtual user is an async task that never leaves its core
//! and walks the program with a little state per controller. Nothing here knows XML or a wire protocol.

pub mod barrier;
mod checks;
pub mod clock;
pub mod control;
pub mod core;
pub mod crowd;
pub mod delays;
pub mod element;
pub mod open;
pub mod precise;
pub mod program;
pub mod queues;
mod reporting;
pub mod request;
pub mod result;
pub mod run;
pub mod run_control;
pub mod runner;
pub mod shaping;
pub mod stalls;
pub mod symbols;
pub mod template;
#[cfg(test)]
mod testing;
pub mod think;
pub mod timers;
pub mod transaction;
mod turns;
pub mod user;
pub mod variables;
mod virtual_user;

pub use busyhour_record::Nanos;
