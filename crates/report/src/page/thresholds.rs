//! How the run fared by its thresholds.

use std::fmt::Write as _;

use busyhour_analysis::Summary;

use super::markup::{def, escape, mark};
use crate::thresholds::unknown_labels;

/// The thresholds, each with what was seen; nothing when the run has none.
pub(super) fn thresholds(summary: &Summary, out: &mut String) {
    if summary.thresholds.is_empty() {
        return;
    }
    let failed = summary.thresholds.iter().filter(|threshold| threshold.fails_run).count();
    let result = match failed {
        0 => mark("good", "all passed"),
        _ => mark("bad", &format!("{failed} of {} failed", summary.thresholds.len())),
    };
    let _ =
        write!(out, "<div><dt>{}</dt><dd>{result}<ul class=\"thresholds\">", def("thresholds", "Thresholds"));
    for threshold in &summary.thresholds {
        let result = match (threshold.fails_run, threshold.passed) {
            (true, Some(false)) => mark("bad", "failed"),
            (true, _) => mark("bad", "not measured"),
            (false, Some(true)) => mark("good", "kept"),
            (false, Some(false)) => mark("open", "failed"),
            (false, None) => mark("open", "not measured"),
        };
        let name = match &threshold.name {
            Some(name) if !threshold.text.starts_with(name.as_str()) => format!("{name}: "),
            _ => String::new(),
        };
        let stopped = if threshold.stopped_run { "; it stopped the run" } else { "" };
        let unknown = unknown_labels(summary, threshold).map(|hint| format!(": {hint}")).unwrap_or_default();
        let _ = write!(
            out,
            "<li>{result}<span>{}<code>{}</code></span><span class=\"seen\">{}{}{stopped}</span></li>",
            escape(&name),
            escape(&threshold.text),
            escape(&threshold.describe_observed()),
            escape(&unknown)
        );
    }
    out.push_str("</ul></dd></div>");
}
