//! Notes in the manifest about properties of a plan or of its run that may make the results wrong.

use busyhour_arrivals::LoadShare;
use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_program::run::{RunShared, ScriptIssue};
use busyhour_record::{PlanNote, RunOutcome};
use busyhour_sample::RunEnd;

/// The notes for the warnings of the compilation.
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

/// Caveats about the results of scripts, which are known only after the run.
pub(crate) fn script_caveats(shared: &RunShared) -> impl Iterator<Item = PlanNote> {
    shared.script_issues().into_iter().map(|(element, issue, count)| match issue {
        ScriptIssue::Unsupported(what) => PlanNote {
            code: "unsupported-in-script".into(),
            message: format!("{element}: {what} is not supported in scripts; the script used it {count} times"),
            hint: Some("the script fails here but not in JMeter; change it".into()),
        },
        ScriptIssue::CachedText => PlanNote {
            code: "script-cached-text".into(),
            message: format!(
                "{element}: the text of the script changed {count} times, but each user's first text was used, as in \
                 JMeter, which compiles a cached script once"
            ),
            hint: Some(
                "read variables with vars.get instead of ${…}, or set the element's cacheKey to false".into(),
            ),
        },
    })
}

/// The note about a run that generated no load because its share of the load has no users and no arrivals.
pub(crate) fn empty_share(share: &LoadShare, outcome: &RunOutcome) -> Option<PlanNote> {
    let arrivals = outcome.arrivals.map_or(0, |counts| counts.scheduled + counts.not_offered);
    let is_empty = outcome.end == RunEnd::Completed && outcome.users_started == 0 && arrivals == 0;
    (is_empty && !share.is_whole()).then(|| PlanNote {
        code: "empty-share".into(),
        message: format!(
            "the share {share} of the load has no users and no arrivals, so this run sent no request"
        ),
        hint: Some("divide the load into fewer shares".into()),
    })
}

/// The notes about starts that timers had to skip; they are known only after the run.
pub(crate) fn missed_starts(shared: &RunShared) -> impl Iterator<Item = PlanNote> {
    shared.missed_starts().into_iter().map(|(timer, starts)| PlanNote {
        code: "missed-starts".into(),
        message: format!("{timer}: skipped {starts} starts because no user was free"),
        hint: Some("give the thread group more users".into()),
    })
}
