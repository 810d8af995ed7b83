//! How requests failed, and which were slowest.

use std::fmt::Write as _;

use busyhour_analysis::Summary;

use super::markup::{Column, Section, Sort, at, escape, head, scrolling};
use crate::numbers::{ms, thousands};
use crate::table::{CODE_MAX, MESSAGE_MAX};
use crate::terminal_text::{shown_label, shown_text};

/// Most kinds of error that are listed.
const ERRORS_SHOWN: usize = 50;

/// The section of errors.
pub(super) fn errors(summary: &Summary) -> Section {
    let body = match (summary.total.samples, summary.errors.is_empty()) {
        (0, true) => "<p>No request ended.</p>".to_owned(),
        (_, true) if summary.total.errors == 0 => "<p>No request failed.</p>".to_owned(),
        _ => table(summary),
    };
    Section { id: "errors", title: "Errors", body }
}

fn table(summary: &Summary) -> String {
    let columns = [
        Column { name: "code", term: "", sort: Sort::Text },
        Column { name: "message", term: "", sort: Sort::Text },
        Column { name: "requests", term: "", sort: Sort::Number },
        Column { name: "% of errors", term: "", sort: Sort::Number },
        Column { name: "first", term: "", sort: Sort::No },
        Column { name: "last", term: "", sort: Sort::No },
        Column { name: "first label", term: "", sort: Sort::Text },
    ];
    let mut table = format!(
        "<table class=\"wide sortable\"><caption class=\"skip\">Errors by kind</caption>{}<tbody>",
        head(&columns)
    );
    for error in summary.errors.iter().take(ERRORS_SHOWN) {
        let _ = write!(
            table,
            "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{}</td><td>{:.1}</td><td>{}</td><td>{}</td>\
             <td class=\"text\">{}</td></tr>",
            escape(&shown_text(&error.code, CODE_MAX)),
            escape(&shown_text(&error.message, MESSAGE_MAX)),
            thousands(error.count),
            error.percent_of_errors,
            at(&summary.run, error.first_s),
            at(&summary.run, error.last_s),
            escape(&shown_label(&error.example_label))
        );
    }
    table.push_str("</tbody></table>");
    let mut body = String::from(
        "<p>By response code and message, with the first label error; times are ends of requests.</p>",
    );
    body.push_str(&scrolling("Errors", &table));
    let shown: u64 = summary.errors.iter().take(ERRORS_SHOWN).map(|error| error.count).sum();
    let all: u64 = summary.errors.iter().map(|error| error.count).sum::<u64>() + summary.errors_other;
    if all > shown {
        let _ = write!(
            body,
            "<p class=\"note\">{} errors of other kinds are not shown.</p>",
            thousands(all - shown)
        );
    }
    body
}

/// The section of the slowest requests.
pub(super) fn slowest(summary: &Summary) -> Section {
    let body =
        if summary.slowest.is_empty() { "<p>Not recorded.</p>".to_owned() } else { slowest_table(summary) };
    Section { id: "slowest", title: "Slowest requests", body }
}

fn slowest_table(summary: &Summary) -> String {
    let columns = [
        Column { name: "label", term: "", sort: Sort::Text },
        Column { name: "started at", term: "", sort: Sort::No },
        Column { name: "response ms", term: "response", sort: Sort::Number },
        Column { name: "service ms", term: "service", sort: Sort::Number },
        Column { name: "code", term: "", sort: Sort::Text },
        Column { name: "message", term: "", sort: Sort::Text },
    ];
    let mut table = format!(
        "<table class=\"wide sortable\"><caption class=\"skip\">The slowest requests</caption>{}<tbody>",
        head(&columns)
    );
    for slow in &summary.slowest {
        let bad = if slow.success { "" } else { " bad" };
        let _ = write!(
            table,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"text{bad}\">{}</td>\
             <td class=\"text{bad}\">{}</td></tr>",
            escape(&shown_label(&slow.label)),
            at(&summary.run, slow.start_s),
            ms(slow.response_ms),
            ms(slow.service_ms),
            escape(&shown_text(&slow.code, CODE_MAX)),
            escape(&shown_text(&slow.message, MESSAGE_MAX))
        );
    }
    table.push_str("</tbody></table>");
    format!(
        "<p>The {} with the longest response times. If the response time is longer than the service time, the request started late.</p>{}",
        summary.slowest.len(),
        scrolling("Slowest requests", &table)
    )
}
