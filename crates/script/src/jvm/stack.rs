//! How much of the thread's stack a running script may use: what nests deeper is Java's `StackOverflowError`.

use std::cell::Cell;
use std::hint::black_box;

/// Stack that one run may use, in bytes: half of what threads get by default.
const BYTES_MAX: usize = 1 << 20;

thread_local! {
    /// Address on the stack where the outermost run began; 0 outside of runs.
    static BASE: Cell<usize> = const { Cell::new(0) };
    /// A comparison or hash gave up, because it nested too deeply.
    static OVERFLOWED: Cell<bool> = const { Cell::new(false) };
}

/// An address near the top of the stack.
fn here() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(black_box(&marker)).addr()
}

/// A run: until it is dropped, depth is counted from here.
pub(super) struct Run {
    outer: usize,
}

/// Begins a run; one inside another shares the outer one's stack.
pub(super) fn begin() -> Run {
    let outer = BASE.get();
    if outer == 0 {
        BASE.set(here());
        OVERFLOWED.set(false);
    }
    Run { outer }
}

impl Drop for Run {
    fn drop(&mut self) {
        BASE.set(self.outer);
    }
}

/// Whether the run has used up its stack.
pub(super) fn is_exhausted() -> bool {
    BASE.get().abs_diff(here()) > BYTES_MAX && BASE.get() != 0
}

/// The same for an operation that cannot fail: it ends with any result, and the machine fails afterwards.
pub(super) fn gives_up() -> bool {
    let exhausted = is_exhausted();
    if exhausted {
        OVERFLOWED.set(true);
    }
    exhausted
}

/// Whether an operation gave up since the last question.
pub(super) fn has_given_up() -> bool {
    OVERFLOWED.get() && OVERFLOWED.replace(false)
}
