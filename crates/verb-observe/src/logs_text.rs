//! Counts of logs as text for the terminal.

use busyhour_logs::{
    CountSeries, Difference, Differences, Exposure, GroupCounts, LogComparison, LogCounts, Zone,
};
use busyhour_report::numbers::{counted, percent, rate, thousands};
use busyhour_report::{
    NamedLog, curve, log_comparison_note, log_entries, log_extent, log_notes, log_verdict,
};
use busyhour_terminal::columns::Columns;

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
pub(super) fn summary_text(log: &NamedLog, zone: &Zone) -> String {
    let counts = &log.counts;
    let mut out = format!("{}: {}\n", log.name, log_extent(log, zone));
    let in_time = log.entries_in_time();
    if log.severities.keys().any(Option::is_some) {
        let mut table = Columns::new(1, &["Severity", "Entries", "Share %"]);
        for (severity, count) in log.severities.iter().rev() {
            let name = severity.map_or_else(|| "not stated".to_owned(), |severity| severity.to_string());
            let share = 100.0 * *count as f64 / in_time.max(1) as f64;
            table.row(vec![name, thousands(*count), percent(share)]);
        }
        out += &format!("\n{}", table.render());
    }
    out += &format!("\nProblems: {} of {}", thousands(counts.matching), log_entries(in_time));
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
    for note in log_notes(counts) {
        out += &format!("note: {note}\n");
    }
    out
}

fn groups(title: &str, groups: &[GroupCounts], log: &NamedLog, zone: &Zone) -> String {
    let has_severity = groups.iter().any(|group| group.severity.is_some());
    let mut headings = vec![title, "n"];
    headings.extend(has_severity.then_some("severity"));
    if log.has_times {
        headings.extend(["first", "last", "over time"]);
    }
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
                second.map(|(second, _)| log.time_of_day(*second, zone)).unwrap_or_default()
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
fn over_time(series: &CountSeries, counts: &LogCounts) -> String {
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
    let note = log_comparison_note(comparison.too_short.as_ref(), comparison.false_discovery_rate);
    out + &format!("note: {note}\n")
}

fn listed(title: &str, differences: &[Difference], comparison: &LogComparison) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let (per, unit) = match comparison.exposure {
        Exposure::RunLength => (60.0, "/min"),
        Exposure::Requests { .. } => (1.0, "/request"),
    };
    let headings =
        [title, "severity", "verdict", "n", &format!("baseline{unit}"), &format!("log{unit}"), "p"];
    let mut table = Columns::new(3, &headings);
    for one in differences.iter().take(ROWS_MAX) {
        table.row(vec![
            short(&one.text),
            one.severity.map(|severity| severity.to_string()).unwrap_or_default(),
            log_verdict(one).to_owned(),
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
