//! The problems in logs, by template and by stack trace.

use busyhour_analysis::RunFacts;
use busyhour_results::{LogRecord, LogTemplate, SystemRecord};
use maud::{Markup, html};

use crate::numbers::{counted, thousands};
use crate::page::markup::{at, scrolling};
use crate::page::spark::spark;
use crate::terminal_text::{printable, shown_text};

/// Maximum number of characters of a template, and of an example.
const TEXT_MAX: usize = 300;

/// A table for each log.
pub(super) fn logs(run: &RunFacts, record: &SystemRecord) -> Markup {
    html! { @for log in &record.logs { (one(run, log)) } }
}

fn one(run: &RunFacts, log: &LogRecord) -> Markup {
    html! {
        h3 { "Problems in " (printable(&log.name)) }
        p.note {
            (counted(log.matching, "problem")) " in " (thousands(log.entries)) " entries ("
            (counted(log.lines, "line")) ")."
            @if log.without_time > 0 {
                " The time of " (thousands(log.without_time)) " further problems is unknown."
            }
        }
        @if !log.templates.is_empty() {
            (scrolling("Templates", table(run, "Problems by template", &log.templates)))
            @if log.templates_further > 0 { p.note { (counted(log.templates_further, "more template")) "." } }
        }
        @if !log.traces.is_empty() {
            details {
                summary { (counted(log.traces.len() as u64 + log.traces_further, "stack trace")) }
                (scrolling("Stack traces", table(run, "Problems by stack trace", &log.traces)))
                @if log.traces_further > 0 { p.note { (counted(log.traces_further, "more stack trace")) "." } }
            }
        }
    }
}

fn table(run: &RunFacts, caption: &str, rows: &[LogTemplate]) -> Markup {
    html! {
        table.wide.templates {
            caption.skip { (caption) }
            thead {
                tr {
                    th.text scope="col" { "text" }
                    th.text scope="col" { "severity" }
                    th scope="col" { "entries" }
                    th.course scope="col" { "over time" }
                    th scope="col" { "first" }
                    th scope="col" { "last" }
                }
            }
            tbody {
                @for row in rows {
                    @let class = matches!(row.severity, Some("error" | "fatal")).then_some("bad");
                    tr {
                        th scope="row" {
                            details {
                                summary { code { (shown_text(&row.text, TEXT_MAX)) } }
                                code.about { (shown_text(&row.example, TEXT_MAX)) }
                            }
                        }
                        td.text { span class=[class] { (row.severity.unwrap_or("–")) } }
                        td { (thousands(row.count)) }
                        td.course { (spark(&row.per_s)) }
                        td { @if let Some(seconds) = row.first_s { (at(run, seconds)) } @else { "–" } }
                        td { @if let Some(seconds) = row.last_s { (at(run, seconds)) } @else { "–" } }
                    }
                }
            }
        }
    }
}
