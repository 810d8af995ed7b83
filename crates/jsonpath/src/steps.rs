//! The budget of steps for evaluating a path.

use std::cell::Cell;

/// Limit of steps for evaluating a path over a document. A visited value is one step, and so are 16 bytes of text.
pub(crate) const STEPS_MAX: u64 = 20_000_000;

/// The remaining steps of an evaluation.
#[derive(Debug)]
pub struct StepBudget(Cell<u64>);

impl StepBudget {
    /// A budget of `STEPS_MAX` steps.
    pub fn full() -> Self {
        Self::new(STEPS_MAX)
    }

    /// A budget of `steps` steps.
    pub fn new(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// Takes steps from the budget. Returns false once the budget is exhausted.
    pub fn spend(&self, steps: usize) -> bool {
        let remaining = self.0.get().saturating_sub(steps as u64);
        self.0.set(remaining);
        busyhour_slices::tick(steps);
        remaining > 0
    }

    /// Whether no steps remain.
    pub fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }
}
