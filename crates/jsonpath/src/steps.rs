//! The budget of steps for following a path.

use std::cell::Cell;

/// Steps that following a path through a document may take: values that are looked at, or 16 bytes of text.
pub(crate) const STEPS_MAX: u64 = 20_000_000;

/// Steps that are left.
#[derive(Debug)]
pub struct Steps(Cell<u64>);

impl Steps {
    /// A full budget.
    pub fn full() -> Self {
        Self::of(STEPS_MAX)
    }

    /// A budget of so many steps.
    pub fn of(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// Takes steps from the budget; false when it is used up, and from then on.
    pub fn spend(&self, steps: usize) -> bool {
        let left = self.0.get().saturating_sub(steps as u64);
        self.0.set(left);
        busyhour_slices::tick(steps);
        left > 0
    }

    /// Whether no steps are left.
    pub fn are_used_up(&self) -> bool {
        self.0.get() == 0
    }
}
