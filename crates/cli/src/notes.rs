//! What of a plan and of its run puts the results in doubt, as the manifest keeps it.

use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_engine::run::RunShared;
use busyhour_record::PlanNote;

/// What the compilation warned of.
pub(crate) fn notes(findings: &[Diagnostic]) -> Vec<PlanNote> {
    let note = |finding: &Diagnostic| PlanNote {
        code: finding.code.into(),
        message: match finding.location() {
            Some(location) => format!("{} ({location})", finding.message),
            None => finding.message.clone(),
        },
        hint: finding.hint.clone(),
    };
    findings.iter().filter(|finding| finding.severity == Severity::Warning).map(note).collect()
}

/// Starts that timers had to give up: known after the run only.
pub(crate) fn missed_starts(shared: &RunShared) -> impl Iterator<Item = PlanNote> {
    shared.missed_starts().into_iter().map(|(timer, starts)| PlanNote {
        code: "missed-starts".into(),
        message: format!("{timer}: no user was free for {starts} of its starts, which were given up"),
        hint: Some("give the thread group more users".into()),
    })
}
