//! Counts of logs as text for the terminal.

use busyhour_logs::{Difference, Differences, Exposure, GroupCounts, LogComparison, LogCounts, Series, Zone};
use busyhour_report::curve;
use busyhour_report::numbers::{counted, duration, percent, rate, thousands};

use super::logs_files::CountedLog;
use crate::columns::Columns;

/// Maximum number of templates, traces and differences that are listed.
pub(super) const ROWS_MAX: usize = 20;
/// Width of a curve over time, in characters.
const CELLS: usize = 24;
/// Maximum width of a template in a table, in characters.
const TEXT_CHARS: usize = 90;
/// Maximum number of stack traces that are printed, and maximum number of lines of each.
const TRACES_MAX: usize = 3;
const TRACE_LINES_MAX: usize = 30;

/// The text for one log.
pub(super) fn summary_text(log: &CountedLog, zone: &Zone) -> String {
    let counts = &log.counts;
    let mut out = format!("{}: {}\n", log.name, extent(log, zone));
    let in_time: u64 = log.severities.values().sum();
    if log.severities.keys().any(Option::is_some) {
        let mut table = Columns::new(1, &["Severity", "Entries", "Share %"]);
        for (severity, count) in log.severities.iter().rev() {
            let name = severity.map_or_else(|| "not stated".to_owned(), |severity| severity.to_string());
            let share = 100.0 * *count as f64 / in_time.max(1) as f64;
            table.row(vec![name, thousands(*count), percent(share)]);
        }
        out += &format!("\n{}", table.render());
    }
    out += &format!("\nProblems: {} of {}", thousands(counts.matching), entries(in_time));
    out += &match log.has_times {
        true => format!("  {}\n", over_time(&counts.matching_over_time, counts)),
        false => "\n".to_owned(),
    };
    if !counts.templates.is_empty() {
        out += &format!("\n{}", groups("Problem", &counts.templates, log, zone));
    }
    if !counts.traces.is_empty() {
        out += &format!("\n{}", groups("Stack trace", &counts.traces, log, zone));
        for trace in counts.traces.iter().take(TRACES_MAX) {
            out += &format!("\n{}\n", example(&trace.example));
        }
    }
    for note in notes(log) {
        out += &format!("note: {note}\n");
    }
    out
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{} entries", thousands(count)) }
}

/// `1,234 lines, 1,100 entries from 2024-03-18 10:00:00 to 10:15:02 (15 min 02 s)`
fn extent(log: &CountedLog, zone: &Zone) -> String {
    let counts = &log.counts;
    let lines = format!("{}, {}", counted(counts.lines, "line"), entries(counts.entries));
    let Some(length_s) = counts.length_s.filter(|_| log.has_times) else {
        return format!("{lines}, without times");
    };
    let from = zone.show(counts.start_unix_ns);
    let to = zone.show(counts.start_unix_ns.saturating_add((length_s * 1e9) as i64));
    // A date that is equal to the first date is omitted.
    let to = match (from.split_once(' '), to.split_once(' ')) {
        (Some((from_date, _)), Some((to_date, time))) if from_date == to_date => time,
        _ => &to,
    };
    format!("{lines} from {from} to {to} ({})", duration(length_s))
}

fn groups(title: &str, groups: &[GroupCounts], log: &CountedLog, zone: &Zone) -> String {
    let has_severity = groups.iter().any(|group| group.severity.is_some());
    let mut headings = vec![title, "n"];
    headings.extend(has_severity.then_some("severity"));
    if log.has_times {
        headings.extend(["first", "last", "over time"]);
    }
    let has_days = log.counts.length_s.is_some_and(|s| s > 12.0 * 3_600.0);
    // All columns contain text, except for the number, which is right-aligned here.
    let mut table = Columns::new(headings.len(), &headings);
    let width = groups.first().map_or(1, |group| thousands(group.count).len());
    for group in groups.iter().take(ROWS_MAX) {
        let count = thousands(group.count);
        let mut row = vec![short(&group.text), format!("{count:>width$}")];
        let severity = group.severity.map(|severity| severity.to_string()).unwrap_or_default();
        row.extend(has_severity.then_some(severity));
        if log.has_times {
            let time = |second: Option<&(u32, u32)>| {
                let second_ns = second.map(|(second, _)| i64::from(*second) * 1_000_000_000);
                let shown = second_ns.map(|ns| zone.show(log.counts.start_unix_ns.saturating_add(ns)));
                let shown = shown.unwrap_or_default();
                // The date is shown only if the log is long.
                match shown.split_once(' ') {
                    Some((_, time)) if !has_days => time.to_owned(),
                    Some(_) | None => shown,
                }
            };
            let seconds = &group.over_time.counts;
            row.extend([time(seconds.first()), time(seconds.last())]);
            row.push(over_time(&group.over_time, &log.counts));
        }
        table.row(row);
    }
    let mut out = table.render();
    if groups.len() > ROWS_MAX {
        out += &format!("and {} more (--json has all)\n", groups.len() - ROWS_MAX);
    }
    out
}

/// The counts in cells of equal length.
fn over_time(series: &Series, counts: &LogCounts) -> String {
    let length_s = counts.length_s.unwrap_or(0.0);
    let cells = CELLS.min(length_s as usize).max(1);
    let mut values = vec![0.0; cells];
    for (second, count) in &series.counts {
        let at = (f64::from(*second) / length_s.max(1.0) * cells as f64) as usize;
        values[at.min(cells - 1)] += f64::from(*count);
    }
    // Cells without entries are blank.
    let values: Vec<Option<f64>> = values.into_iter().map(|value| (value > 0.0).then_some(value)).collect();
    curve(&values)
}

fn short(text: &str) -> String {
    let text = text.replace('\n', " ");
    match text.char_indices().nth(TEXT_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn example(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> =
        lines.iter().take(TRACE_LINES_MAX).map(|line| format!("  {}", line.trim_end())).collect();
    if lines.len() > TRACE_LINES_MAX {
        out.push(format!("  … {} more lines", lines.len() - TRACE_LINES_MAX));
    }
    out.join("\n")
}

/// Notes about problems and lines that the numbers exclude.
fn notes(log: &CountedLog) -> Vec<String> {
    let counts = &log.counts;
    let mut notes = Vec::new();
    if counts.outside > 0 {
        let problems = counted(counts.outside, "problem");
        notes.push(format!("{problems} before or after this time are not counted"));
    }
    for (reason, count) in &counts.without_time {
        notes.push(format!("{} without a time: {reason}", counted(*count, "problem")));
    }
    if counts.ungrouped > 0 {
        notes
            .push(format!("{} beyond the largest number of templates", counted(counts.ungrouped, "problem")));
    }
    if counts.truncated_lines > 0 {
        notes.push(format!("{} longer than 64 KiB, truncated", counted(counts.truncated_lines, "line")));
    }
    if counts.unreadable_lines > 0 {
        notes.push(format!("{} not in the format of the envelope", counted(counts.unreadable_lines, "line")));
    }
    notes
}

/// The differences between the baseline and the log.
pub(super) fn comparison_text(comparison: &LogComparison) -> String {
    let mut out = String::new();
    let templates = &comparison.templates;
    out += &listed("Not in the baseline", &templates.new, comparison);
    out += &listed("More frequent than in the baseline", &templates.risen, comparison);
    let has_traces = !comparison.traces.new.is_empty() || !comparison.traces.risen.is_empty();
    if has_traces {
        out += &listed("Stack traces that are not in the baseline", &comparison.traces.new, comparison);
        out += &listed("Stack traces that are more frequent", &comparison.traces.risen, comparison);
    }
    if templates.new.is_empty() && templates.risen.is_empty() {
        out += "No problem is new or more frequent than in the baseline.\n";
    }
    let Differences { others, absent, .. } = templates;
    out += &format!(
        "{} in both without a significant rise, {} only in the baseline\n",
        counted(*others as u64, "problem"),
        counted(*absent as u64, "problem")
    );
    match comparison.too_short {
        Some(short) => out += &format!("note: {}\n", too_short_text(&short)),
        None => {
            out += &format!(
                "note: significant at a false discovery rate of {:.0} %; each log is one run, and rates may differ between runs \
                 by themselves\n",
                100.0 * comparison.false_discovery_rate
            );
        }
    }
    out
}

fn too_short_text(short: &busyhour_logs::TooShort) -> String {
    let length = duration(short.length_s);
    let needed = duration(short.needed_s);
    match short.fluctuation_s {
        Some(fluctuation_s) => format!(
            "too short to tell: the rates of these logs rise and fall over about {}, so that each should last {needed}; \
             the shorter one lasts {length}",
            duration(fluctuation_s)
        ),
        None => format!("too short to tell: each log should last {needed}; the shorter one lasts {length}"),
    }
}

fn listed(title: &str, differences: &[Difference], comparison: &LogComparison) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let (per, unit) = match comparison.exposure {
        Exposure::Seconds => (60.0, "/min"),
        Exposure::Requests { .. } => (1.0, "/request"),
    };
    let headings =
        [title, "severity", "verdict", "n", &format!("baseline{unit}"), &format!("log{unit}"), "p"];
    let mut table = Columns::new(3, &headings);
    for one in differences.iter().take(ROWS_MAX) {
        table.row(vec![
            short(&one.text),
            one.severity.map(|severity| severity.to_string()).unwrap_or_default(),
            verdict(one).to_owned(),
            thousands(one.run_count),
            rate(one.baseline_rate * per),
            rate(one.run_rate * per),
            match one.is_too_short {
                true => String::new(),
                false if one.p_value < 0.0001 => "<0.0001".to_owned(),
                false => format!("{:.4}", one.p_value),
            },
        ]);
    }
    let mut out = table.render();
    if differences.len() > ROWS_MAX {
        out += &format!("and {} more (--json has all)\n", differences.len() - ROWS_MAX);
    }
    out.push('\n');
    out
}

/// The verdict on a difference in words.
pub(super) fn verdict(difference: &Difference) -> &'static str {
    match (difference.is_significant, difference.is_too_short) {
        (true, _) => "significant",
        (false, true) => "too short to tell",
        (false, false) => "may be chance",
    }
}
