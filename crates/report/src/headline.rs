//! The result of a run in a sentence or two, for pages and terminals.

use busyhour_analysis::Summary;

use crate::error_causes::causes;
use crate::numbers::{duration, ms, percent, thousands};

/// A part of the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadlinePart {
    /// The path in `summary.json` of the quantity that the text shows; `None` for words.
    pub(crate) path: Option<&'static str>,
    pub(crate) text: String,
}

/// The parts of the sentence about the result. Its duration is the one over which rates are computed.
pub(crate) fn headline_parts(summary: &Summary) -> Vec<HeadlinePart> {
    let total = &summary.total;
    let mut parts = Parts::default();
    if total.samples == 0 {
        parts.words("No request ended.");
        return parts.0;
    }
    let has_only_failed = total.errors == total.samples;
    if has_only_failed {
        parts.words("All ");
    }
    parts.quantity("total.samples", thousands(total.samples));
    parts.words(if total.samples == 1 { " request" } else { " requests" });
    parts.words(if has_only_failed { " failed within " } else { " in " });
    parts.quantity("span_s", duration(summary.span_s));
    if has_only_failed {
        if let Some(cause) = causes(summary).into_iter().next() {
            parts.words(&format!(": {}", cause.text));
        }
    } else {
        if total.errors == 0 {
            parts.words(", none failed");
        } else {
            parts.words(", ");
            parts.quantity("total.error_percent", percent(total.error_percent));
            parts.words(" % failed");
        }
        parts.words("; half took at most ");
        parts.quantity("total.response.p50", ms(total.response.p50));
        parts.words(" ms, 95 % at most ");
        parts.quantity("total.response.p95", ms(total.response.p95));
        parts.words(" ms");
    }
    let of = summary.thresholds.len();
    match summary.thresholds.iter().filter(|threshold| threshold.fails_run).count() {
        _ if of == 0 => {}
        0 => parts.words(". All thresholds passed"),
        failed => parts.words(&format!(". {failed} of {of} thresholds failed")),
    }
    parts.words(".");
    parts.0
}

/// The sentence as text.
pub(crate) fn headline(summary: &Summary) -> String {
    headline_parts(summary).into_iter().map(|part| part.text).collect()
}

#[derive(Default)]
struct Parts(Vec<HeadlinePart>);

impl Parts {
    fn words(&mut self, text: &str) {
        self.0.push(HeadlinePart { path: None, text: text.to_owned() });
    }

    fn quantity(&mut self, path: &'static str, text: String) {
        self.0.push(HeadlinePart { path: Some(path), text });
    }
}
