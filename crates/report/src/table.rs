//! The result of a run for a terminal: one screen, or all tables and caveats.

use std::path::PathBuf;

use busyhour_analysis::{Caveat, ReportedCaveat, Summary};
use busyhour_sample::{LoadChange, RunEnd};

use crate::agent_lines::{agent_lines, agent_table};
use crate::caveat_rank::rank;
use crate::delivery::{delivery, who};
use crate::error_causes::causes;
use crate::explanation_lines::explanation_lines;
use crate::headline::headline;
use crate::incident_lines::incident_line;
use crate::load_changes::changes;
use crate::marks::{Quality, arrival_mark, generator_mark, is_about_generator, marked};
use crate::neighbour_lines::neighbour_lines;
use crate::numbers::{counted, ms, percent, rate, thousands};
use crate::run_title::{end_words, title};
use crate::sparkline::sparklines;
use crate::system_lines::{system_lines, system_table};
use crate::terminal_text::{Look, capital, cut, printable, wrap};
use crate::thresholds::threshold_lines;
use crate::times_table::{group_tables, times_tables, worst_labels};

/// Which results are shown at the end of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunShow {
    /// Whether the tables are split by thread group.
    pub by_group: bool,
    /// Whether all tables and caveats are shown instead of one screen.
    pub details: bool,
    /// Number of lines that the caller prints below on the same screen.
    pub lines_below: usize,
}

/// The files that a run has written, and how to see more of its results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Paths of all files.
    pub files: Vec<String>,
    /// Absolute path of the report.
    pub page: Option<PathBuf>,
    /// Whether the terminal shows addresses as links.
    pub has_links: bool,
    /// The command that shows all tables and caveats.
    pub details_command: Option<String>,
}

/// Number of lines of a screen, without the line of the prompt.
const SCREEN_LINES: usize = 23;

/// Number of columns of a screen if its width is unknown.
const SCREEN_COLUMNS: usize = 80;

/// Maximum number of kinds of error that are listed, on one screen and in details.
const ERRORS_ON_SCREEN: usize = 3;
const ERRORS_SHOWN: usize = 8;

/// Minimum number of lines for the slowest labels, including their heading and a blank line.
const LABEL_LINES_MIN: usize = 5;

/// Maximum number of labels and caveats on one screen.
const LABELS_ON_SCREEN: usize = 10;
const CAVEATS_ON_SCREEN: usize = 2;

/// The result of a run. It begins with the result in a sentence, thresholds, incidents and verdicts. The output for one screen
/// continues with the causes of errors and the slowest labels; details contain all tables, errors and caveats, and the paths of
/// all files. Lines end with `\n`.
#[must_use]
pub fn end_of_run(summary: &Summary, show: RunShow, written: &Written, look: Look) -> String {
    if show.details || show.by_group {
        return details(summary, show, written, look);
    }
    let look = Look { width: Some(look.width.unwrap_or(SCREEN_COLUMNS)), ..look };
    let ending = ending(written, look);
    // The parts in the order of the screen. Each has a minimum number of lines, which remain if there are too many lines in
    // total.
    let mut parts = [
        (result(summary, look), 3),
        (thresholds(summary, look), 4),
        (incidents(summary, look), 1),
        (explanation(summary, look), 2),
        ([neighbour_lines(summary, look), agent_lines(summary, look)].concat(), 1),
        (marks(summary, true, look), 1),
        (errors(summary, ERRORS_ON_SCREEN, false, look), 2),
        (system(summary, look), 3),
        (important_caveats(summary, look), 0),
        (sparklines(&summary.series, &summary.total, look), 0),
    ];
    let lines =
        |parts: &[(Vec<String>, usize)]| -> usize { parts.iter().map(|(lines, _)| lines.len()).sum() };
    // Blank lines are needed after the result, and before the curves, the labels and the ending.
    let room = SCREEN_LINES.saturating_sub(ending.len() + 4 + show.lines_below);
    for at in [9, 8, 7, 6, 2, 5, 4, 3, 1] {
        // Curves and caveats are shortened in favour of the slowest labels.
        let room = if at >= 8 { room.saturating_sub(LABEL_LINES_MIN) } else { room };
        let others = lines(&parts) - parts[at].0.len();
        let (part, least) = &mut parts[at];
        part.truncate((*least).max(room.saturating_sub(others)));
    }
    // The labels are below a blank line and a heading.
    let rows = room.saturating_sub(lines(&parts) + 1).min(LABELS_ON_SCREEN);
    let [first @ .., sparks] = parts;
    let mut first = first.into_iter().map(|(lines, _)| lines);
    let mut out = first.next().unwrap_or_default();
    out.push(String::new());
    out.extend(first.flatten());
    if !sparks.0.is_empty() {
        out.push(String::new());
        out.extend(sparks.0);
    }
    let labels = worst_labels(summary, rows, look);
    if !labels.is_empty() {
        out.push(String::new());
        out.extend(labels);
    }
    out.push(String::new());
    out.extend(ending);
    joined(&out)
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// All tables and caveats.
fn details(summary: &Summary, show: RunShow, written: &Written, look: Look) -> String {
    let mut out = joined(&result(summary, look));
    out += &threshold_lines(summary, look, usize::MAX);
    let trust: Vec<String> = [
        incidents(summary, look),
        explanation(summary, look),
        neighbour_lines(summary, look),
        agent_lines(summary, look),
        marks(summary, false, look),
    ]
    .concat();
    if !trust.is_empty() {
        out += &format!("\n{}", joined(&trust));
    }
    out += &arrivals(summary, look);
    out.push('\n');
    out += &if show.by_group { group_tables(summary, look) } else { times_tables(summary, look) };
    let errors = errors(summary, ERRORS_SHOWN, true, look);
    if !errors.is_empty() {
        out += &format!("\n{}", joined(&errors));
    }
    if let Some(agents) = &summary.agents {
        out += &agent_table(agents, look);
    }
    if let Some(system) = &summary.system {
        out += &system_table(system, look);
    }
    caveats(summary, look, &mut out);
    if !written.files.is_empty() || written.page.is_some() {
        out.push('\n');
    }
    for path in &written.files {
        out += &format!("{} {path}\n", look.dim("wrote"));
    }
    out + &joined(page_link(written, look).as_slice())
}

/// The result in a sentence, and a description of the load.
fn result(summary: &Summary, look: Look) -> Vec<String> {
    let run = &summary.run;
    let name = printable(&title(summary));
    let text = format!("{name}: {}", printable(&headline(summary)));
    let doubt = summary.doubt.iter().flat_map(|doubt| wrap(&printable(doubt), look.width, ""));
    let mut lines: Vec<String> = doubt.collect();
    let before = lines.len();
    lines.extend(wrap(&text, look.width, ""));
    if let Some(first) = lines.get_mut(before)
        && let Some(rest) = first.strip_prefix(name.as_str())
    {
        *first = format!("{}{rest}", look.bold(&name));
    }
    let mut parts = who(run);
    if parts.is_empty() && summary.users_max > 0 {
        parts.push(format!("up to {}", counted(summary.users_max.into(), "user")));
    }
    if summary.total.samples > 0 {
        parts.push(format!("{} requests/s", rate(summary.total.rate_per_s)));
        parts.push(format!("mean {} ms", ms(summary.total.response.mean)));
        parts.push(format!("slowest {} ms", ms(summary.total.response.max)));
    }
    parts.extend(end_words(run).filter(|words| words != "completed").map(|words| early(run.end, words)));
    if !parts.is_empty() {
        lines.extend(wrap(&parts.join(", "), look.width, "").iter().map(|line| look.dim(line)));
    }
    if let Some(window) = &summary.window {
        let mut text = format!("Part: {}", window.reason);
        if window.before + window.after > 0 {
            let (before, after) = (thousands(window.before), thousands(window.after));
            text += &format!("; {before} before and {after} after it are excluded");
        }
        lines.extend(wrap(&text, look.width, "  "));
    }
    // The line above already states who stopped the run.
    let has_changes = run.events.iter().any(|event| event.change != LoadChange::Stop);
    for line in changes(run).iter().filter(|_| has_changes) {
        lines.extend(wrap(&format!("Changed: {}", printable(line)), look.width, "  "));
    }
    if let Some(left_out) = run.arrivals.map(|counts| counts.not_offered).filter(|count| *count > 0) {
        lines.push(format!("{} not offered while the run was paused", counted(left_out, "arrival")));
    }
    lines
}

/// Describes an early end: `stopped early by a threshold`.
fn early(end: Option<RunEnd>, words: String) -> String {
    match end {
        None | Some(RunEnd::Completed | RunEnd::StoppedByPlan) => words,
        Some(_) => match words.strip_prefix("stopped ") {
            Some(rest) => format!("stopped early {rest}"),
            None => format!("stopped early, {words}"),
        },
    }
}

/// The thresholds on one screen; those that failed come first.
fn thresholds(summary: &Summary, look: Look) -> Vec<String> {
    const SHOWN: usize = 4;
    threshold_lines(summary, look, SHOWN).trim().lines().map(str::to_owned).collect()
}

fn incidents(summary: &Summary, look: Look) -> Vec<String> {
    let lines = |text: String| marked(Quality::Warn, &text, look);
    let mut all: Vec<String> = summary.incidents.iter().map(incident_line).flat_map(lines).collect();
    if let Some(reason) = summary.not_searched.iter().find(|reason| reason.is_general()) {
        all.extend(marked(Quality::Open, &format!("Incidents: {reason}"), look));
    }
    all
}

/// Why requests were slow; empty if the system was not observed.
fn explanation(summary: &Summary, look: Look) -> Vec<String> {
    summary.explanation.as_ref().map_or_else(Vec::new, |explanation| explanation_lines(explanation, look))
}

/// The verdicts on generator and arrivals. The verdict on arrivals has reasons only if no line on the arrivals follows.
fn marks(summary: &Summary, with_reasons: bool, look: Look) -> Vec<String> {
    let generator = generator_mark(summary);
    let mut lines = match generator.quality {
        Quality::Good | Quality::Open => marked(generator.quality, &generator.words, look),
        Quality::Warn | Quality::Bad => {
            marked(generator.quality, &format!("{}: {}", generator.words, generator.reason), look)
        }
    };
    for verdict in summary.shown_arrivals() {
        let mark = arrival_mark(verdict);
        lines.extend(match mark.quality {
            Quality::Warn | Quality::Bad if with_reasons => {
                marked(mark.quality, &format!("{}: {}", mark.words, mark.reason), look)
            }
            _ => marked(mark.quality, &mark.words, look),
        });
    }
    lines
}

/// The sentences on the arrivals and on the delivery of their sessions.
fn arrivals(summary: &Summary, look: Look) -> String {
    let mut out = String::new();
    for verdict in summary.shown_arrivals() {
        let of = verdict.of.as_ref().map(|of| format!("{}: ", printable(of))).unwrap_or_default();
        out += &joined(&wrap(&format!("{of}{}", printable(&verdict.line)), look.width, "  "));
        if let Some(line) = delivery(verdict, &summary.run) {
            out += &joined(&wrap(&format!("  {line}"), look.width, "  "));
        }
        if let Some(advice) = &verdict.advice {
            out += &joined(&wrap(&format!("  {}", printable(advice)), look.width, "  "));
        }
    }
    out
}

/// The causes of errors with the labels in which they occurred.
fn errors(summary: &Summary, most: usize, with_details: bool, look: Look) -> Vec<String> {
    let all = causes(summary);
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![look.bold("Errors")];
    let width = all.iter().take(most).map(|cause| thousands(cause.count).len()).max().unwrap_or(0);
    for cause in all.iter().take(most) {
        let line = format!(
            "{:>width$}  {:>6} %  {} ({})",
            thousands(cause.count),
            percent(cause.percent_of_errors),
            cause.text,
            cause.labels()
        );
        lines.push(cut(&line, look.width.unwrap_or(usize::MAX)));
        if let Some(detail) = cause.detail.as_ref().filter(|_| with_details) {
            let indent = " ".repeat(width + 12);
            let detail = wrap(&format!("{indent}{detail}"), look.width, &indent);
            lines.extend(detail.iter().map(|line| look.dim(line)));
        }
    }
    let shown: u64 = all.iter().take(most).map(|cause| cause.count).sum();
    let listed: u64 = all.iter().map(|cause| cause.count).sum();
    let rest = listed - shown + summary.errors_other;
    if rest > 0 {
        lines.push(format!("{:>width$}  of other kinds", thousands(rest)));
    }
    lines
}

/// The lines on the system under test; empty if it was not observed.
fn system(summary: &Summary, look: Look) -> Vec<String> {
    summary.system.as_ref().map_or_else(Vec::new, |system| system_lines(system, look))
}

/// Whether a caveat is shown: caveats on arrivals are irrelevant if most requests failed.
fn matters(summary: &Summary, reported: &ReportedCaveat) -> bool {
    !(summary.mostly_failed() && matches!(reported.caveat, Caveat::Arrivals(_)))
}

/// The most important caveats, without those that the generator's mark covers.
fn important_caveats(summary: &Summary, look: Look) -> Vec<String> {
    let mut all: Vec<&ReportedCaveat> = summary
        .caveats
        .iter()
        .filter(|reported| matters(summary, reported) && !is_about_generator(&reported.caveat))
        // The first line already states how many requests failed.
        .filter(|reported| !matches!(reported.caveat, Caveat::ManyErrors { .. }))
        .filter(|reported| rank(&reported.caveat) < 3)
        .collect();
    all.sort_by_key(|reported| rank(&reported.caveat));
    let lines = |reported: &&ReportedCaveat| marked(Quality::Warn, &reported.message, look);
    all.iter().take(CAVEATS_ON_SCREEN).flat_map(lines).collect()
}

fn caveats(summary: &Summary, look: Look, out: &mut String) {
    let all: Vec<_> = summary.caveats.iter().filter(|reported| matters(summary, reported)).collect();
    if all.is_empty() {
        return;
    }
    *out += &format!("\n{}\n", look.bold("Caveats"));
    for reported in all {
        let message =
            wrap(&printable(&reported.message), look.width.map(|width| width.saturating_sub(2)), "");
        for (at, line) in message.iter().enumerate() {
            let mark = if at == 0 { look.warn("-") } else { " ".into() };
            *out += &format!("{mark} {line}\n");
        }
        let advice = format!("  {}.", capital(&printable(&reported.advice)));
        for line in wrap(&advice, look.width, "  ") {
            *out += &format!("{}\n", look.dim(&line));
        }
    }
}

/// The last lines of the screen.
fn ending(written: &Written, look: Look) -> Vec<String> {
    let mut lines: Vec<String> = page_link(written, look).into_iter().collect();
    lines.extend(
        written.details_command.as_ref().map(|command| format!("{}  {command}", look.dim("Details"))),
    );
    lines
}

/// The line with the address of the report.
fn page_link(written: &Written, look: Look) -> Option<String> {
    let page = written.page.as_ref()?;
    let address = file_address(page);
    let shown = match written.has_links {
        true => format!("\x1b]8;;{address}\x1b\\{address}\x1b]8;;\x1b\\"),
        false => address,
    };
    Some(format!("{}   {shown}", look.dim("Report")))
}

/// The URL of a file: `file:///…`.
fn file_address(path: &std::path::Path) -> String {
    let mut out = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte))
            }
            other => out += &format!("%{other:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal_text::{LABEL_MAX, shown_label};

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

    #[test]
    fn the_address_of_a_report_is_escaped() {
        assert_eq!(file_address(std::path::Path::new("/a b/é.html")), "file:///a%20b/%C3%A9.html");
    }
}
