//! Long evaluations in slices, so that the other users of a core continue meanwhile.
//!
//! A core runs many users on one thread. The engine polls the future of a user inside a coroutine ([`SlicedPoll`]).
//! Evaluators (regular expressions, XPath, scripts and so on) call [`tick`] with the steps that they take. When a poll has
//! taken longer than [`SLICE_NS`], `tick` suspends the coroutine with all its stack frames, and the thread continues with other users.
//!
//! Work of a library that counts no steps is done by [`away`] on another thread, if it is on a long text.
//!
//! An evaluation waits for a future, such as a network exchange, with [`wait_for`].
//!
//! Rules for code that calls `tick`, `away` or `wait_for`, directly or indirectly:
//!
//! * It holds no borrow of a thread-local `RefCell` and no lock at that time: another user may need it before this one
//!   continues. Take the value out and put it back, or run the work in [`whole`].
//! * Counters of an evaluation are not thread-local; they are fields of the evaluation or [`Number`]s, which each
//!   coroutine has for itself.

mod away;
mod begin;
mod coroutine;
mod handle;
mod numbers;
mod slice;
mod wait;

pub use away::{away, is_long};
pub use begin::begin_slices;
pub use coroutine::{Polled, SlicedPoll};
pub use numbers::Number;
pub use slice::{checkpoint, need_coroutines, slices, suspend_every, tick, whole};
pub use wait::wait_for;

/// A slice ends after this time, in nanoseconds.
pub const SLICE_NS: u64 = 1_000_000;

/// Suspended evaluations of one thread; beyond them an evaluation is not suspended.
pub const SUSPENDED_MAX: usize = 64;

/// Evaluations of one thread that wait for a future; beyond them an evaluation has the thread wait.
pub const WAITING_MAX: usize = 1024;

#[cfg(test)]
mod tests;
