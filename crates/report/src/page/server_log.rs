//! The section on the log of the server.

use busyhour_analysis::Summary;
use busyhour_analysis::server_log::ServerLog;
use maud::{Markup, html};

use super::markup::{Section, mark, scrolling};
use crate::server_log_lines::{
    ARRIVAL_HEADS, OUTSIDE_HEADS, arrival_rows, outside_cells, outside_notes, server_log_facts,
    server_log_quality,
};
use crate::terminal_text::printable;

/// The section; `None` if no log was compared.
pub(super) fn server_log(summary: &Summary) -> Option<Section> {
    let log = summary.server_log.as_ref()?;
    Some(Section { id: "server-log", title: "At the server", body: body(log) })
}

/// The result on the first screen, with a link to the section.
pub(super) fn server_log_opening(summary: &Summary) -> Markup {
    html! {
        @if let Some(log) = &summary.server_log {
            div.caveats.why { p { (printable(&log.line)) ". " a href="#server-log" { "The log of the server" } "." } }
        }
    }
}

fn body(log: &ServerLog) -> Markup {
    let (arrivals, note) = arrival_rows(&log.arrivals);
    let outside: Vec<Vec<String>> = log.outside.iter().map(outside_cells).collect();
    let words = match log.is_complete {
        Some(true) => "complete",
        Some(false) => "differs",
        None => "undecided",
    };
    html! {
        p { (mark(server_log_quality(log).class(), words)) " " (printable(&log.line)) "." }
        ul { @for fact in server_log_facts(log) { li { (fact) } } }
        @if !arrivals.is_empty() { (table("Arrivals", &ARRIVAL_HEADS, &arrivals)) }
        @if let Some(note) = note { p { (note) } }
        @if !outside.is_empty() { (table("Time outside of the server", &OUTSIDE_HEADS, &outside)) }
        @for note in outside_notes(log) { p { (printable(&note)) "." } }
        @if !log.limits.is_empty() {
            details {
                summary { "Conclusions that the comparison does not support" }
                ul { @for limit in &log.limits { li { (printable(limit)) "." } } }
            }
        }
    }
}

fn table(name: &str, heads: &[&str], rows: &[Vec<String>]) -> Markup {
    scrolling(
        name,
        html! {
            table {
                thead { tr { @for (at, head) in heads.iter().enumerate() { th scope="col" class=[(at == 0).then_some("text")] { (head) } } } }
                tbody {
                    @for row in rows {
                        tr { @for (at, cell) in row.iter().enumerate() { td class=[(at == 0).then_some("text")] { (cell) } } }
                    }
                }
            }
        },
    )
}
