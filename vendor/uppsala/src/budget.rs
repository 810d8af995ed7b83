//! BUDGET: steps that validations and XPath evaluations on this thread may take. A step is a node, a particle or an
//! attribute that is looked at, or 64 bytes of text; an element that is validated takes ten.

use std::cell::Cell;

/// How deep content models may be in each other, those of parents and children added up.
const DEPTH_MAX: u32 = 500;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static ON_STEPS: Cell<fn(usize)> = const { Cell::new(nothing) };
}

fn nothing(_steps: usize) {}

/// Sets the steps that are left to this thread.
pub fn set(steps: u64) {
    LEFT.with(|left| left.set(steps));
}

/// Steps that are left.
pub(crate) fn left() -> u64 {
    LEFT.with(Cell::get)
}

/// Does `work` with a budget of its own and tells whether that was used up. `on_steps` is called with the steps that
/// are taken, and may do other evaluations on this thread before it returns.
pub fn with_steps<T>(steps: u64, on_steps: fn(usize), work: impl FnOnce() -> T) -> (T, bool) {
    let left = LEFT.replace(steps);
    let outer = ON_STEPS.replace(on_steps);
    let result = work();
    ON_STEPS.set(outer);
    (result, LEFT.replace(left) == 0)
}

/// Takes steps from the budget; false when it is used up.
pub(crate) fn spend(steps: usize) -> bool {
    let left = LEFT.get().saturating_sub(steps as u64);
    let on_steps = ON_STEPS.replace(nothing);
    on_steps(steps);
    ON_STEPS.set(on_steps);
    LEFT.set(left);
    left > 0
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
