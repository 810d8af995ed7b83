//! Tables of pauses by kind, by cause and by percentile.

use busyhour_gclog::{DurationSummary, PauseGroup};
use maud::{Markup, html};

use super::super::markup::{Column, Sort, head, scrolling, wide_table};
use super::series::Side;
use crate::gc_words::gc_pause_ms;
use crate::numbers::{counted, percent, rate, thousands};
use crate::terminal_text::printable;

/// Maximum number of rows of a table.
const ROWS_MAX: usize = 60;

/// Tables of the kinds and causes of pauses of each log.
pub(super) fn groups(sides: &[Side<'_>]) -> Markup {
    html! {
        @for side in sides {
            @let statistics = &side.summary().statistics;
            @for (what, groups) in [("cause", &statistics.by_cause), ("kind", &statistics.by_kind)] {
                @if groups.is_empty() {
                    p.note { (titled(side, &format!("Pauses by {what}"))) ": unavailable, because the log contains none." }
                } @else {
                    h3 { (titled(side, &format!("Pauses by {what}"))) }
                    (table(what, groups, statistics.pauses.as_ref()))
                }
            }
        }
    }
}

fn titled(side: &Side<'_>, title: &str) -> String {
    if side.word.is_empty() { title.to_owned() } else { format!("{title}, {}", side.word) }
}

fn table(what: &'static str, groups: &[PauseGroup], all: Option<&DurationSummary>) -> Markup {
    let number = |name: &'static str| Column { name, term: "", sort: Sort::Number };
    let columns = [
        Column { name: what, term: "", sort: Sort::Text },
        number("pauses"),
        number("freed MiB"),
        number("mean ms"),
        number("p50 ms"),
        number("p95 ms"),
        number("p99 ms"),
        number("max ms"),
        Column { name: "sum ms", term: "", sort: Sort::Descending },
        number("share %"),
    ];
    let rows = html! {
        @for PauseGroup { name, pauses, freed_kib } in groups.iter().take(ROWS_MAX) {
            tr {
                th scope="row" { (printable(name)) }
                td { (thousands(pauses.n as u64)) }
                td { (freed_kib.map_or_else(|| "–".to_owned(), |kib| rate(kib as f64 / 1024.0))) }
                @for seconds in
                    [pauses.mean_s, pauses.p50_s, pauses.p95_s, pauses.p99_s, pauses.max_s, pauses.sum_s]
                {
                    td { (gc_pause_ms(seconds)) }
                }
                td {
                    (all.filter(|all| all.sum_s > 0.0).map_or_else(
                        || "–".to_owned(),
                        |all| percent(100.0 * pauses.sum_s / all.sum_s),
                    ))
                }
            }
        }
    };
    let title = format!("Pauses by {what}");
    html! {
        (scrolling(&title, wide_table(&title, &columns, &rows)))
        @if groups.len() > ROWS_MAX {
            p.note { "And " (counted((groups.len() - ROWS_MAX) as u64, "more")) "." }
        }
    }
}

/// A table of the percentiles of all pauses.
pub(super) fn percentiles(sides: &[Side<'_>]) -> Markup {
    let number = |name: &'static str| Column { name, term: "", sort: Sort::No };
    let columns = [
        Column { name: "pauses", term: "", sort: Sort::Words },
        number("n"),
        number("mean ms"),
        number("p50 ms"),
        number("p90 ms"),
        number("p95 ms"),
        number("p99 ms"),
        number("p99.9 ms"),
        number("max ms"),
    ];
    let title = "Percentiles of pauses";
    let table = html! {
        table.wide {
            caption.skip { (title) }
            (head(&columns))
            tbody {
                @for side in sides {
                    @if let Some(all) = side.summary().statistics.pauses {
                        tr {
                            th scope="row" { @if side.word.is_empty() { "all" } @else { (side.word) } }
                            td { (thousands(all.n as u64)) }
                            @for seconds in
                                [all.mean_s, all.p50_s, all.p90_s, all.p95_s, all.p99_s, all.p999_s, all.max_s]
                            {
                                td { (gc_pause_ms(seconds)) }
                            }
                        }
                    }
                }
            }
        }
    };
    scrolling(title, table)
}
