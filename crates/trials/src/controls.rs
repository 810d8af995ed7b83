//! Checks whether the settings of an experiment can be applied here.

use std::collections::HashSet;

use busyhour_experiment::{Experiment, FactorLevel, NeighbourWorkload, TreatmentAction};

use crate::control_plan::{ControlTarget, PlannedControl, controls_of};
use crate::machine;

/// A setting that cannot be applied, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailableControl {
    /// The part of the file, such as `treatment "confine-stream" (masks)`.
    pub name: String,
    /// The treatment, if it is one.
    pub treatment: Option<String>,
    /// Why it cannot be applied.
    pub reason: String,
}

/// The result of checking all controls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckedControls {
    /// The settings that cannot be applied.
    pub unavailable: Vec<UnavailableControl>,
    /// Notes about the others, such as values that the hardware rounds.
    pub notes: Vec<String>,
}

impl CheckedControls {
    fn add(&mut self, name: String, treatment: Option<&str>, reason: impl Into<String>) {
        let treatment = treatment.map(str::to_owned);
        self.unavailable.push(UnavailableControl { name, treatment, reason: reason.into() });
    }

    /// Checks a control of the machine without changing anything.
    fn check(&mut self, experiment: &Experiment, control: &PlannedControl<'_>, treatment: Option<&str>) {
        if control.target == ControlTarget::System && experiment.system.start.is_none() {
            let reason = "the experiment does not start the system; add `start` to [system], or give the absolute path of its control group as `target`";
            return self.add(control.name(), treatment, reason);
        }
        match machine::check(control) {
            Ok(notes) => {
                let name = control.name();
                self.notes.extend(notes.into_iter().map(|note| format!("{name}: {note}")));
            }
            Err(reason) => self.add(control.name(), treatment, reason),
        }
    }
}

/// Checks which settings of the experiment can be applied here. Changes nothing. `has_neighbours` is whether this program contains
/// neighbours.
#[must_use]
pub fn check_controls(experiment: &Experiment, has_neighbours: bool) -> CheckedControls {
    let mut found = CheckedControls::default();
    let starts = experiment.system.start.is_some();
    let used: HashSet<&str> = (experiment.factors.iter())
        .flat_map(|factor| &factor.levels)
        .flat_map(|level| level.treatments.iter().map(String::as_str))
        .collect();
    for control in controls_of(experiment, &[]).iter().filter(|control| control.is_of_system()) {
        found.check(experiment, control, None);
    }
    for treatment in experiment.treatments.iter().filter(|treatment| used.contains(treatment.name())) {
        let name = Some(treatment.name());
        let mut refuse = |kind: &str, reason: &str| {
            found.add(format!("treatment {:?} ({kind})", treatment.name()), name, reason);
        };
        match &treatment.action {
            TreatmentAction::Cgroup(_) | TreatmentAction::Masks(_) => {}
            TreatmentAction::Network(_) if !starts => {
                refuse("network", "the experiment does not start the system; add `start` to [system]");
                continue;
            }
            TreatmentAction::Network(_) => {}
            TreatmentAction::Neighbour(_) if !has_neighbours => {
                refuse("neighbour", "this program was built without neighbours");
            }
            TreatmentAction::Restart(_) if !starts => {
                refuse("restart", "the experiment does not start the system; add `start` to [system]");
            }
            TreatmentAction::Neighbour(_) | TreatmentAction::Restart(_) | TreatmentAction::Command(_) => {}
        }
        for control in controls_of(experiment, &[treatment]).iter().filter(|control| control.is_of(treatment))
        {
            found.check(experiment, control, name);
        }
    }
    for factor in experiment.factors.iter().filter(|_| !starts) {
        let changes = |level: &FactorLevel| !level.environment.is_empty() || !level.jvm_options.is_empty();
        if factor.levels.iter().any(changes) {
            let reason = "the experiment does not start the system, so it cannot set environment or options; add `start` to [system]";
            found.add(format!("factor {:?}", factor.name), None, reason);
        }
    }
    found
}

/// The name of a workload on the command line.
pub(crate) const fn workload_name(workload: NeighbourWorkload) -> &'static str {
    match workload {
        NeighbourWorkload::Stream => "stream",
        NeighbourWorkload::Cpu => "cpu",
        NeighbourWorkload::Cache => "cache",
        NeighbourWorkload::Memory => "memory",
        NeighbourWorkload::Disk => "disk",
        NeighbourWorkload::Network => "network",
    }
}
