//! Checks the cases for which the recovered part of a loss is computed.

use super::experiment::Experiment;
use super::finding::{Finding, Step};
use super::recovery::{case_number, unknown_part};

/// Largest number of treated cases.
const TREATED_MAX: usize = 1_000;

/// Checks `[recovery]`.
pub(super) fn check_recovery<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let Some(plan) = &experiment.recovery else { return };
    let path = |key: &'static str, at: Option<usize>| -> Vec<Step<'e>> {
        [Step::Key("recovery"), Step::Key(key)].into_iter().chain(at.map(Step::Element)).collect()
    };
    if plan.treated.is_empty() || plan.treated.len() > TREATED_MAX {
        let message = format!("{} cases are treated; there must be 1 to {TREATED_MAX}", plan.treated.len());
        found.push(Finding::error(path("treated", None), message));
        return;
    }
    let design = experiment.design().ok();
    for (key, at, levels) in plan.all() {
        if let Some(message) = unknown_part(&experiment.factors, levels) {
            found.push(Finding::error(path(key, at), message));
        } else if let Some(design) = &design
            && case_number(design.cases(), levels).is_none()
        {
            let hint =
                "this design changes one factor at a time; use one factor, or design = \"full-factorial\"";
            found.push(Finding::error(path(key, at), "no case of the design has these levels").hint(hint));
        }
    }
    if plan.without == plan.with {
        let message = "`without` and `with` are the same case";
        found.push(Finding::error(path("with", None), message));
    }
}
