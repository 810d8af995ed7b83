//! Numbers that belong to an evaluation but are not passed as arguments.

use std::cell::Cell;

/// A number with a separate value in each coroutine. The value is 0 when a poll starts and is kept while the poll is
/// suspended. Outside of coroutines, the value belongs to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Stack address at which the outermost run of a script started.
    ScriptStack,
    /// The limit that was reached by an operation of a script that cannot return an error; 0 if there is none.
    ScriptOverflow,
    /// Remaining steps of the outermost run of a script.
    ScriptSteps,
    /// Bytes by which the values of scripts have grown since the start of the outermost run, as an `i64`.
    ScriptBytes,
    /// Remaining steps of the regular expressions of a script.
    ScriptSearchSteps,
    /// Depth of nested evaluations of texts.
    TextDepth,
    /// Number of texts that were evaluated within the outermost one.
    TextCount,
}

const COUNT: usize = 7;

/// The values of all numbers.
pub(crate) type Numbers = [u64; COUNT];

thread_local! {
    static NUMBERS: Cell<Numbers> = const { Cell::new([0; COUNT]) };
}

/// Sets all numbers and returns their previous values.
pub(crate) fn exchange(numbers: Numbers) -> Numbers {
    NUMBERS.replace(numbers)
}

/// The values at the start of an evaluation.
pub(crate) const FRESH: Numbers = [0; COUNT];

impl Number {
    /// Returns the value.
    #[inline]
    pub fn get(self) -> u64 {
        NUMBERS.with(|numbers| self.cell(numbers).get())
    }

    /// Sets the value.
    #[inline]
    pub fn set(self, value: u64) {
        NUMBERS.with(|numbers| self.cell(numbers).set(value));
    }

    #[inline]
    fn cell(self, numbers: &Cell<Numbers>) -> &Cell<u64> {
        let numbers: &Cell<[u64]> = numbers;
        &numbers.as_slice_of_cells()[self as usize]
    }
}
