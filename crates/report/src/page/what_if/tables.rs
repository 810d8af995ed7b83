//! Tables with all points of a what-if analysis.

use maud::{Markup, html};

use super::super::markup::{def, more, scrolling};
use super::plots::{labels, numbers};
use super::points::{WhatIfFound, WhatIfModel, WhatIfPage, WhatIfPoint, digits, shown};
use crate::numbers::thousands;
use crate::terminal_text::printable;

/// Maximum number of rows shown at first; a button shows all.
const ROWS_SHOWN: usize = 30;

/// The heading of a table: the parameters, the kind of row, then numbers with their terms.
fn table_head(page: &WhatIfPage, of: &str, columns: &[(&str, &str)]) -> Markup {
    html! {
        thead {
            tr {
                @for (at, parameter) in page.parameters.iter().enumerate() {
                    th scope="col" data-sort=(sort_of(page, at)) { (printable(parameter)) }
                }
                @if page.models.len() > 1 { th.text scope="col" data-sort="text" { "model" } }
                th.text scope="col" data-sort="text" { (of) }
                @for (term, name) in columns { th scope="col" data-sort="number" { (def(term, name)) } }
            }
        }
    }
}

fn sort_of(page: &WhatIfPage, parameter: usize) -> &'static str {
    if numbers(&labels(page, parameter)).is_some() { "number" } else { "text" }
}

/// The cells with the parameters of a row's point.
fn row_head(page: &WhatIfPage, model: &WhatIfModel, point: &WhatIfPoint, of: &str) -> Markup {
    html! {
        @for (at, value) in point.values.iter().enumerate() {
            @if at == 0 { th scope="row" { (printable(value)) } } @else { td { (printable(value)) } }
        }
        @if page.models.len() > 1 { td.text { (printable(&model.name)) } }
        td.text { (printable(of)) }
    }
}

/// A table with the rows of all points.
fn table(
    page: &WhatIfPage,
    caption: &str,
    head: &Markup,
    rows: impl Fn(&WhatIfFound) -> Vec<(String, Vec<String>)>,
    columns: usize,
) -> Markup {
    let mut all: Vec<Markup> = Vec::new();
    for model in &page.models {
        for point in &model.points {
            match &point.found {
                Ok(found) => all.extend(rows(found).into_iter().map(|(name, cells)| {
                    html! { tr { (row_head(page, model, point, &name)) @for cell in cells { td { (cell) } } } }
                })),
                Err(why) => all.push(html! {
                    tr {
                        (row_head(page, model, point, &format!("no answer: {why}")))
                        @for _ in 0..columns { td.soft { "–" } }
                    }
                }),
            }
        }
    }
    let is_cut = all.len() > ROWS_SHOWN;
    let table = html! {
        table.points.sortable.cut[is_cut] data-limit=(ROWS_SHOWN) {
            caption.skip { (caption) }
            (head)
            tbody { @for row in &all { (row) } }
        }
    };
    html! {
        (scrolling(caption, table))
        @if is_cut { (more(format!("Show all {} rows", thousands(all.len() as u64)))) }
    }
}

pub(super) fn classes(page: &WhatIfPage) -> Markup {
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

pub(super) fn stations(page: &WhatIfPage) -> Markup {
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
