//! The table of labels.

use std::fmt::Write as _;

use busyhour_analysis::{Row, Summary};
use busyhour_record::SampleKind;

use super::markup::{Column, Section, Sort, escape, head, scrolling};
use crate::numbers::thousands;
use crate::row_columns::{RowColumn, page_columns};
use crate::terminal_text::shown_label;
use crate::times_table::{group_about, group_name};

/// Labels shown at first; a button shows the rest. The style sheet contains the same number.
const LABELS_SHOWN: usize = 30;

/// The section of labels.
pub(super) fn labels(summary: &Summary) -> Section {
    let mut body = String::new();
    if summary.labels.is_empty() {
        body.push_str("<p>No request ended.</p>");
    } else {
        body.push_str(
            "<p>Response times in ms of successful and failed requests; rates are over the run from its \
                       first start to its last end. ",
        );
        body.push_str(if summary.labels.iter().any(|row| row.series.is_some()) {
            "Select a label to see it over time."
        } else {
            "The record does not contain labels over time."
        });
        body.push_str(if summary.labels.len() > LABELS_SHOWN {
            " <span class=\"sorted\">Sorted by requests, largest first.</span></p>"
        } else {
            "</p>"
        });
        tools(summary.labels.len(), &mut body);
        body.push_str(&scrolling(
            "Labels",
            &table("label-table", &summary.labels, Some(&summary.total), Some(LABELS_SHOWN)),
        ));
        if summary.labels.len() > LABELS_SHOWN {
            let _ = write!(
                body,
                "<button type=\"button\" class=\"more\">Show all {} labels</button>",
                thousands(summary.labels.len() as u64)
            );
        }
        if summary.labels.iter().any(|row| row.kind == SampleKind::Transaction) {
            body.push_str("<p class=\"note\">The total contains the requests of transactions, not the transactions.</p>");
        }
        if !summary.sub_results.is_empty() {
            body.push_str(
                "<h3>Inside requests</h3><p>Redirects and embedded resources. They are part of the requests above and \
                 not in the total.</p>",
            );
            body.push_str(&scrolling(
                "Inside requests",
                &table("inside-table", &summary.sub_results, None, Some(LABELS_SHOWN)),
            ));
        }
    }
    Section { id: "labels", title: "Labels", body }
}

fn tools(count: usize, out: &mut String) {
    if count > 5 {
        out.push_str(
            "<div class=\"tools\"><label>Filter<input type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>\
             <output class=\"row-count\"></output></div>",
        );
    }
}

/// The results of each thread group; `None` if they are not known separately.
pub(super) fn groups(summary: &Summary) -> Option<Section> {
    if summary.groups.is_empty() {
        return None;
    }
    let mut body = String::from(
        "<p>Response times in ms by thread group. Rates from the first start to the last end of the group, or \
         over the measured part.</p>",
    );
    for (at, group) in summary.groups.iter().enumerate() {
        let name = escape(&group_name(group, &summary.groups));
        let _ = write!(body, "<h3>{name}</h3><p class=\"note\">{}.</p>", group_about(group));
        let table = table(&format!("group-table-{at}"), &group.labels, Some(&group.total), None);
        body.push_str(&scrolling(&name, &table));
    }
    Some(Section { id: "groups", title: "Thread groups", body })
}

/// A table of rows and their total; a button shows the rows beyond `limit`.
fn table(id: &str, rows: &[Row], total: Option<&Row>, limit: Option<usize>) -> String {
    // In the plan's order, until there are too many to see at once: then the busiest come first.
    let mut shown: Vec<(usize, &Row)> = rows.iter().enumerate().collect();
    let is_cut = limit.is_some_and(|limit| rows.len() > limit);
    if is_cut {
        shown.sort_by_key(|(_, row)| std::cmp::Reverse(row.samples));
    }
    let all: Vec<&Row> = rows.iter().chain(total).collect();
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
    let cut = if is_cut { " cut" } else { "" };
    let limit = limit.map(|limit| format!(" data-limit=\"{limit}\"")).unwrap_or_default();
    let mut out = format!(
        "<table class=\"wide sortable{cut}\" id=\"{id}\"{limit}><caption class=\"skip\">Requests and response times by \
         label</caption>"
    );
    out.push_str(&head(&columns));
    out.push_str("<tbody>");
    for (at, row) in shown {
        let _ = write!(out, "<tr data-label=\"{at}\">");
        cells(row, has_series, &numbers, &mut out);
        out.push_str("</tr>");
    }
    out.push_str("</tbody>");
    if let Some(total) = total {
        out.push_str("<tfoot><tr>");
        cells(total, has_series, &numbers, &mut out);
        out.push_str("</tr></tfoot>");
    }
    out + "</table>"
}

fn cells(row: &Row, has_series: bool, numbers: &[RowColumn], out: &mut String) {
    let tag = match row.kind {
        SampleKind::Transaction => "<span class=\"tag\">transaction</span>",
        _ => "",
    };
    let label = if row.label.is_empty() { "(no label)".to_owned() } else { shown_label(&row.label) };
    let _ = write!(out, "<th scope=\"row\"><span class=\"name\">{}</span>{tag}</th>", escape(&label));
    if has_series {
        out.push_str("<td class=\"spark\"></td>");
    }
    for column in numbers {
        let class = match (column.is_of_failures, row.errors) {
            (false, _) => "",
            (true, 0) => " class=\"zero\"",
            (true, _) => " class=\"bad\"",
        };
        let _ = write!(out, "<td{class}>{}</td>", (column.cell)(row));
    }
}
