//! How requests failed, and which were slowest.

use busyhour_analysis::Summary;
use maud::{Markup, html};

use super::markup::{Column, Section, Sort, at, scrolling, wide_table};
use crate::error_causes::{CODE_MAX, MESSAGE_MAX, causes};
use crate::numbers::{ms, thousands};
use crate::terminal_text::{shown_label, shown_text};

/// Most kinds of error that are listed.
const ERRORS_SHOWN: usize = 50;

/// The section of errors.
pub(super) fn errors(summary: &Summary) -> Section {
    let body = match (summary.total.samples, summary.errors.is_empty()) {
        (0, true) => html! { p { "No request ended." } },
        (_, true) if summary.total.errors == 0 => html! { p { "No request failed." } },
        _ => html! { (cause_table(summary)) (kind_table(summary)) },
    };
    Section { id: "errors", title: "Errors", body }
}

/// What went wrong, in plain words, with the labels.
fn cause_table(summary: &Summary) -> Markup {
    let columns = [
        Column { name: "cause", term: "", sort: Sort::Text },
        Column { name: "requests", term: "", sort: Sort::Number },
        Column { name: "% of errors", term: "", sort: Sort::Number },
        Column { name: "labels", term: "", sort: Sort::Text },
    ];
    let all = causes(summary);
    let rows = html! {
        @for cause in all.iter().take(ERRORS_SHOWN) {
            tr {
                th scope="row" { (cause.text) }
                td { (thousands(cause.count)) }
                td { (format!("{:.1}", cause.percent_of_errors)) }
                td.text { (cause.labels()) }
            }
        }
    };
    let shown: u64 = all.iter().take(ERRORS_SHOWN).map(|cause| cause.count).sum();
    html! {
        (scrolling("Causes of errors", wide_table("Errors by cause", &columns, &rows)))
        @if all_errors(summary) > shown {
            p.note { (thousands(all_errors(summary) - shown)) " errors have other causes." }
        }
    }
}

fn all_errors(summary: &Summary) -> u64 {
    summary.errors.iter().map(|error| error.count).sum::<u64>() + summary.errors_other
}

/// Response codes and messages as JMeter and the result file have them.
fn kind_table(summary: &Summary) -> Markup {
    let columns = [
        Column { name: "code", term: "", sort: Sort::Text },
        Column { name: "message", term: "", sort: Sort::Text },
        Column { name: "requests", term: "", sort: Sort::Number },
        Column { name: "% of errors", term: "", sort: Sort::Number },
        Column { name: "first", term: "", sort: Sort::No },
        Column { name: "last", term: "", sort: Sort::No },
        Column { name: "first label", term: "", sort: Sort::Text },
    ];
    let listed = &summary.errors[..summary.errors.len().min(ERRORS_SHOWN)];
    let shown: u64 = listed.iter().map(|error| error.count).sum();
    let all = all_errors(summary);
    let rows = html! {
        @for (at_row, error) in listed.iter().enumerate() {
            tr {
                th scope="row" { (shown_text(&error.code, CODE_MAX)) }
                td.text { (shown_text(&error.message, MESSAGE_MAX)) }
                td data-quantity={ "errors." (at_row) ".count" } { (thousands(error.count)) }
                td { (format!("{:.1}", error.percent_of_errors)) }
                td { (at(&summary.run, error.first_s)) }
                td { (at(&summary.run, error.last_s)) }
                td.text { (shown_label(&error.example_label)) }
            }
        }
    };
    html! {
        details {
            summary { "Response codes and messages" }
            p {
                "How many requests failed with each code and message of the result file, when the first and the last of them \
                 ended, and the label of the first."
            }
            (scrolling("Errors", wide_table("Errors by code and message", &columns, &rows)))
            @if all > shown { p.note { (thousands(all - shown)) " errors of other kinds are not shown." } }
        }
    }
}

/// The section of the slowest requests.
pub(super) fn slowest(summary: &Summary) -> Section {
    let body = if summary.slowest.is_empty() {
        html! { p { "Not recorded." } }
    } else {
        slowest_table(summary)
    };
    Section { id: "slowest", title: "Slowest requests", body }
}

fn slowest_table(summary: &Summary) -> Markup {
    let columns = [
        Column { name: "label", term: "", sort: Sort::Text },
        Column { name: "started at", term: "", sort: Sort::No },
        Column { name: "response ms", term: "response", sort: Sort::Number },
        Column { name: "service ms", term: "service", sort: Sort::Number },
        Column { name: "code", term: "", sort: Sort::Text },
        Column { name: "message", term: "", sort: Sort::Text },
    ];
    let rows = html! {
        @for slow in &summary.slowest {
            @let class = if slow.success { "text" } else { "text bad" };
            tr {
                th scope="row" { (shown_label(&slow.label)) }
                td { (at(&summary.run, slow.start_s)) }
                td { (ms(slow.response_ms)) }
                td { (ms(slow.service_ms)) }
                td class=(class) { (shown_text(&slow.code, CODE_MAX)) }
                td class=(class) { (shown_text(&slow.message, MESSAGE_MAX)) }
            }
        }
    };
    html! {
        p {
            "The " (summary.slowest.len()) " with the longest response times. If the response time is longer than the \
             service time, the request started late."
        }
        (scrolling("Slowest requests", wide_table("The slowest requests", &columns, &rows)))
    }
}
