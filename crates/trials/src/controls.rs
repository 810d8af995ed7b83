//! Settings of an experiment that this program cannot apply.

use busyhour_experiment::{Experiment, NeighbourWorkload, Treatment, TreatmentAction};

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

/// The settings of the experiment that cannot be applied. `has_neighbours` is whether this program contains neighbours.
#[must_use]
pub fn unavailable_controls(experiment: &Experiment, has_neighbours: bool) -> Vec<UnavailableControl> {
    let mut found = Vec::new();
    let mut add = |name: String, treatment: Option<&str>, reason: &str| {
        found.push(UnavailableControl {
            name,
            treatment: treatment.map(str::to_owned),
            reason: reason.to_owned(),
        });
    };
    if experiment.system.cgroup.is_some() {
        add(
            "`cgroup` of [system]".to_owned(),
            None,
            "this version cannot place the system in a control group",
        );
    }
    let is_used = |treatment: &&Treatment| {
        let mut levels = experiment.factors.iter().flat_map(|factor| &factor.levels);
        levels.any(|level| level.treatments.iter().any(|name| name == treatment.name()))
    };
    for treatment in experiment.treatments.iter().filter(is_used) {
        let (kind, reason) = match &treatment.action {
            TreatmentAction::Cgroup(_) => ("cgroup", "this version cannot limit control groups"),
            TreatmentAction::Masks(_) => ("masks", "this version cannot set masks of the cache"),
            TreatmentAction::Network(_) => {
                ("network", "this version cannot change the network of a namespace")
            }
            TreatmentAction::Neighbour(_) if !has_neighbours => {
                ("neighbour", "this program was built without neighbours")
            }
            TreatmentAction::Restart(_) if experiment.system.start.is_none() => {
                ("restart", "the experiment does not start the system; add `start` to [system]")
            }
            TreatmentAction::Neighbour(_) | TreatmentAction::Restart(_) | TreatmentAction::Command(_) => {
                continue;
            }
        };
        add(format!("treatment {:?} ({kind})", treatment.name()), Some(treatment.name()), reason);
    }
    let starts = experiment.system.start.is_some();
    for factor in experiment.factors.iter().filter(|_| !starts) {
        let changes = |level: &busyhour_experiment::Level| {
            !level.environment.is_empty() || !level.jvm_options.is_empty()
        };
        if factor.levels.iter().any(changes) {
            let reason = "the experiment does not start the system, so it cannot set environment or options; add `start` to [system]";
            add(format!("factor {:?}", factor.name), None, reason);
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
