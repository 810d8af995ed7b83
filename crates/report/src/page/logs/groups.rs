//! Templates and stack traces with their counts, examples, and the verdict of the comparison.

use std::collections::HashMap;

use busyhour_logs::{Difference, Differences, EntrySeverity, GroupCounts};
use maud::{Markup, html};

use super::super::columns::{TableColumn, sortable_table};
use super::super::markup::{mark, scrolling};
use super::super::spark::spark;
use super::content::LogPage;
use crate::log_words::log_verdict;
use crate::numbers::{counted, rate, thousands};
use crate::terminal_text::{printable, shown_text};

/// Maximum numbers of templates and of stack traces that are shown.
const TEMPLATES_MAX: usize = 100;
const TRACES_MAX: usize = 50;

/// Number of stack traces that are expanded at first.
const OPEN_TRACES: usize = 3;

/// Maximum numbers of characters of a template and of its example.
const TEXT_MAX: usize = 300;
const EXAMPLE_MAX: usize = 1_000;

/// Maximum number of lines of the example of a stack trace.
const TRACE_LINES_MAX: usize = 60;

/// Number of intervals of a small line.
const CELLS: usize = 60;

/// How a group differs from the baseline.
#[derive(Clone, Copy)]
enum Change<'a> {
    New(&'a Difference),
    Risen(&'a Difference),
    /// It is in both, and not significantly more frequent.
    Other,
}

/// A template or a stack trace.
struct Group<'a> {
    counts: &'a GroupCounts,
    change: Change<'a>,
}

impl Group<'_> {
    fn difference(&self) -> Option<&Difference> {
        match self.change {
            Change::New(difference) | Change::Risen(difference) => Some(difference),
            Change::Other => None,
        }
    }
}

/// The groups in the order of the page: those that the baseline lacks, those that are more frequent, the others.
fn sorted_groups<'a>(groups: &'a [GroupCounts], differences: Option<&'a Differences>) -> Vec<Group<'a>> {
    let mut changes: HashMap<&str, (usize, Change<'a>)> = HashMap::new();
    if let Some(differences) = differences {
        let new = differences.new.iter().map(|one| (one, Change::New(one)));
        let risen = differences.risen.iter().map(|one| (one, Change::Risen(one)));
        for (place, (one, change)) in new.chain(risen).enumerate() {
            changes.insert(&one.text, (place, change));
        }
    }
    let mut ordered: Vec<(usize, Group<'a>)> = groups
        .iter()
        .map(|counts| match changes.get(counts.text.as_str()) {
            Some((place, change)) => (*place, Group { counts, change: *change }),
            None => (usize::MAX, Group { counts, change: Change::Other }),
        })
        .collect();
    ordered.sort_by_key(|(place, _)| *place);
    ordered.into_iter().map(|(_, group)| group).collect()
}

/// The table of templates.
pub(super) fn templates(page: &LogPage<'_>) -> Markup {
    let counts = &page.log.counts;
    let groups =
        sorted_groups(&counts.templates, page.baseline.map(|baseline| &baseline.comparison.templates));
    let shown = &groups[..groups.len().min(TEMPLATES_MAX)];
    type Cells<'a> = TableColumn<'a, Group<'a>>;
    let mut columns = vec![
        Cells::text("template", |group| {
            html! {
                details {
                    summary { code { (shown_text(&group.counts.text, TEXT_MAX)) } }
                    code.about { (shown_text(&group.counts.example, EXAMPLE_MAX)) }
                }
            }
        }),
        Cells::number("n", |group| thousands(group.counts.count)),
        Cells::text("severity", |group| severity(group.counts.severity)),
    ];
    if page.baseline.is_some() {
        columns.push(Cells::text("against the baseline", |group| comparison_verdict(group)));
        columns.push(Cells::number("baseline/min", |group| per_minute(group, |one| one.baseline_rate)));
        columns.push(Cells::number("log/min", |group| per_minute(group, |one| one.run_rate)));
    }
    if page.log.has_times {
        columns.push(Cells::plain("over time", |group| course(page, group)).class(|_| "course"));
        columns.push(Cells::plain("first", |group| time(page, group.counts.over_time.counts.first())));
        columns.push(Cells::plain("last", |group| time(page, group.counts.over_time.counts.last())));
    }
    html! {
        @if shown.is_empty() {
            p { "No entry reports a problem." }
        } @else {
            p {
                "Open a template for its first entry."
                @if page.baseline.is_some() {
                    " Templates that the baseline lacks come first, then those that are more frequent."
                }
            }
            (scrolling("Templates", html! { div.templates { (sortable_table("Templates", &columns, shown)) } }))
            @if groups.len() > shown.len() {
                p.note { (counted((groups.len() - shown.len()) as u64, "more template")) "." }
            }
        }
    }
}

/// The stack traces, each with its first entry.
pub(super) fn traces(page: &LogPage<'_>) -> Markup {
    let counts = &page.log.counts;
    let groups = sorted_groups(&counts.traces, page.baseline.map(|baseline| &baseline.comparison.traces));
    html! {
        @if groups.is_empty() { p { "No problem has a stack trace." } }
        @for (at, group) in groups.iter().take(TRACES_MAX).enumerate() {
            details open[at < OPEN_TRACES] {
                summary {
                    (thousands(group.counts.count)) " × "
                    code { (shown_text(group.counts.text.lines().next().unwrap_or_default(), TEXT_MAX)) }
                    @if page.baseline.is_some() { " " (comparison_verdict(group)) }
                    @if page.log.has_times {
                        span.soft {
                            " " (time(page, group.counts.over_time.counts.first())) " – "
                            (time(page, group.counts.over_time.counts.last()))
                        }
                    }
                }
                (scrolling("Stack trace", html! { code.lines { (lines(&group.counts.example)) } }))
            }
        }
        @if groups.len() > TRACES_MAX {
            p.note { (counted((groups.len() - TRACES_MAX) as u64, "more stack trace")) "." }
        }
    }
}

fn severity(severity: Option<EntrySeverity>) -> Markup {
    let is_bad = severity.is_some_and(|severity| severity >= EntrySeverity::Error);
    html! {
        span class=[is_bad.then_some("bad")] {
            (severity.map_or_else(|| "–".to_owned(), |severity| severity.to_string()))
        }
    }
}

/// The verdict of the comparison on a group, as text.
fn comparison_verdict(group: &Group<'_>) -> Markup {
    let verdict = |difference: &Difference| {
        let class = if difference.is_significant { "bad" } else { "open" };
        html! { span.soft { (mark(class, log_verdict(difference))) } }
    };
    html! {
        @match group.change {
            Change::New(difference) => { "new, " (verdict(difference)) }
            Change::Risen(difference) => { "more frequent, " (verdict(difference)) }
            Change::Other => "in both",
        }
    }
}

fn per_minute(group: &Group<'_>, per_second: impl Fn(&Difference) -> f64) -> String {
    group.difference().map_or_else(|| "–".to_owned(), |one| rate(60.0 * per_second(one)))
}

fn time(page: &LogPage<'_>, second: Option<&(u32, u32)>) -> String {
    second.map_or_else(|| "–".to_owned(), |(second, _)| page.log.time_of_day(*second, page.zone))
}

fn course(page: &LogPage<'_>, group: &Group<'_>) -> Markup {
    let length_s = page.log.counts.length_s.unwrap_or(0.0).max(1.0);
    let mut values = vec![0.0; CELLS];
    for (second, count) in &group.counts.over_time.counts {
        let at = (f64::from(*second) / length_s * CELLS as f64) as usize;
        values[at.min(CELLS - 1)] += f64::from(*count);
    }
    spark(&values)
}

/// The first lines of a text.
fn lines(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().take(TRACE_LINES_MAX).map(printable_line).collect();
    let further = text.lines().skip(TRACE_LINES_MAX).count();
    if further > 0 {
        lines.push(format!("… {}", counted(further as u64, "more line")));
    }
    lines.join("\n")
}

/// A line with its indentation, in which a tab has the width of four spaces.
fn printable_line(line: &str) -> String {
    printable(line.replace('\t', "    ").trim_end())
}
