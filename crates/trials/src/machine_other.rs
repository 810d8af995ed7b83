//! Controls of the machine exist on Linux only.

use std::path::Path;

use crate::control_plan::PlannedControl;

const UNSUPPORTED: &str = "controls of the machine exist on Linux only";

/// The changes of the machine in a trial: none.
#[derive(Debug)]
pub(crate) struct Machine;

impl Machine {
    pub(crate) fn new(_dir: &Path) -> Machine {
        Machine
    }

    #[allow(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn apply(&mut self, control: &PlannedControl<'_>, _processes: &[u32]) -> Result<(), String> {
        Err(format!("{} cannot be applied: {UNSUPPORTED}", control.name()))
    }

    #[allow(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn undo(&mut self) -> Vec<String> {
        Vec::new()
    }
}

pub(crate) fn check(_control: &PlannedControl<'_>) -> Result<Vec<String>, String> {
    Err(UNSUPPORTED.to_owned())
}

pub(crate) fn has_journal(_dir: &Path) -> bool {
    false
}

pub(crate) fn restore(_dir: &Path) -> (Vec<String>, Vec<String>) {
    (Vec::new(), Vec::new())
}
