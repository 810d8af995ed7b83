//! The load engine: programs, virtual users, controllers, timers, the clock and the Protocol trait.
//!
//! A [`program::Program`] is immutable and shared; a virtual user is an async task that never leaves its core
//! and walks the program with a little state per controller. Nothing here knows XML or a wire protocol.

pub mod barrier;
mod checks;
pub mod control;
pub mod core;
mod core_share;
pub mod delays;
pub mod open;
mod phase_users;
pub mod precise;
pub mod queues;
mod reporting;
pub mod runner;
pub mod shaping;
mod signs;
mod slices;
pub mod stalls;
mod supply;
mod suspended;
#[cfg(test)]
mod testing;
pub mod think;
pub mod timers;
pub mod transaction;
mod turns;
mod virtual_user;

pub use busyhour_record::Nanos;
