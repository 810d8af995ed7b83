//! Compares the stacks of a run's slow windows with the others.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use busyhour_analysis::explanation::Explanation;
use busyhour_explain::TimedRequest;
use busyhour_stacks::{
    InFlight, STACKS_FILE_NAME, StackDifference, StackRecord, StackWindowRule, StackWindows, compare_stacks,
    slow_seconds,
};

/// The comparison for each source of the file of stacks; empty if the run has none, or if it cannot be read. The slow windows are those in
/// which the cause of the explanation was present, or else the seconds with slow requests.
pub(crate) fn stack_differences(
    dir: &Path,
    requests: &[TimedRequest],
    part: (u64, u64),
    explanation: Option<&Explanation>,
) -> Vec<StackDifference> {
    let Ok(file) = File::open(dir.join(STACKS_FILE_NAME)) else { return Vec::new() };
    let Ok(record) = StackRecord::read(BufReader::with_capacity(1 << 16, file)) else { return Vec::new() };
    let mut choices: Vec<StackWindows> = explanation.and_then(cause_windows).into_iter().collect();
    let requests: Vec<InFlight> = requests
        .iter()
        .map(|request| InFlight {
            from: request.start.0,
            to: request.start.0.saturating_add(request.response_ns),
            label: request.label,
        })
        .collect();
    let windows = slow_seconds(&requests, part);
    choices.push(StackWindows { rule: StackWindowRule::SlowSeconds, windows });
    record.sources().into_iter().map(|source| compare_stacks(&record, source, part, &choices)).collect()
}

/// The times in which the claimed cause was present; `None` if no cause is claimed.
fn cause_windows(explanation: &Explanation) -> Option<StackWindows> {
    let evidence = explanation.main().filter(|evidence| !evidence.windows_s.is_empty())?;
    let ns = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
    let windows = evidence.windows_s.iter().map(|(from, to)| (ns(*from), ns(*to))).collect();
    Some(StackWindows { rule: StackWindowRule::Cause { cause: explanation.cause.id().to_owned() }, windows })
}
