//! The controls of a case: what is limited, and when it is applied.

use busyhour_experiment::{
    AllocationMasks, CgroupTreatment, CoreList, Experiment, NetworkConditions, Treatment, TreatmentAction,
};

use crate::setting::CaseSetting;

/// The name of the network in messages, if no treatment changes it in the trial.
const PLAIN_NETWORK: &str = "the network namespace of the system";

/// To what a control applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlTarget<'e> {
    /// The system under test.
    System,
    /// The run.
    Generator,
    /// All processes of a neighbour.
    Neighbour(&'e str),
    /// A control group that exists, or a Xen domain.
    Existing(&'e str),
}

impl<'e> ControlTarget<'e> {
    fn of(target: &'e str) -> ControlTarget<'e> {
        match target {
            "system" => ControlTarget::System,
            "generator" => ControlTarget::Generator,
            path if path.starts_with('/') => ControlTarget::Existing(path),
            name => ControlTarget::Neighbour(name),
        }
    }

    /// Whether the control is applied to started processes.
    pub(crate) fn has_processes(self) -> bool {
        !matches!(self, ControlTarget::Existing(_))
    }
}

/// Limits of a group of processes, of one or more treatments.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct GroupLimits<'e> {
    /// The existing group in which the processes, or the limited group, are.
    pub(crate) parent: Option<&'e str>,
    /// The treatments, which set different limits.
    pub(crate) limits: Vec<&'e CgroupTreatment>,
}

/// The effect of a control.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ControlAction<'e> {
    /// Limits a control group.
    Cgroup(GroupLimits<'e>),
    /// Sets masks. The cores are those of the target.
    Masks(&'e AllocationMasks, Option<&'e CoreList>),
    /// Creates a namespace with an emulated network.
    Network { namespace: &'e str, conditions: Option<&'e NetworkConditions> },
}

/// A control of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedControl<'e> {
    pub(crate) target: ControlTarget<'e>,
    pub(crate) action: ControlAction<'e>,
    /// The treatments, or the key, that request it.
    names: Vec<&'e str>,
}

impl<'e> PlannedControl<'e> {
    /// Whether it is the control group of the system, without treatments.
    pub(crate) fn is_of_system(&self) -> bool {
        self.names.is_empty() && self.target == ControlTarget::System
    }

    /// Whether it comes from a treatment.
    pub(crate) fn is_of(&self, treatment: &Treatment) -> bool {
        self.names.contains(&treatment.name())
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        match (&self.names[..], &self.action) {
            ([], ControlAction::Network { .. }) => PLAIN_NETWORK.to_owned(),
            ([], _) => "`cgroup` of [system]".to_owned(),
            ([name], action) => format!("treatment {name:?} ({})", action.kind()),
            (names, action) => {
                let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
                format!("treatments {} ({})", names.join(" and "), action.kind())
            }
        }
    }
}

impl ControlAction<'_> {
    fn kind(&self) -> &'static str {
        match self {
            ControlAction::Cgroup(_) => "cgroup",
            ControlAction::Masks(..) => "masks",
            ControlAction::Network { .. } => "network",
        }
    }
}

/// The controls of a case. Limits of one target are combined.
pub(crate) fn planned_controls<'e>(
    experiment: &'e Experiment,
    setting: &CaseSetting<'e>,
) -> Vec<PlannedControl<'e>> {
    controls_of(experiment, &setting.treatments)
}

/// The controls of treatments that are active together.
pub(crate) fn controls_of<'e>(
    experiment: &'e Experiment,
    treatments: &[&'e Treatment],
) -> Vec<PlannedControl<'e>> {
    let mut controls: Vec<PlannedControl<'e>> = network(experiment, treatments).into_iter().collect();
    if let Some(group) = &experiment.system.cgroup {
        let limits = GroupLimits { parent: Some(group), limits: Vec::new() };
        let action = ControlAction::Cgroup(limits);
        controls.push(PlannedControl { target: ControlTarget::System, action, names: Vec::new() });
    }
    for treatment in treatments {
        match &treatment.action {
            TreatmentAction::Cgroup(limits) => add_limits(&mut controls, treatment.name(), limits),
            TreatmentAction::Masks(masks) => {
                let target = match masks.through {
                    busyhour_experiment::AllocationProgram::Xl => ControlTarget::Existing(&masks.target),
                    _ => ControlTarget::of(&masks.target),
                };
                let action = ControlAction::Masks(masks, cores_of(experiment, target));
                controls.push(PlannedControl { target, action, names: vec![treatment.name()] });
            }
            TreatmentAction::Network(_)
            | TreatmentAction::Neighbour(_)
            | TreatmentAction::Restart(_)
            | TreatmentAction::Command(_) => {}
        }
    }
    controls
}

/// The namespace of the system. All trials have it if a level changes the network, so that only the emulation differs.
fn network<'e>(experiment: &'e Experiment, treatments: &[&'e Treatment]) -> Option<PlannedControl<'e>> {
    fn conditions(treatment: &Treatment) -> Option<&NetworkConditions> {
        match &treatment.action {
            TreatmentAction::Network(conditions) => Some(conditions),
            _ => None,
        }
    }
    let levels = experiment.factors.iter().flat_map(|factor| &factor.levels);
    let is_used = |name: &str| levels.clone().any(|level| level.treatments.iter().any(|used| used == name));
    let mut used = experiment.treatments.iter().filter(|treatment| is_used(treatment.name()));
    let namespace = used.find_map(conditions)?.namespace.as_str();
    let active = treatments.iter().find_map(|treatment| Some((treatment.name(), conditions(treatment)?)));
    let (names, conditions) = match active {
        Some((name, conditions)) => (vec![name], Some(conditions)),
        None => (Vec::new(), None),
    };
    let action = ControlAction::Network { namespace, conditions };
    Some(PlannedControl { target: ControlTarget::Existing(namespace), action, names })
}

/// Adds limits to those of the same target, because a process can be moved to one group only.
fn add_limits<'e>(controls: &mut Vec<PlannedControl<'e>>, name: &'e str, limits: &'e CgroupTreatment) {
    let target = ControlTarget::of(&limits.target);
    for control in controls.iter_mut().filter(|control| control.target == target) {
        if let ControlAction::Cgroup(group) = &mut control.action {
            group.limits.push(limits);
            control.names.push(name);
            return;
        }
    }
    let action = ControlAction::Cgroup(GroupLimits { parent: None, limits: vec![limits] });
    controls.push(PlannedControl { target, action, names: vec![name] });
}

/// The cores on which a target runs, as far as the file names them.
fn cores_of<'e>(experiment: &'e Experiment, target: ControlTarget<'_>) -> Option<&'e CoreList> {
    match target {
        ControlTarget::System => experiment.system.cores.as_ref(),
        ControlTarget::Generator => experiment.load.cores.as_ref(),
        ControlTarget::Existing(_) => None,
        ControlTarget::Neighbour(name) => {
            let found = experiment.treatments.iter().find(|treatment| treatment.name() == name)?;
            match &found.action {
                TreatmentAction::Neighbour(neighbour) => neighbour.cores.as_ref(),
                _ => None,
            }
        }
    }
}
