//! Texts for the name and the end of a run.

use busyhour_analysis::{RunFacts, Summary};
use busyhour_sample::RunEnd;

/// The name of the run.
pub(crate) fn title(summary: &Summary) -> String {
    let run = &summary.run;
    let name = [&run.plan_name, &run.source].into_iter().find(|name| !name.is_empty());
    name.cloned().unwrap_or_else(|| "Test run".into())
}

/// How a run ended: `completed`, `stopped from the terminal`; `None` for a log.
pub(crate) fn end_words(run: &RunFacts) -> Option<String> {
    match run.end {
        Some(RunEnd::Completed) => Some("completed".to_owned()),
        Some(RunEnd::StoppedByPlan) => Some("stopped by the plan".to_owned()),
        Some(RunEnd::StoppedByError) => Some("stopped by an error".to_owned()),
        Some(RunEnd::Interrupted) => Some(match run.stopped_from() {
            Some(from) => format!("stopped from the {}", from.place()),
            None => "stopped by a request".to_owned(),
        }),
        Some(RunEnd::Aborted) => Some("aborted".to_owned()),
        Some(RunEnd::StoppedByThreshold) => Some("stopped by a threshold".to_owned()),
        Some(RunEnd::Failed) => Some("failed".to_owned()),
        None => run.has_manifest.then(|| "unfinished".to_owned()),
    }
}
