//! What a person reads at the end of a run.

use busyhour_analysis::{Row, Summary, Times};
use busyhour_record::{RunEnd, SampleKind};

use crate::changes_told::changes;
use crate::delivery::{delivery, who};
use crate::numbers::{counted, duration, ms, percent, rate, thousands};
use crate::thresholds::threshold_lines;

/// How text is to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal; `None` when there is none: then labels are not cut.
    pub width: Option<usize>,
    /// Whether colours and weights can be shown.
    pub colour: bool,
}

/// Most kinds of error that are listed.
const ERRORS_SHOWN: usize = 8;

/// Labels are not cut below this many characters.
pub(crate) const LABEL_MIN: usize = 12;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

impl Look {
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(BOLD, text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint(GREEN, text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint(RED, text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint(DIM, text)
    }
}

/// The result of a run: a heading, the table per label and total, the most frequent errors, caveats, and the paths of
/// what was `written`. Lines end with `\n`.
#[must_use]
pub fn end_of_run(summary: &Summary, written: &[String], look: Look) -> String {
    let mut out = heading(summary, look);
    if let Some(window) = &summary.window {
        out += &format!("Part: {}", window.words);
        if window.before + window.after > 0 {
            let (before, after) = (thousands(window.before), thousands(window.after));
            out += &format!("; {before} before and {after} after it are left out");
        }
        out.push('\n');
    }
    for line in changes(&summary.run) {
        out += &format!("Changed: {line}\n");
    }
    if let Some(left_out) = summary.run.arrivals.map(|counts| counts.not_offered).filter(|count| *count > 0) {
        out += &format!("{} left out while the run was paused\n", counted(left_out, "arrival"));
    }
    arrivals(summary, &mut out);
    out.push('\n');
    out += &times_table(summary, look);
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
    let mut parts = vec![duration(run.duration_s.unwrap_or(summary.span_s))];
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
    let name = name.map(|name| look.paint(BOLD, name) + ": ").unwrap_or_default();
    format!("{name}{}\n", parts.join(", "))
}

/// The plain lines on the arrivals.
fn arrivals(summary: &Summary, out: &mut String) {
    for verdict in &summary.arrivals {
        match &verdict.of {
            Some(of) => *out += &format!("{of}: {}\n", verdict.line),
            None => *out += &format!("{}\n", verdict.line),
        }
        if let Some(line) = delivery(verdict, &summary.run) {
            *out += &format!("  {line}\n");
        }
    }
}

/// A time of a row in ms; without samples there is none.
fn time(row: &Row, value: f64) -> String {
    if row.samples == 0 { "–".into() } else { ms(value) }
}

/// Columns: a heading and how a row fills it.
type Column = (&'static str, fn(&Row) -> String);

const COUNTS: [Column; 5] = [
    ("samples", |row| thousands(row.samples)),
    ("err %", |row| if row.samples == 0 { "–".into() } else { percent(row.error_percent) }),
    ("rate/s", |row| rate(row.rate_per_s)),
    ("KiB/s in", |row| rate(row.received_kib_per_s)),
    ("KiB/s out", |row| rate(row.sent_kib_per_s)),
];

const RESPONSE: [Column; 7] = [
    ("mean", |row| time(row, row.response.mean)),
    ("p50", |row| time(row, row.response.p50)),
    ("p90", |row| time(row, row.response.p90)),
    ("p95", |row| time(row, row.response.p95)),
    ("p99", |row| time(row, row.response.p99)),
    ("p99.9", |row| time(row, row.response.p99_9)),
    ("max", |row| time(row, row.response.max)),
];

const SERVICE: [Column; 7] = [
    ("mean", |row| time(row, row.service.mean)),
    ("p50", |row| time(row, row.service.p50)),
    ("p90", |row| time(row, row.service.p90)),
    ("p95", |row| time(row, row.service.p95)),
    ("p99", |row| time(row, row.service.p99)),
    ("p99.9", |row| time(row, row.service.p99_9)),
    ("max", |row| time(row, row.service.max)),
];

fn times_table(summary: &Summary, look: Look) -> String {
    let all: Vec<Column> = COUNTS.into_iter().chain(RESPONSE).collect();
    let width =
        longest_label(summary) + widths(&cells(summary, &all), &all).iter().map(|w| w + 2).sum::<usize>();
    let mut out = if look.width.is_some_and(|room| room < width) {
        // Two tables with whole labels rather than one with cut ones.
        let counts = table(summary, "requests", &COUNTS, look);
        counts + "\n" + &table(summary, "response time in ms", &RESPONSE, look)
    } else {
        table(summary, "response time in ms", &all, look)
    };
    if clocks_differ(&summary.total.response, &summary.total.service) {
        out.push('\n');
        out += &table(summary, "service time in ms (from the actual start)", &SERVICE, look);
    }
    out
}

/// Whether the two clocks tell different stories.
fn clocks_differ(response: &Times, service: &Times) -> bool {
    let differ = |a: f64, b: f64| (a - b).abs() > 0.5 && (a - b).abs() > 0.02 * b;
    differ(response.mean, service.mean) || differ(response.p99, service.p99)
}

fn label(row: &Row) -> String {
    let text = printable(&row.label);
    if row.kind == SampleKind::Transaction { format!("{text} (transaction)") } else { text }
}

fn rows(summary: &Summary) -> impl Iterator<Item = &Row> {
    summary.labels.iter().chain([&summary.total])
}

/// Characters of the longest label.
fn longest_label(summary: &Summary) -> usize {
    rows(summary).map(|row| label(row).chars().count()).max().unwrap_or(0).max(LABEL_MIN)
}

fn cells(summary: &Summary, columns: &[Column]) -> Vec<Vec<String>> {
    rows(summary).map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()).collect()
}

/// Characters that each column needs.
fn widths(cells: &[Vec<String>], columns: &[Column]) -> Vec<usize> {
    let widest = |at: usize| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    columns.iter().enumerate().map(|(at, (name, _))| widest(at).max(name.len())).collect()
}

fn table(summary: &Summary, title: &str, columns: &[Column], look: Look) -> String {
    let cells = cells(summary, columns);
    let widths = widths(&cells, columns);
    let numbers: usize = widths.iter().map(|width| width + 2).sum();
    let longest = longest_label(summary);
    let room = look.width.map_or(longest, |width| width.saturating_sub(numbers).clamp(LABEL_MIN, longest));

    let times: usize = widths.iter().rev().take(7).map(|width| width + 2).sum();
    let before = room + numbers - times;
    let title = format!("{:before$}  {title}", "");
    let mut out = look.paint(DIM, title.trim_end()) + "\n";
    let mut head = format!("{:room$}", "label");
    for ((name, _), width) in columns.iter().zip(&widths) {
        head += &format!("  {name:>width$}");
    }
    out += &(look.paint(DIM, &head) + "\n");
    for (row, cells) in rows(summary).zip(&cells) {
        let total = std::ptr::eq(row, &summary.total);
        let mut line = format!("{:room$}", cut(&label(row), room));
        for ((cell, width), (name, _)) in cells.iter().zip(&widths).zip(columns) {
            let text = format!("  {cell:>width$}");
            line += &if *name == "err %" && row.errors > 0 { look.paint(RED, &text) } else { text };
        }
        out += &if total { look.paint(BOLD, &line) } else { line };
        out.push('\n');
    }
    out
}

fn errors(summary: &Summary, look: Look, out: &mut String) {
    if summary.errors.is_empty() {
        return;
    }
    *out += &format!("\n{}\n", look.paint(BOLD, "Most frequent errors"));
    let width = summary.errors.iter().take(ERRORS_SHOWN).map(|e| thousands(e.count).len()).max().unwrap_or(0);
    for error in summary.errors.iter().take(ERRORS_SHOWN) {
        let mut what = printable(&error.code);
        if !error.message.is_empty() {
            what += if what.is_empty() { "" } else { ": " };
            what += &printable(&error.message);
        }
        let line = format!(
            "{:>width$}  {:>5.1} %  {what} ({})",
            thousands(error.count),
            error.percent_of_errors,
            printable(&error.example_label)
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
    for told in &summary.caveats {
        *out += &format!("{} {}\n", look.paint(YELLOW, "-"), printable(&told.message));
        *out += &format!("  {}\n", look.paint(DIM, &format!("{}.", capital(&printable(&told.advice)))));
    }
}

pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// `text` on one line and without control characters, which a label or a server's message may hold.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// At most `width` characters of `text`.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
