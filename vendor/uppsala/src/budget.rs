//! BUDGET: steps that validations on this thread may take. A step is a particle or attribute that is looked at,
//! or 64 bytes of text; an element takes ten.

use std::cell::Cell;

/// How deep content models may be in each other, those of parents and children added up.
const DEPTH_MAX: u32 = 500;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Sets the steps that are left to this thread.
pub fn set(steps: u64) {
    LEFT.with(|left| left.set(steps));
}

/// Steps that are left.
pub fn left() -> u64 {
    LEFT.with(Cell::get)
}

/// Takes steps from the budget; false when it is used up.
pub fn spend(steps: usize) -> bool {
    LEFT.with(|left| {
        left.set(left.get().saturating_sub(steps as u64));
        left.get() > 0
    })
}

/// Whether no steps are left.
pub fn is_used_up() -> bool {
    left() == 0
}

/// One content model inside another; uses the budget up when there are too many.
pub(crate) struct Level;

impl Level {
    pub(crate) fn enter() -> Self {
        let depth = DEPTH.with(|depth| depth.replace(depth.get() + 1));
        if depth >= DEPTH_MAX {
            set(0);
        }
        Level
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}
