//! Divides long evaluations into slices, so that the other users of a core can continue in between.
//!
//! A core runs many users on one thread. The engine polls the future of a user inside a coroutine ([`SlicedPoll`]).
//! Evaluators (regular expressions, XPath, scripts and so on) call [`tick`] with the number of steps that they took. When a
//! poll has taken longer than [`SLICE_NS`], `tick` suspends the coroutine with all its stack frames, and the thread continues
//! with other users.
//!
//! Libraries that do not count steps are called through [`run_on_other_thread`], which runs them on another thread if the text is long.
//!
//! An evaluation that has to wait for a future, such as a network exchange, calls [`wait_for`].
//!
//! Rules for code that calls `tick`, `run_on_other_thread` or `wait_for`, directly or indirectly:
//!
//! * It holds no borrow of a thread-local `RefCell` and no lock at that time: another user may need it before this one
//!   continues. Take the value out and put it back, or run the work in [`without_suspension`].
//! * Counters of an evaluation are not thread-local; they are fields of the evaluation or [`Number`]s, which have
//!   a separate value in each coroutine.

mod away;
mod begin;
mod coroutine;
mod handle;
mod numbers;
mod slice;
mod wait;

pub use away::{is_long, run_on_other_thread};
pub use begin::begin_slices;
pub use coroutine::{Polled, SlicedPoll};
pub use numbers::Number;
pub use slice::{checkpoint, need_coroutines, slices, suspend_every, tick, without_suspension};
pub use wait::wait_for;

/// Duration after which a slice ends, in nanoseconds.
pub const SLICE_NS: u64 = 1_000_000;

/// Maximum number of suspended evaluations of one thread. Further evaluations are not suspended.
pub const SUSPENDED_MAX: usize = 64;

/// Maximum number of evaluations of one thread that wait for a future. For further evaluations, the whole thread waits.
pub const WAITING_MAX: usize = 1024;

#[cfg(test)]
mod tests;
