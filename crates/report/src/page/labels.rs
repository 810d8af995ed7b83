//! The table of labels.

use busyhour_analysis::{Row, Summary};
use busyhour_sample::SampleKind;
use maud::{Markup, html};

use super::markup::{Column, Section, Sort, head, more, quantity, scrolling};
use crate::numbers::{duration, thousands};
use crate::row_columns::{RowColumn, page_columns};
use crate::terminal_text::{printable, shown_label};
use crate::times_table::{group_about, group_name};

/// Maximum number of labels shown at first; a button shows the rest. The style sheet contains the same number.
const LABELS_SHOWN: usize = 30;

/// The section of labels.
pub(super) fn labels(summary: &Summary) -> Section {
    let body = match summary.labels.is_empty() {
        true => html! { p { "No request ended." } },
        false => labels_body(summary),
    };
    Section { id: "labels", title: "Labels", body }
}

fn labels_body(summary: &Summary) -> Markup {
    let count = summary.labels.len();
    html! {
        p {
            "Response times in ms of successful and failed requests; rates are over the "
            (quantity("span_s", duration(summary.span_s)))
            @if summary.window.is_some() { " of the measured part. " } @else { " from the first start to the last end. " }
            @if summary.labels.iter().any(|row| row.series.is_some()) {
                "Select a label to see it over time."
            } @else {
                "The record does not contain labels over time."
            }
            @if count > LABELS_SHOWN { " " span.sorted { "Sorted by requests, largest first." } }
        }
        @if count > 5 {
            div.tools {
                label { "Filter" input type="search" autocomplete="off" spellcheck="false"; }
                output.row-count {}
            }
        }
        (scrolling("Labels", table(&Table {
            id: "label-table",
            rows: &summary.labels,
            path: "labels",
            total: Some((&summary.total, "total")),
            limit: Some(LABELS_SHOWN),
        })))
        button.columns type="button" aria-expanded="false" { "Show all columns" }
        @if count > LABELS_SHOWN {
            (more(format!("Show all {} labels", thousands(count as u64))))
        }
        @if summary.labels.iter().any(|row| row.kind == SampleKind::Transaction) {
            p.note { "The total contains the requests of transactions, not the transactions." }
        }
        @if !summary.sub_results.is_empty() {
            h3 { "Inside requests" }
            p { "Redirects and embedded resources. They are part of the requests above and not in the total." }
            (scrolling("Inside requests", table(&Table {
                id: "inside-table",
                rows: &summary.sub_results,
                path: "sub_results",
                total: None,
                limit: Some(LABELS_SHOWN),
            })))
        }
    }
}

/// The results of each thread group; `None` if they are not known separately.
pub(super) fn groups(summary: &Summary) -> Option<Section> {
    if summary.groups.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Response times in ms by thread group. Rates from the first start to the last end of the group, or over the \
             measured part."
        }
        @for (at, group) in summary.groups.iter().enumerate() {
            @let name = printable(&group_name(group, &summary.groups));
            h3 { (name) }
            p.note { (group_about(group)) "." }
            (scrolling(&name, table(&Table {
                id: &format!("group-table-{at}"),
                rows: &group.labels,
                path: &format!("groups.{at}.labels"),
                total: Some((&group.total, &format!("groups.{at}.total"))),
                limit: None,
            })))
        }
    };
    Some(Section { id: "groups", title: "Thread groups", body })
}

/// A table of rows and their total.
struct Table<'t> {
    id: &'t str,
    rows: &'t [Row],
    /// The path of the rows in `summary.json`.
    path: &'t str,
    /// The total and its path.
    total: Option<(&'t Row, &'t str)>,
    /// Maximum number of rows shown at first; a button shows the others.
    limit: Option<usize>,
}

fn table(Table { id, rows, path, total, limit }: &Table<'_>) -> Markup {
    // The rows are in the plan's order. If only some rows are shown at first, the busiest ones come first.
    let mut shown: Vec<(usize, &Row)> = rows.iter().enumerate().collect();
    let is_cut = limit.is_some_and(|limit| rows.len() > limit);
    if is_cut {
        shown.sort_by_key(|(_, row)| std::cmp::Reverse(row.samples));
    }
    let all: Vec<&Row> = rows.iter().chain(total.iter().map(|(total, _)| *total)).collect();
    let has_series = rows.iter().any(|row| row.series.is_some());
    let numbers = page_columns(&all);
    let mut columns = vec![Column { name: "label", term: "", sort: Sort::Text }];
    if has_series {
        columns.push(Column { name: "p95 over time", term: "", sort: Sort::Sparkline });
    }
    for (at, (name, term)) in numbers.iter().filter_map(|column| column.page).enumerate() {
        let sort = if is_cut && at == 0 { Sort::Descending } else { Sort::Number };
        columns.push(Column { name, term, sort });
    }
    // The paths of the numbers in each column, and the columns that are shown on request.
    let quantities = numbers.iter().map(|column| column.path).collect::<Vec<_>>().join(" ");
    let before = columns.len() - numbers.len();
    let further: Vec<usize> =
        (0..numbers.len()).filter(|at| !numbers[*at].is_main).map(|at| at + before + 1).collect();
    let further = further.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    html! {
        table.wide.sortable.cut[is_cut] id=(id) data-limit=[limit] data-quantities=(quantities) data-further=(further) {
            caption.skip { "Requests and response times by label" }
            (head(&columns))
            tbody {
                @for (at, row) in shown {
                    tr data-label=(at) data-row={ (path) "." (at) } { (cells(row, has_series, &numbers)) }
                }
            }
            @if let Some((total, path)) = total {
                tfoot { tr data-row=(path) { (cells(total, has_series, &numbers)) } }
            }
        }
    }
}

fn cells(row: &Row, has_series: bool, numbers: &[RowColumn]) -> Markup {
    let class = |column: &RowColumn| match (column.is_of_failures, row.errors, column.is_main) {
        (false, _, true) => None,
        (false, _, false) => Some("further"),
        (true, 0, true) => Some("zero"),
        (true, 0, false) => Some("zero further"),
        (true, _, true) => Some("bad"),
        (true, _, false) => Some("bad further"),
    };
    html! {
        th scope="row" {
            span.name { @if row.label.is_empty() { "(no label)" } @else { (shown_label(&row.label)) } }
            @if row.kind == SampleKind::Transaction { span.tag { "transaction" } }
        }
        @if has_series { td.spark {} }
        @for column in numbers {
            td class=[class(column)] { ((column.cell)(row)) }
        }
    }
}
