//! Controls of the machine during a trial: limits of control groups, masks of caches, and the emulated network.

use std::path::{Path, PathBuf};

use busyhour_controls::control::Availability;
use busyhour_controls::journal::remove_finished;
use busyhour_controls::linux::LinuxSystem;
use busyhour_controls::reversible::Undone;
use busyhour_controls::treatments::{Restoration, Treatments};
use busyhour_diagnostic::io_hints::chain;

use crate::control_plan::PlannedControl;
use crate::machine_controls::{self, Built};

/// The name of the journal of controls in the directory of an experiment. It exists while changes are not undone.
pub(crate) const CONTROLS_FILE_NAME: &str = "controls.jsonl";

/// The changes of the machine in a trial.
#[derive(Debug)]
pub(crate) struct Machine {
    path: PathBuf,
    /// Exists from the first control until everything is undone.
    treatments: Option<Treatments>,
}

impl Machine {
    /// A machine without changes.
    pub(crate) fn new(dir: &Path) -> Machine {
        Machine { path: dir.join(CONTROLS_FILE_NAME), treatments: None }
    }

    /// Applies a control to processes.
    pub(crate) fn apply(&mut self, control: &PlannedControl<'_>, processes: &[u32]) -> Result<(), String> {
        let failed = |reason: String| format!("{} cannot be applied: {reason}", control.name());
        if self.treatments.is_none() {
            let begun = Treatments::begin(Box::new(LinuxSystem::new()), &self.path);
            self.treatments = Some(begun.map_err(|error| failed(chain(&error)))?);
        }
        let Some(treatments) = &mut self.treatments else { return Ok(()) };
        let built = machine_controls::build(control, processes, treatments.system());
        let built = built.map_err(|error| failed(chain(&error)))?;
        built.apply(treatments).map_err(|error| failed(chain(&error)))
    }

    /// Undoes all changes. Those that cannot be undone are listed, and remain in the journal.
    pub(crate) fn undo(&mut self) -> Vec<String> {
        let Some(mut treatments) = self.treatments.take() else { return Vec::new() };
        let (_, failures) = outcome(&treatments.undo_all());
        // This tries again to undo what is left.
        drop(treatments);
        match remove_finished(&self.path) {
            Ok(true) => Vec::new(),
            Ok(false) | Err(_) => failures,
        }
    }
}

impl Built {
    fn apply(&self, treatments: &mut Treatments) -> Result<(), busyhour_controls::error::ControlError> {
        self.control().apply(treatments).map(drop)
    }
}

/// Why a control is not available, or notes about it.
pub(crate) fn check(control: &PlannedControl<'_>) -> Result<Vec<String>, String> {
    let system = LinuxSystem::new();
    // The processes of a trial do not exist yet. They begin in the groups of this one.
    let stand_in = [std::process::id()];
    let built = machine_controls::build(control, &stand_in, &system)
        .map_err(|error| without_prefix(chain(&error)))?;
    match built.control().check(&system) {
        Availability::Available { notes } => Ok(notes),
        Availability::Unavailable { reason } => Err(without_prefix(reason)),
    }
}

/// The reason without the words that the message about an unavailable control already has.
fn without_prefix(reason: String) -> String {
    reason.strip_prefix("not available: ").map_or(reason.clone(), str::to_owned)
}

/// Whether controls of an experiment may not be undone.
pub(crate) fn has_journal(dir: &Path) -> bool {
    dir.join(CONTROLS_FILE_NAME).exists()
}

/// Undoes the changes of a killed experiment. Returns what was done, and what failed.
pub(crate) fn restore(dir: &Path) -> (Vec<String>, Vec<String>) {
    let path = dir.join(CONTROLS_FILE_NAME);
    if !path.exists() {
        return (Vec::new(), Vec::new());
    }
    let mut treatments = match Treatments::reopen(Box::new(LinuxSystem::new()), &path) {
        Ok(treatments) => treatments,
        Err(error) => return (Vec::new(), vec![chain(&error)]),
    };
    let (done, failures) = outcome(&treatments.undo_all());
    drop(treatments);
    if failures.is_empty() {
        let _ = remove_finished(&path);
    }
    (done, failures)
}

/// The changes that were undone, and those that were not, as texts.
fn outcome(restoration: &Restoration) -> (Vec<String>, Vec<String>) {
    let (mut done, mut failures) = (Vec::new(), Vec::new());
    for undone in &restoration.changes {
        match &undone.result {
            Ok(Undone::Restored) => done.push(undone.change.to_string()),
            Ok(Undone::AlreadyRestored | Undone::Gone) => {}
            Err(error) => failures.push(format!("{} could not be undone: {}", undone.change, chain(error))),
        }
    }
    (done, failures)
}
