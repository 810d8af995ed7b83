//! The errors of a run, and its slowest requests.

use busyhour_analysis::{ErrorRow, SlowSample, Summary};
use maud::{Markup, html};

use super::columns::{TableColumn, sortable_table};
use super::markup::{Section, at, scrolling};
use crate::error_causes::{CODE_MAX, Cause, MESSAGE_MAX, causes};
use crate::numbers::{ms, thousands};
use crate::terminal_text::{shown_label, shown_text};

/// Maximum number of kinds of error that are listed.
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

/// The causes of errors in plain words, with their labels.
fn cause_table(summary: &Summary) -> Markup {
    type Cells<'a> = TableColumn<'a, Cause>;
    let columns = [
        Cells::text("cause", |cause| cause.text.clone()),
        Cells::number("requests", |cause| thousands(cause.count)),
        Cells::number("% of errors", |cause| format!("{:.1}", cause.percent_of_errors)),
        Cells::text("labels", Cause::labels),
    ];
    let all = causes(summary);
    let table = sortable_table("Errors by cause", &columns, all.iter().take(ERRORS_SHOWN));
    let shown: u64 = all.iter().take(ERRORS_SHOWN).map(|cause| cause.count).sum();
    html! {
        (scrolling("Causes of errors", table))
        @if all_errors(summary) > shown {
            p.note { (thousands(all_errors(summary) - shown)) " errors have other causes." }
        }
    }
}

fn all_errors(summary: &Summary) -> u64 {
    summary.errors.iter().map(|error| error.count).sum::<u64>() + summary.errors_other
}

/// The response codes and messages as in JMeter and in the result file.
fn kind_table(summary: &Summary) -> Markup {
    type Cells<'a> = TableColumn<'a, ErrorRow>;
    let columns = [
        Cells::text("code", |error| shown_text(&error.code, CODE_MAX)),
        Cells::text("message", |error| shown_text(&error.message, MESSAGE_MAX)),
        Cells::number("requests", |error| thousands(error.count))
            .quantity(|index| format!("errors.{index}.count")),
        Cells::number("% of errors", |error| format!("{:.1}", error.percent_of_errors)),
        Cells::plain("first", |error| at(&summary.run, error.first_s)),
        Cells::plain("last", |error| at(&summary.run, error.last_s)),
        Cells::text("first label", |error| shown_label(&error.example_label)),
    ];
    let listed = &summary.errors[..summary.errors.len().min(ERRORS_SHOWN)];
    let shown: u64 = listed.iter().map(|error| error.count).sum();
    let all = all_errors(summary);
    html! {
        details {
            summary { "Response codes and messages" }
            p {
                "How many requests failed with each code and message of the result file, when the first and the last of them \
                 ended, and the label of the first."
            }
            (scrolling("Errors", sortable_table("Errors by code and message", &columns, listed)))
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
    let quality = |slow: &SlowSample| if slow.success { "text" } else { "text bad" };
    type Cells<'a> = TableColumn<'a, SlowSample>;
    let columns = [
        Cells::text("label", |slow| shown_label(&slow.label)),
        Cells::plain("started at", |slow| at(&summary.run, slow.start_s)),
        Cells::number("response ms", |slow| ms(slow.response_ms)).term("response"),
        Cells::number("service ms", |slow| ms(slow.service_ms)).term("service"),
        Cells::text("code", |slow| shown_text(&slow.code, CODE_MAX)).class(quality),
        Cells::text("message", |slow| shown_text(&slow.message, MESSAGE_MAX)).class(quality),
    ];
    html! {
        p {
            "The " (summary.slowest.len()) " with the longest response times. If the response time is longer than the \
             service time, the request started late."
        }
        (scrolling("Slowest requests", sortable_table("The slowest requests", &columns, &summary.slowest)))
    }
}
