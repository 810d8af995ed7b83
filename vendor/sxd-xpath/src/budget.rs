//! BUDGET: steps that evaluations on this thread may take. A step is a node that is looked at, or 64 bytes of text.

use std::cell::Cell;

thread_local!(static LEFT: Cell<u64> = Cell::new(u64::max_value()));

/// Sets the steps that are left to this thread.
pub fn set(steps: u64) {
    LEFT.with(|left| left.set(steps));
}

thread_local!(static ON_STEPS: Cell<fn(usize)> = Cell::new(nothing));

fn nothing(_steps: usize) {}

/// Has a function called with the steps that this thread takes. It may let other evaluations run before it returns.
pub fn on_steps(call: fn(usize)) {
    ON_STEPS.with(|on_steps| on_steps.set(call));
}

/// Takes steps from the budget; false when it is used up.
pub fn spend(steps: usize) -> bool {
    let left = LEFT.with(|left| left.get().saturating_sub(steps as u64));
    ON_STEPS.with(|on_steps| on_steps.get())(steps);
    LEFT.with(|all| all.set(left));
    left > 0
}

/// Whether no steps are left.
pub fn is_used_up() -> bool {
    LEFT.with(|left| left.get() == 0)
}
