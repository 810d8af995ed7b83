//! The table of labels.

use std::fmt::Write as _;

use busyhour_analysis::{Row, Summary};
use busyhour_record::SampleKind;

use super::markup::{Column, Section, Sort, escape, head, scrolling};
use crate::numbers::{ms, percent, rate, thousands};
use crate::terminal_text::shown_label;
use crate::times_table::{group_about, group_name};

/// With more labels than this, the rest are shown when somebody asks; the style sheet knows the number.
const LABELS_SHOWN: usize = 30;

/// The section of labels.
pub(super) fn labels(summary: &Summary) -> Section {
    let mut body = String::new();
    if summary.labels.is_empty() {
        body.push_str("<p>No request ended.</p>");
    } else {
        body.push_str("<p>Times are response times in ms, of good and failed requests alike; rates are over the run from its \
                       first start to its last end. ");
        body.push_str(if summary.labels.iter().any(|row| row.series.is_some()) {
            "Press a label to see it over time."
        } else {
            "Labels over time are not recorded."
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
            body.push_str("<p class=\"note\">Transactions are not in the total: their requests are.</p>");
        }
        if !summary.sub_results.is_empty() {
            body.push_str(
                "<h3>Inside requests</h3><p>Redirects and embedded resources, which are part of the requests above and \
                 not in their total.</p>",
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
             <output class=\"told\"></output></div>",
        );
    }
}

/// The results of each thread group; `None` where they are not told apart.
pub(super) fn groups(summary: &Summary) -> Option<Section> {
    if summary.groups.is_empty() {
        return None;
    }
    let mut body = String::from(
        "<p>Response times in ms of each thread group alone. Rates are over the time from its first start to its last end, or \
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

/// A table of rows and their total; of more rows than `limit` the rest are shown when somebody asks.
fn table(id: &str, rows: &[Row], total: Option<&Row>, limit: Option<usize>) -> String {
    let number = |name, term| Column { name, term, sort: Sort::Number };
    // In the plan's order, until there are too many to see at once: then the busiest come first.
    let mut shown: Vec<(usize, &Row)> = rows.iter().enumerate().collect();
    let is_cut = limit.is_some_and(|limit| rows.len() > limit);
    if is_cut {
        shown.sort_by_key(|(_, row)| std::cmp::Reverse(row.samples));
    }
    let all = || rows.iter().chain(total);
    let with = Columns {
        series: rows.iter().any(|row| row.series.is_some()),
        service: all().any(|row| row.service.mean != row.response.mean),
        apdex: rows.iter().any(|row| row.apdex.is_some()),
    };
    let mut columns = vec![
        Column { name: "label", term: "", sort: Sort::Text },
        number("requests", "completed"),
        number("failed", "failed"),
        number("failed %", "failed"),
        number("per s", "rate"),
        number("mean", "mean"),
        number("p25", "p25"),
        number("p50", "p50"),
        number("p75", "p75"),
        number("p90", "p90"),
        number("p95", "p95"),
        number("p99", "p99"),
        number("p99.9", "p999"),
        number("max", "max"),
    ];
    if with.service {
        columns.push(number("service mean", "service"));
    }
    if with.apdex {
        columns.push(number("APDEX", "apdex"));
    }
    let cut = if is_cut { " cut" } else { "" };
    let limit = limit.map(|limit| format!(" data-limit=\"{limit}\"")).unwrap_or_default();
    let mut out = format!(
        "<table class=\"wide sortable{cut}\" id=\"{id}\"{limit}><caption class=\"skip\">Requests and response times by \
         label</caption>"
    );
    let mut head = head(&columns);
    if is_cut {
        // Of the requests, the first column of numbers.
        head = head.replacen(" data-sort=\"number\"", " data-sort=\"number\" aria-sort=\"descending\"", 1);
    }
    if with.series {
        // Between the label and its numbers.
        head = head.replacen("</th>", "</th><th scope=\"col\" class=\"spark\">p95 over time</th>", 1);
    }
    out.push_str(&head);
    out.push_str("<tbody>");
    for (at, row) in shown {
        let _ = write!(out, "<tr data-label=\"{at}\">");
        cells(row, with, &mut out);
        out.push_str("</tr>");
    }
    out.push_str("</tbody>");
    if let Some(total) = total {
        out.push_str("<tfoot><tr>");
        cells(total, with, &mut out);
        out.push_str("</tr></tfoot>");
    }
    out + "</table>"
}

/// Which columns a table has beyond those that all have.
#[derive(Clone, Copy)]
struct Columns {
    series: bool,
    service: bool,
    apdex: bool,
}

fn cells(row: &Row, with: Columns, out: &mut String) {
    let tag = match row.kind {
        SampleKind::Transaction => "<span class=\"tag\">transaction</span>",
        _ => "",
    };
    let label = if row.label.is_empty() { "(no label)".to_owned() } else { shown_label(&row.label) };
    let _ = write!(out, "<th scope=\"row\"><span class=\"name\">{}</span>{tag}</th>", escape(&label));
    if with.series {
        out.push_str("<td class=\"spark\"></td>");
    }
    let bad = if row.errors > 0 { " class=\"bad\"" } else { " class=\"zero\"" };
    let _ = write!(
        out,
        "<td>{}</td><td{bad}>{}</td><td{bad}>{}</td><td>{}</td>",
        thousands(row.samples),
        thousands(row.errors),
        percent(row.error_percent),
        rate(row.rate_per_s)
    );
    let t = &row.response;
    let service = with.service.then_some(row.service.mean);
    for value in [t.mean, t.p25, t.p50, t.p75, t.p90, t.p95, t.p99, t.p99_9, t.max].into_iter().chain(service)
    {
        let text = if row.samples == 0 { "–".to_owned() } else { ms(value) };
        let _ = write!(out, "<td>{text}</td>");
    }
    if with.apdex {
        let score = row.apdex.map_or_else(|| "–".to_owned(), |apdex| format!("{:.2}", apdex.score));
        let _ = write!(out, "<td>{score}</td>");
    }
}
