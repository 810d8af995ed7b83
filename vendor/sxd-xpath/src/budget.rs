//! BUDGET: steps that evaluations on this thread may take. A step is a node that is looked at, or 64 bytes of text.

use std::cell::Cell;

thread_local!(static LEFT: Cell<u64> = Cell::new(u64::max_value()));

/// Sets the steps that are left to this thread.
pub fn set(steps: u64) {
    LEFT.with(|left| left.set(steps));
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
    LEFT.with(|left| left.get() == 0)
}
