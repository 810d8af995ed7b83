//! What a person reads at the end of a run.

use busyhour_analysis::Summary;
use busyhour_record::RunEnd;

use crate::delivery::{delivery, who};
use crate::incident_lines::incident_line;
use crate::load_changes::changes;
use crate::numbers::{counted, duration, rate, thousands};
use crate::terminal_text::BOLD;
use crate::terminal_text::DIM;
use crate::terminal_text::Look;
use crate::terminal_text::RED;
use crate::terminal_text::YELLOW;
use crate::terminal_text::cut;
use crate::terminal_text::printable;
use crate::terminal_text::shown_label;
use crate::terminal_text::shown_text;
use crate::thresholds::threshold_lines;
use crate::times_table::{group_tables, times_tables};

/// What of a run is shown at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunShow {
    /// The tables are split by thread group.
    pub by_group: bool,
}

/// Most kinds of error that are listed.
const ERRORS_SHOWN: usize = 8;

/// The result of a run: a heading, the table per label and total, or per thread group, the most frequent errors, caveats, and
/// the paths of what was `written`. Lines end with `\n`.
#[must_use]
pub fn end_of_run(summary: &Summary, show: RunShow, written: &[String], look: Look) -> String {
    let mut out = heading(summary, look);
    if let Some(window) = &summary.window {
        out += &format!("Part: {}", window.reason);
        if window.before + window.after > 0 {
            let (before, after) = (thousands(window.before), thousands(window.after));
            out += &format!("; {before} before and {after} after it are excluded");
        }
        out.push('\n');
    }
    for line in changes(&summary.run) {
        out += &format!("Changed: {line}\n");
    }
    if let Some(left_out) = summary.run.arrivals.map(|counts| counts.not_offered).filter(|count| *count > 0) {
        out += &format!("{} not offered while the run was paused\n", counted(left_out, "arrival"));
    }
    for incident in &summary.incidents {
        out += &format!("{} {}\n", look.paint(YELLOW, "Incident:"), incident_line(incident));
    }
    if let Some(reason) = summary.not_searched.iter().find(|reason| reason.is_general()) {
        out += &format!("{} {reason}\n", look.paint(DIM, "Incidents:"));
    }
    arrivals(summary, &mut out);
    out.push('\n');
    out += &if show.by_group { group_tables(summary, look) } else { times_tables(summary, look) };
    errors(summary, look, &mut out);
    out += &threshold_lines(summary, look);
    caveats(summary, look, &mut out);
    if !written.is_empty() {
        out.push('\n');
        for path in written {
            out += &format!("{} {path}\n", look.paint(DIM, "wrote"));
        }
    }
    out
}

fn heading(summary: &Summary, look: Look) -> String {
    let run = &summary.run;
    let name = [&run.plan_name, &run.source].into_iter().find(|name| !name.is_empty());
    // The time over which the rate is computed.
    let mut parts = vec![duration(summary.span_s)];
    let who = who(run);
    if who.is_empty() && summary.users_max > 0 {
        parts.push(format!("up to {}", counted(summary.users_max.into(), "user")));
    }
    parts.extend(who);
    parts.push(counted(summary.total.samples, "request"));
    parts.push(format!("{}/s", rate(summary.total.rate_per_s)));
    if summary.total.errors > 0 {
        parts.push(look.paint(RED, &counted(summary.total.errors, "error")));
    } else {
        parts.push("no errors".into());
    }
    if let Some(
        RunEnd::Aborted
        | RunEnd::Interrupted
        | RunEnd::StoppedByError
        | RunEnd::StoppedByThreshold
        | RunEnd::Failed,
    ) = run.end
    {
        parts.push(look.paint(YELLOW, "stopped early"));
    }
    let name = name.map(|name| look.paint(BOLD, &printable(name)) + ": ").unwrap_or_default();
    format!("{name}{}\n", parts.join(", "))
}

/// The plain lines on the arrivals.
fn arrivals(summary: &Summary, out: &mut String) {
    for verdict in summary.shown_arrivals() {
        match &verdict.of {
            Some(of) => *out += &format!("{of}: {}\n", verdict.line),
            None => *out += &format!("{}\n", verdict.line),
        }
        if let Some(line) = delivery(verdict, &summary.run) {
            *out += &format!("  {line}\n");
        }
        if let Some(advice) = &verdict.advice {
            *out += &format!("  {}\n", printable(advice));
        }
    }
}

fn errors(summary: &Summary, look: Look, out: &mut String) {
    if summary.errors.is_empty() {
        return;
    }
    *out += &format!("\n{}\n", look.paint(BOLD, "Most frequent errors"));
    let width = summary.errors.iter().take(ERRORS_SHOWN).map(|e| thousands(e.count).len()).max().unwrap_or(0);
    for error in summary.errors.iter().take(ERRORS_SHOWN) {
        let mut what = shown_text(&error.code, CODE_MAX);
        if !error.message.is_empty() {
            what += if what.is_empty() { "" } else { ": " };
            what += &shown_text(&error.message, MESSAGE_MAX);
        }
        // The kind of error may have other labels, too.
        let line = format!(
            "{:>width$}  {:>5.1} %  {what} (first: {})",
            thousands(error.count),
            error.percent_of_errors,
            shown_label(&error.example_label)
        );
        *out += &(cut(&line, look.width.unwrap_or(usize::MAX)) + "\n");
    }
    let shown: u64 = summary.errors.iter().take(ERRORS_SHOWN).map(|error| error.count).sum();
    let listed: u64 = summary.errors.iter().map(|error| error.count).sum();
    let rest = listed - shown + summary.errors_other;
    if rest > 0 {
        *out += &format!("{:>width$}  of other kinds\n", thousands(rest));
    }
}

fn caveats(summary: &Summary, look: Look, out: &mut String) {
    if summary.caveats.is_empty() {
        return;
    }
    *out += &format!("\n{}\n", look.paint(BOLD, "Caveats"));
    for reported in &summary.caveats {
        *out += &format!("{} {}\n", look.paint(YELLOW, "-"), printable(&reported.message));
        *out += &format!("  {}\n", look.paint(DIM, &format!("{}.", capital(&printable(&reported.advice)))));
    }
}

pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Characters of an error's message that are shown, and of its code.
pub(crate) const MESSAGE_MAX: usize = 400;
pub(crate) const CODE_MAX: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal_text::LABEL_MAX;

    #[test]
    fn long_labels_keep_their_ends() {
        let label = format!("item {}é end", "x".repeat(20_000));
        let shown = shown_label(&label);
        assert_eq!(shown.chars().count(), LABEL_MAX);
        assert!(shown.starts_with("item xxx") && shown.ends_with("xé end"), "{shown}");
        assert!(shown.contains('…'));
        let whole = "x".repeat(LABEL_MAX);
        assert_eq!(shown_label(&whole), whole);
    }
}
