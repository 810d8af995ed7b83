//! The results of the thresholds.

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::ThresholdResult;
use maud::{Markup, html};

use super::markup::{def, mark};
use crate::terminal_text::printable;
use crate::thresholds::unknown_labels;

/// The thresholds with their measured values; empty if the run has none.
pub(super) fn thresholds(summary: &Summary) -> Markup {
    html! {
        @if !summary.thresholds.is_empty() {
            h2 { (def("thresholds", "Thresholds")) }
            ul.thresholds {
                @for threshold in &summary.thresholds { (line(summary, threshold)) }
            }
        }
    }
}

fn line(summary: &Summary, threshold: &ThresholdResult) -> Markup {
    let result = match (threshold.fails_run, threshold.passed) {
        (true, Some(false)) => mark("bad", "failed"),
        (true, _) => mark("bad", "not measured"),
        (false, Some(true)) => mark("good", "kept"),
        (false, Some(false)) => mark("open", "failed"),
        (false, None) => mark("open", "not measured"),
    };
    let name = threshold.name.as_ref().filter(|name| !threshold.text.starts_with(name.as_str()));
    html! {
        li {
            (result)
            span {
                @if let Some(name) = name { (printable(name)) ": " }
                code { (printable(&threshold.text)) }
            }
            span.seen {
                (printable(&threshold.describe_observed()))
                @if let Some(hint) = unknown_labels(summary, threshold) { ": " (printable(&hint)) }
                @if threshold.stopped_run { "; it stopped the run" }
            }
        }
    }
}
