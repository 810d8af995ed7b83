//! The results of a run's thresholds, for the terminal and as Markdown.

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::ThresholdResult;

use crate::numbers::{counted, duration, ms, percent, rate, thousands};
use crate::system_lines::system_markdown;
use crate::terminal_text::{Look, printable, shown_label};

/// The thresholds of a run for a terminal; lines end with `\n`.
#[must_use]
pub fn threshold_table(summary: &Summary, look: Look) -> String {
    threshold_lines(summary, look, usize::MAX).trim_start().to_owned()
}

/// The lines on a run's thresholds, at most `most` of them; empty if the run has none. If some are omitted, thresholds that
/// failed come first.
pub(crate) fn threshold_lines(summary: &Summary, look: Look, most: usize) -> String {
    let mut thresholds: Vec<&ThresholdResult> = summary.thresholds.iter().collect();
    if thresholds.len() > most {
        thresholds.sort_by_key(|threshold| !threshold.fails_run);
    }
    if thresholds.is_empty() {
        return String::new();
    }
    let failed = thresholds.iter().filter(|threshold| threshold.fails_run).count();
    let result = match failed {
        0 => look.good("all passed"),
        _ => look.bad(&format!("{failed} of {} failed", thresholds.len())),
    };
    let mut out = format!("\n{}: {result}\n", look.bold("Thresholds"));
    for threshold in thresholds.iter().take(most) {
        let mark = match (threshold.fails_run, threshold.passed) {
            (true, _) => look.bad("✗"),
            (false, Some(true)) => look.good("✓"),
            (false, _) => look.dim("·"),
        };
        let what = printable(&named(threshold));
        out += &format!("{mark} {what}  {}\n", look.dim(&printable(&threshold.describe_observed())));
        if threshold.stopped_run {
            out += "  it stopped the run\n";
        }
        if let Some(hint) = unknown_labels(summary, threshold) {
            out += &format!("  {hint}\n");
        }
    }
    let more = thresholds.len().saturating_sub(most);
    if more > 0 {
        out += &format!("  and {}\n", counted(more as u64, "more threshold"));
    }
    out
}

/// Maximum number of existing labels that are listed if a threshold matches none.
const LABELS_NAMED: usize = 8;

/// The existing labels, if the label or pattern of a threshold matches no sample.
pub(crate) fn unknown_labels(summary: &Summary, threshold: &ThresholdResult) -> Option<String> {
    let rows = || summary.labels.iter().chain(&summary.sub_results);
    let is_known = |label: &String| rows().any(|row| row.label == *label);
    if threshold.passed.is_some()
        || threshold.scope == "total"
        || threshold.label.as_ref().is_some_and(is_known)
    {
        return None;
    }
    let named: Vec<String> =
        rows().take(LABELS_NAMED).map(|row| format!("'{}'", shown_label(&row.label))).collect();
    if named.is_empty() {
        return None;
    }
    let more = rows().count() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let missing = match &threshold.label {
        Some(label) => format!("no sample has the label '{}'", shown_label(label)),
        None => format!("no sample has a label that matches {}", shown_label(&threshold.scope)),
    };
    Some(format!("{missing}; the labels are {}{more}", named.join(", ")))
}

/// A threshold as specified, with its name.
fn named(threshold: &ThresholdResult) -> String {
    match &threshold.name {
        Some(name) if !threshold.text.starts_with(name.as_str()) => format!("{name}: {}", threshold.text),
        _ => threshold.text.clone(),
    }
}

/// The result of a run in Markdown, for the summary page of a CI job.
#[must_use]
pub fn summary_markdown(summary: &Summary) -> String {
    let run = &summary.run;
    let name = [&run.plan_name, &run.source].into_iter().find(|name| !name.is_empty());
    let failed = summary.thresholds.iter().filter(|threshold| threshold.fails_run).count();
    let mut out = format!("## {}\n\n", cell(name.map_or("Load test", String::as_str)));
    match (summary.thresholds.len(), failed) {
        (0, _) => {}
        (all, 0) => out += &format!("✅ {} passed\n\n", counted(all as u64, "threshold")),
        (all, failed) => out += &format!("❌ {failed} of {} failed\n\n", counted(all as u64, "threshold")),
    }
    if !summary.thresholds.is_empty() {
        out += "| | threshold | seen |\n|---|---|---|\n";
        for threshold in &summary.thresholds {
            let mark = match (threshold.fails_run, threshold.passed) {
                (true, _) => "❌",
                (false, Some(true)) => "✅",
                (false, _) => "➖",
            };
            let stopped = if threshold.stopped_run { "; **it stopped the run**" } else { "" };
            let (what, seen) = (cell(&named(threshold)), cell(&threshold.describe_observed()));
            out += &format!("| {mark} | {what} | {seen}{stopped} |\n");
        }
        out.push('\n');
    }
    out.extend(summary.doubt.as_ref().map(|doubt| format!("{}\n\n", cell(doubt))));
    let total = &summary.total;
    out += &format!(
        "{} in {}, {}/s, {} ({} %)\n\n",
        counted(total.samples, "request"),
        duration(summary.span_s),
        rate(total.rate_per_s),
        counted(total.errors, "error"),
        percent(total.error_percent),
    );
    if total.samples > 0 {
        out += "| label | requests | errors | mean ms | p50 | p95 | p99 | max |\n|---|--:|--:|--:|--:|--:|--:|--:|\n";
        for row in summary.labels.iter().take(MARKDOWN_LABELS_MAX).chain([total]) {
            let times = &row.response;
            out += &format!(
                "| {} | {} | {} % | {} | {} | {} | {} | {} |\n",
                cell(&shown_label(&row.label)),
                thousands(row.samples),
                percent(row.error_percent),
                ms(times.mean),
                ms(times.p50),
                ms(times.p95),
                ms(times.p99),
                ms(times.max),
            );
        }
        let left = summary.labels.len().saturating_sub(MARKDOWN_LABELS_MAX);
        if left > 0 {
            out += &format!("\n{} more are in the report.\n", counted(left as u64, "label"));
        }
    }
    for verdict in summary.shown_arrivals() {
        out += &format!("\n{}\n", cell(&verdict.line));
    }
    if let Some(system) = &summary.system {
        out += &system_markdown(system, cell);
    }
    out
}

/// Maximum number of labels in the table of a summary page.
const MARKDOWN_LABELS_MAX: usize = 50;

/// Escapes a text for a cell of a Markdown table: it cannot end the cell and is not interpreted as markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}
