//! Numbers that belong to an evaluation although no argument carries them.

use std::cell::Cell;

/// A number that each coroutine has for itself: 0 when a poll begins, kept while the poll is suspended. Outside of
/// coroutines it belongs to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Address on the stack where the outermost run of a script began.
    ScriptStack,
    /// Which limit an operation of a script reached that cannot return an error; 0: none.
    ScriptOverflow,
    /// Steps that are left to the outermost run of a script.
    ScriptSteps,
    /// Bytes by which the values of scripts have grown since the outermost run began, as an `i64`.
    ScriptBytes,
    /// Steps that are left to the regular expressions of a script.
    ScriptSearchSteps,
    /// How deep texts are evaluated inside of texts.
    TextDepth,
    /// How many texts were evaluated inside of the outermost.
    TextCount,
}

const COUNT: usize = 7;

/// The values of all numbers.
pub(crate) type Numbers = [u64; COUNT];

thread_local! {
    static NUMBERS: Cell<Numbers> = const { Cell::new([0; COUNT]) };
}

/// Sets all numbers and returns what they were.
pub(crate) fn exchange(numbers: Numbers) -> Numbers {
    NUMBERS.replace(numbers)
}

/// The numbers of an evaluation that begins.
pub(crate) const FRESH: Numbers = [0; COUNT];

impl Number {
    /// Its value.
    #[inline]
    pub fn get(self) -> u64 {
        NUMBERS.with(|numbers| self.cell(numbers).get())
    }

    /// Changes its value.
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
