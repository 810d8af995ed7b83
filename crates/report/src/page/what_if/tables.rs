//! All points of a what-if in tables.

use std::fmt::Write as _;

use super::super::markup::{def, escape, scrolling};
use super::plots::{labels, numbers};
use super::points::{WhatIfFound, WhatIfModel, WhatIfPage, WhatIfPoint, digits, shown};
use crate::numbers::thousands;

/// Rows shown at first; a button shows all.
const ROWS_SHOWN: usize = 30;

/// The head of a table: what the rows are of, then numbers with their terms.
fn table_head(page: &WhatIfPage, of: &str, columns: &[(&str, &str)]) -> String {
    let mut head = String::from("<thead><tr>");
    for (at, parameter) in page.parameters.iter().enumerate() {
        let _ =
            write!(head, "<th scope=\"col\" data-sort=\"{}\">{}</th>", sort_of(page, at), escape(parameter));
    }
    if page.models.len() > 1 {
        head += "<th scope=\"col\" class=\"text\" data-sort=\"text\">model</th>";
    }
    let _ = write!(head, "<th scope=\"col\" class=\"text\" data-sort=\"text\">{of}</th>");
    for (term, name) in columns {
        let _ = write!(head, "<th scope=\"col\" data-sort=\"number\">{}</th>", def(term, name));
    }
    head + "</tr></thead>"
}

fn sort_of(page: &WhatIfPage, parameter: usize) -> &'static str {
    if numbers(&labels(page, parameter)).is_some() { "number" } else { "text" }
}

/// The cells with the parameters of a row's point.
fn row_head(page: &WhatIfPage, model: &WhatIfModel, point: &WhatIfPoint, of: &str) -> String {
    let mut row = String::from("<tr>");
    for (at, value) in point.values.iter().enumerate() {
        if at == 0 {
            let _ = write!(row, "<th scope=\"row\">{}</th>", escape(value));
        } else {
            let _ = write!(row, "<td>{}</td>", escape(value));
        }
    }
    if page.models.len() > 1 {
        let _ = write!(row, "<td class=\"text\">{}</td>", escape(&model.name));
    }
    row + &format!("<td class=\"text\">{}</td>", escape(of))
}

/// A table with rows of all points.
fn table(
    page: &WhatIfPage,
    caption: &str,
    head: &str,
    rows: impl Fn(&WhatIfFound) -> Vec<(String, Vec<String>)>,
    columns: usize,
) -> String {
    let mut out = String::new();
    let mut count = 0;
    for model in &page.models {
        for point in &model.points {
            match &point.found {
                Ok(found) => {
                    for (name, cells) in rows(found) {
                        count += 1;
                        out += &row_head(page, model, point, &name);
                        for cell in cells {
                            let _ = write!(out, "<td>{cell}</td>");
                        }
                        out += "</tr>";
                    }
                }
                Err(why) => {
                    count += 1;
                    out += &row_head(page, model, point, &format!("no answer: {why}"));
                    out += &"<td class=\"soft\">–</td>".repeat(columns);
                    out += "</tr>";
                }
            }
        }
    }
    let cut = if count > ROWS_SHOWN { " cut" } else { "" };
    let table = format!(
        "<table class=\"points sortable{cut}\" data-limit=\"{ROWS_SHOWN}\"><caption class=\"skip\">{caption}</caption>{head}<tbody>\
         {out}</tbody></table>"
    );
    let mut body = scrolling(caption, &table);
    if count > ROWS_SHOWN {
        let _ = write!(
            body,
            "<button type=\"button\" class=\"more\">Show all {} rows</button>",
            thousands(count as u64)
        );
    }
    body
}

pub(super) fn classes(page: &WhatIfPage) -> String {
    let bounded = page
        .models
        .iter()
        .flat_map(|model| &model.points)
        .filter_map(|point| point.found.as_ref().ok())
        .flat_map(|found| &found.classes)
        .any(|class| class.throughput_bound_per_s.is_some());
    let mut columns = vec![("x", "X per s"), ("r", "R ms"), ("q", "Q")];
    if bounded {
        columns.extend([("bounds", "X at most"), ("bounds", "R at least, ms")]);
    }
    let head = table_head(page, "class", &columns);
    let rows = |found: &WhatIfFound| {
        found
            .classes
            .iter()
            .map(|class| {
                let mut cells = vec![
                    shown(class.throughput_per_s, 1.0),
                    shown(class.response_s, 1e3),
                    shown(class.customers, 1.0),
                ];
                if bounded {
                    let bound = |value: Option<f64>, factor: f64| {
                        value.map_or_else(|| "–".to_owned(), |value| digits(value * factor))
                    };
                    cells.push(bound(class.throughput_bound_per_s, 1.0));
                    cells.push(bound(class.response_bound_s, 1e3));
                }
                (class.name.clone(), cells)
            })
            .collect()
    };
    table(page, "Throughput, response time and customers of each class", &head, rows, columns.len())
}

pub(super) fn stations(page: &WhatIfPage) -> String {
    let columns = [("u", "U %"), ("q", "Q")];
    let head = table_head(page, "station", &columns);
    let rows = |found: &WhatIfFound| {
        found
            .stations
            .iter()
            .map(|station| {
                let cells = vec![shown(station.utilization, 100.0), shown(station.customers, 1.0)];
                (station.name.clone(), cells)
            })
            .collect()
    };
    table(page, "Utilization and customers of each station", &head, rows, columns.len())
}
