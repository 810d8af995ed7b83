//! Checks which treatments can be active in the same trial.

use std::collections::HashMap;

use super::experiment::Experiment;
use super::finding::{Finding, Step};
use super::treatment::{Treatment, TreatmentAction};

/// The setting of a limit: kind and target, and the key.
type LimitKey<'e> = (&'static str, &'e str, &'static str);

/// Two treatments of one trial must not set the same limit of a target, and there is one network namespace.
pub(super) fn check_combinations<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    check_namespaces(experiment, found);
    let treatments: HashMap<&str, &Treatment> =
        experiment.treatments.iter().map(|treatment| (treatment.name(), treatment)).collect();
    // The factor, level and treatment that set a limit first.
    let mut owners: HashMap<LimitKey<'e>, (usize, usize, &'e str)> = HashMap::new();
    for (at, factor) in experiment.factors.iter().enumerate() {
        for (level_at, level) in factor.levels.iter().enumerate() {
            for treatment in level.treatments.iter().filter_map(|name| treatments.get(name.as_str())) {
                let name = treatment.name();
                for limit in limit_keys(&treatment.action) {
                    let owner = owners.entry(limit).or_insert((at, level_at, name));
                    let is_exclusive = owner.0 == at && owner.1 != level_at;
                    if owner.2 == name || is_exclusive {
                        // Levels of one factor are never active together. The last one is compared with the next level.
                        *owner = (at, level_at, name);
                        continue;
                    }
                    let (kind, target, key) = limit;
                    let of_target = if target.is_empty() { String::new() } else { format!(" of {target:?}") };
                    let message = format!(
                        "the treatments {:?} and {name:?} both set {kind} {key}{of_target} in one trial",
                        owner.2
                    );
                    let path = [
                        Step::Key("factor"),
                        Step::Element(at),
                        Step::Key("level"),
                        Step::Element(level_at),
                        Step::Key("treatments"),
                    ];
                    found.push(Finding::error(path, message).hint("combine both in one treatment"));
                }
            }
        }
    }
}

/// The limits that a treatment sets.
fn limit_keys(action: &TreatmentAction) -> Vec<LimitKey<'_>> {
    let of = |kind, target, given: &[(bool, &'static str)]| {
        given.iter().filter(|(is_given, _)| *is_given).map(|(_, key)| (kind, target, *key)).collect()
    };
    match action {
        TreatmentAction::Cgroup(limits) => of(
            "cgroup",
            limits.target.as_str(),
            &[
                (limits.cpu_max.is_some(), "cpu-max"),
                (limits.cores.is_some(), "cores"),
                (limits.cpu_weight.is_some(), "cpu-weight"),
                (limits.memory_max.is_some(), "memory-max"),
                (limits.io_max.is_some(), "io-max"),
            ],
        ),
        TreatmentAction::Masks(masks) => of(
            "masks",
            masks.target.as_str(),
            &[
                (masks.l3.is_some() || masks.l3_code.is_some() || masks.l3_data.is_some(), "l3"),
                (masks.memory_bandwidth.is_some(), "memory-bandwidth"),
            ],
        ),
        TreatmentAction::Network(_) => vec![("the", "", "network")],
        TreatmentAction::Neighbour(_) | TreatmentAction::Restart(_) | TreatmentAction::Command(_) => {
            Vec::new()
        }
    }
}

/// All treatments of the kind network name the same namespace.
fn check_namespaces<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let mut first: Option<&str> = None;
    for (at, treatment) in experiment.treatments.iter().enumerate() {
        let TreatmentAction::Network(network) = &treatment.action else { continue };
        let name = *first.get_or_insert(&network.namespace);
        if name != network.namespace {
            let message = format!("the namespace {:?} differs from {name:?}", network.namespace);
            found.push(
                Finding::error([Step::Key("treatment"), Step::Element(at), Step::Key("namespace")], message)
                    .cause("the system is started in one namespace in all trials")
                    .hint("give all treatments of the kind network the same `namespace`"),
            );
        }
    }
}
