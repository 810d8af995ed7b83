//! The limit on the thread's stack that a running script may use: deeper nesting is Java's `StackOverflowError`.

use std::hint::black_box;

use busyhour_slices::Number::{ScriptOverflow, ScriptStack};

/// Stack that one run may use, in bytes: half of what threads get by default.
const BYTES_MAX: u64 = 1 << 20;

/// An address near the top of the stack.
fn here() -> u64 {
    let marker = 0_u8;
    std::ptr::from_ref(black_box(&marker)).addr() as u64
}

/// A run: until it is dropped, depth is counted from here.
pub(super) struct Run {
    outer: u64,
}

/// Begins a run; one inside another shares the outer one's stack.
pub(super) fn begin() -> Run {
    let outer = ScriptStack.get();
    if outer == 0 {
        ScriptStack.set(here());
        ScriptOverflow.set(0);
    }
    Run { outer }
}

impl Drop for Run {
    fn drop(&mut self) {
        ScriptStack.set(self.outer);
    }
}

/// Whether the run has used up its stack.
pub(super) fn is_exhausted() -> bool {
    let base = ScriptStack.get();
    base.abs_diff(here()) > BYTES_MAX && base != 0
}

/// The same for an operation that cannot return an error: it stops with any result, and the script fails afterwards.
pub(super) fn must_stop() -> bool {
    let exhausted = is_exhausted();
    if exhausted {
        ScriptOverflow.set(1);
    }
    exhausted
}

/// Whether an operation stopped early since the last call.
pub(super) fn stopped_early() -> bool {
    let overflowed = ScriptOverflow.get() != 0;
    if overflowed {
        ScriptOverflow.set(0);
    }
    overflowed
}
