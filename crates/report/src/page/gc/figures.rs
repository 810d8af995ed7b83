//! Tables of figures, with their definitions.

use busyhour_gclog::{BetterWhen, FigureChange, FigureRow, GcComparison, GcSummary, KeyFigure};
use maud::{Markup, html};

use super::super::markup::{Column, Sort, capital, head, mark, scrolling, wide_table};
use super::series::{Side, pause};
use crate::gc_words::NamedGcLog;
use crate::numbers::{counted, duration, percent, thousands};
use crate::terminal_text::printable;

pub(super) fn figures(summary: &GcSummary) -> Markup {
    html! {
        p { "The most quoted figures with GCViewer's definitions and digits, followed by important figures that GCViewer lacks." }
        (defined("Figures of GCViewer", "as GCViewer", &summary.key_figures()))
        h3 { "Beyond GCViewer" }
        (defined("Figures beyond GCViewer", "figure", &summary.more_key_figures()))
        @if !summary.statistics.worst_windows.is_empty() {
            h3 { "Worst windows" }
            (worst_windows(summary))
        }
        (all("All figures under GCViewer's names", &[summary]))
    }
}

/// A table of figures with their definitions. Unavailable figures have a reason instead of a value.
fn defined(title: &str, first: &'static str, figures: &[KeyFigure]) -> Markup {
    let columns = [text(first), number("value"), text("definition")];
    let table = html! {
        table.wide.defined {
            caption.skip { (title) }
            (head(&columns))
            tbody {
                @for KeyFigure { label, definition, figure } in figures {
                    tr {
                        th scope="row" { (label) }
                        td class=[figure.unavailable.map(|_| "soft")] { (figure.with_unit()) }
                        td.text {
                            (capital(definition)) "."
                            @if let Some(reason) = figure.unavailable {
                                " Unavailable: " (with_code(reason.reason())) "."
                            }
                        }
                    }
                }
            }
        }
    };
    scrolling(title, table)
}

fn worst_windows(summary: &GcSummary) -> Markup {
    let title = "The largest share of pauses in windows of four lengths";
    let columns = [text("window"), number("in pauses"), number("starts at")];
    let table = html! {
        table {
            caption.skip { (title) }
            (head(&columns))
            tbody {
                @for window in &summary.statistics.worst_windows {
                    tr {
                        th scope="row" {
                            @if window.window_s < 1.0 { (pause(window.window_s)) } @else { (duration(window.window_s)) }
                        }
                        td { (percent(window.paused_percent)) " %" }
                        td { (duration(window.from_s)) }
                    }
                }
            }
        }
    };
    scrolling(title, table)
}

/// All figures of one or two logs, in a collapsed element.
fn all(title: &str, summaries: &[&GcSummary]) -> Markup {
    let rows = |summary: &GcSummary| -> Vec<FigureRow> {
        summary.figures.iter().chain(&summary.more_figures).cloned().collect()
    };
    let first: Vec<FigureRow> = summaries.first().map(|summary| rows(summary)).unwrap_or_default();
    let columns: &[Column] = match summaries.len() {
        1 => &[text("name"), number("value"), text("unavailable because")],
        _ => &[text("name"), number("before"), number("after")],
    };
    let others: Vec<Vec<FigureRow>> = summaries.iter().skip(1).map(|summary| rows(summary)).collect();
    let table = html! {
        table.wide {
            caption.skip { (title) }
            (head(columns))
            tbody {
                @for (at, row) in first.iter().enumerate() {
                    tr {
                        th scope="row" { (row.name) }
                        (figure_cell(row))
                        @if others.is_empty() {
                            td.text { (with_code(row.unavailable.map_or("", |reason| reason.reason()))) }
                        }
                        @for other in &others {
                            @if let Some(row) = other.get(at) { (figure_cell(row)) } @else { td {} }
                        }
                    }
                }
            }
        }
    };
    html! { details { summary { (title) } (scrolling(title, table)) } }
}

fn figure_cell(row: &FigureRow) -> Markup {
    html! { td class=[row.unavailable.map(|_| "soft")] { (row.with_unit()) } }
}

pub(super) fn compared(before: &NamedGcLog, after: &NamedGcLog, comparison: &GcComparison) -> Markup {
    let columns = [
        text("figure"),
        number("before"),
        number("after"),
        number("change"),
        Column { name: "verdict", term: "", sort: Sort::Words },
    ];
    let title = "Figures before and after";
    let rows = html! {
        @for figure in &comparison.figures {
            tr {
                th scope="row" { (figure.label) }
                td { (figure.before) }
                td { (figure.after) }
                td { (figure.percent.map(|percent| format!("{percent:+.1} %")).unwrap_or_default()) }
                td.verdict {
                    @match (figure.change, figure.better_when) {
                        (FigureChange::Better, _) => (mark("good", "better")),
                        (FigureChange::Worse, _) => (mark("bad", "worse")),
                        (FigureChange::Same, _) => "same",
                        (FigureChange::Different, BetterWhen::Lower | BetterWhen::Higher | BetterWhen::Neither) => "",
                        (FigureChange::Unknown, _) => "unavailable",
                    }
                }
            }
        }
    };
    html! {
        (scrolling(title, wide_table(title, &columns, &rows)))
        p.note {
            "Footprint, rates, freed memory and total time depend on the load as much as on the collector. Figures without a verdict \
             are neither better nor worse."
        }
        (all("All figures of both logs", &[&before.summary, &after.summary]))
    }
}

/// The number of lines that were read, and the damaged lines.
pub(super) fn lines(sides: &[Side<'_>]) -> Markup {
    html! {
        @for side in sides {
            @let lines = side.summary().lines;
            p {
                @if !side.word.is_empty() { (side.word) ": " }
                (counted(lines.total, "line")) ": " (thousands(lines.events)) " with events, " (thousands(lines.details))
                " with details, " (thousands(lines.other)) " about something else, " (thousands(lines.damaged)) " damaged."
                @if lines.beyond_limit > 0 {
                    " " (thousands(lines.beyond_limit)) " events are beyond the limit of "
                    (thousands(busyhour_gclog::EVENTS_MAX as u64)) " and not in the figures."
                }
            }
            @if !side.summary().damaged_lines.is_empty() {
                details {
                    summary { "The first damaged lines" }
                    ul {
                        @for line in &side.summary().damaged_lines {
                            li { "line " (thousands(line.line)) ": " code { (printable(&line.text)) } }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn glossary() -> Markup {
    let entry = |term: &str, words: &str| html! { dt { (term) } dd { (words) } };
    html! {
        dl.pairs {
            (entry("pause", "The time that a collection stopped all threads of the application."))
            (entry(
                "full collection",
                "A collection of the whole heap in a pause. Figures of few full collections are rough. If there is little to free, \
                 full collections free little, which is not necessarily a problem.",
            ))
            (entry(
                "throughput",
                "The share of the total time outside of pauses. If the application was idle for a part of the time, this share looks \
                 better than under load.",
            ))
            (entry(
                "allocated, promoted",
                "Allocated: the heap before a collection minus the heap after the previous one. Promoted: what a young collection \
                 moved to the old generation. For collections that run concurrently with the application (ZGC, Shenandoah), both are lower bounds.",
            ))
            (entry(
                "live memory",
                "The heap in use after collections that reclaim old objects: full collections, the last of successive mixed \
                 collections of G1, cycles of ZGC and Shenandoah. Only live memory can show a leak; the heap after young collections \
                 rises in every healthy program.",
            ))
            (entry(
                "leak",
                "A material rise of live memory that lasts in all parts of the log after the warm-up (Mann–Kendall test with \
                 correction for serial correlation). No leak: such a rise is ruled out. Undecided: the log permits neither conclusion.",
            ))
        }
    }
}

/// A text in which parts between backticks are code.
pub(super) fn with_code(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (printable(part)) } } @else { (printable(part)) }
        }
    }
}

fn text(name: &'static str) -> Column {
    Column { name, term: "", sort: Sort::Words }
}

fn number(name: &'static str) -> Column {
    Column { name, term: "", sort: Sort::No }
}
