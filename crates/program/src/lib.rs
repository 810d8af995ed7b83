//! A compiled test plan, and the part of a virtual user that its elements access.
//!
//! A [`Program`] is immutable and shared by all users. Elements (pre-processors, timers, assertions, ...), functions and
//! protocols implement the traits of [`element`], [`template`] and [`sampler`], and access a user through
//! [`user::UserState`]. The engine runs programs; this crate does not depend on the engine, on XML or on a protocol.

pub mod body_memory;
pub mod clock;
pub mod controller;
pub mod element;
mod error;
pub mod group;
pub mod ids;
pub mod load_part;
pub mod locks;
mod logical_action;
pub mod open;
pub mod phase;
pub mod population;
mod program;
pub mod queues;
pub mod result;
pub mod run;
pub mod run_control;
pub mod sampler;
pub mod symbols;
pub mod template;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod thrown;
pub mod user;
pub mod variables;

pub use error::ElementError;
pub use program::Program;
