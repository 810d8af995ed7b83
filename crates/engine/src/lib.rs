//! The load engine: runs programs with virtual users, controllers, timers and open workloads.
//!
//! A [`program::Program`] is immutable and shared; a virtual user is an async task that stays on its core
//! and runs the program with a little state per controller. The engine depends neither on XML nor on wire protocols.

pub mod barrier;
mod checks;
pub mod control;
pub mod core;
mod core_share;
pub mod delays;
mod idle_pool;
mod next;
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

pub use busyhour_sample::Nanos;
