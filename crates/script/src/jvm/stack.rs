//! The limits of a running script on stack, steps and memory, for operations that cannot return an error.
//!
//! Such an operation stops with an arbitrary result when it reaches a limit, and the evaluation that contains it fails
//! afterwards ([`stopped_early`]).

use std::hint::black_box;

use busyhour_slices::Number::{ScriptBytes, ScriptOverflow, ScriptStack, ScriptSteps};
use busyhour_slices::tick;

/// Maximum stack of a run in bytes: half of the default stack of a thread. Deeper nesting causes Java's `StackOverflowError`.
const STACK_BYTES_MAX: u64 = 1 << 20;

/// Maximum stack of the parser in bytes: more than the deepest accepted nesting needs in a release build.
const PARSER_BYTES_MAX: u64 = 768 << 10;

/// Maximum number of steps of a run: about a second. A step is a statement, an operation, the copying of four items, or the
/// copying of 64 bytes of text.
pub(super) const STEPS_MAX: u32 = 20_000_000;

/// Maximum number of bytes by which a run may increase the memory of lists, maps, arrays, objects and variables.
pub(super) const MEMORY_BYTES_MAX: i64 = 256 << 20;

/// A limit that an operation reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    Stack,
    Steps,
    Memory,
}

impl Reached {
    fn number(self) -> u64 {
        match self {
            Reached::Stack => 1,
            Reached::Steps => 2,
            Reached::Memory => 3,
        }
    }
}

/// An address near the top of the stack.
pub(super) fn here() -> u64 {
    let marker = 0_u8;
    std::ptr::from_ref(black_box(&marker)).addr() as u64
}

/// Whether a parser that began at this address has exhausted its stack.
pub(super) fn is_too_deep(base: u64) -> bool {
    base.abs_diff(here()) > PARSER_BYTES_MAX
}

/// A guard for a run: depth, steps and memory are counted from its creation until it is dropped.
pub(super) struct Run {
    outer: u64,
}

/// Begins a run. A nested run shares the limits of the outer run.
pub(super) fn begin() -> Run {
    let outer = ScriptStack.get();
    if outer == 0 {
        ScriptStack.set(here());
        ScriptOverflow.set(0);
        ScriptSteps.set(u64::from(STEPS_MAX));
        ScriptBytes.set(0);
    }
    Run { outer }
}

impl Run {
    pub fn is_outermost(&self) -> bool {
        self.outer == 0
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        ScriptStack.set(self.outer);
        if self.outer == 0 {
            ScriptSteps.set(0);
        }
    }
}

/// Whether a script is running.
pub(super) fn is_running() -> bool {
    ScriptStack.get() != 0
}

/// Whether the run has exhausted its stack.
pub(super) fn is_exhausted() -> bool {
    let base = ScriptStack.get();
    base.abs_diff(here()) > STACK_BYTES_MAX && base != 0
}

/// Like [`is_exhausted`], for an operation that cannot return an error: the operation stops with an arbitrary result, and the
/// script fails afterwards.
pub(super) fn must_stop() -> bool {
    let exhausted = is_exhausted();
    if exhausted {
        ScriptOverflow.set(Reached::Stack.number());
    }
    exhausted
}

/// Counts steps; returns false if none are left. Outside of runs, steps are not limited.
#[inline]
pub(super) fn spend(steps: usize) -> bool {
    match ScriptSteps.get().checked_sub(steps as u64) {
        Some(left) => {
            ScriptSteps.set(left);
            tick(steps);
            true
        }
        None => !reached(Reached::Steps),
    }
}

/// Counts the steps of copying values.
pub(super) fn spend_items(items: usize) -> bool {
    spend(items / 4)
}

#[cold]
fn reached(limit: Reached) -> bool {
    if !is_running() {
        return false;
    }
    if limit == Reached::Steps {
        ScriptSteps.set(0);
    }
    ScriptOverflow.set(limit.number());
    true
}

/// Number of steps that the run has taken.
#[cfg(test)]
pub(super) fn steps_taken() -> u64 {
    u64::from(STEPS_MAX).saturating_sub(ScriptSteps.get())
}

/// Counts a change of the memory of a value from `before` to `now` bytes.
#[inline]
pub(super) fn count_bytes(before: usize, now: usize) {
    let grown = (ScriptBytes.get() as i64).saturating_add(now as i64).saturating_sub(before as i64);
    ScriptBytes.set(grown as u64);
    if grown > MEMORY_BYTES_MAX && now > before {
        reached(Reached::Memory);
    }
}

/// Whether the run may use this number of additional bytes.
pub(super) fn has_room_for(bytes: usize) -> bool {
    let grown = ScriptBytes.get() as i64;
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    !is_running() || grown.saturating_add(bytes) <= MEMORY_BYTES_MAX
}

/// The limit that an operation reached since the last call.
pub(super) fn stopped_early() -> Option<Reached> {
    let number = ScriptOverflow.get();
    if number == 0 {
        return None;
    }
    ScriptOverflow.set(0);
    [Reached::Stack, Reached::Steps, Reached::Memory].into_iter().find(|limit| limit.number() == number)
}
