//! Marks on the time axis: their legend, a table, and the data for the plots.

use busyhour_analysis::RunFacts;
use busyhour_results::{MarkCount, SystemMark, SystemRecord};
use busyhour_series::MarkKind;
use maud::{Markup, html};
use serde::Serialize;

use super::scale::quantity;
use crate::numbers::thousands;
use crate::page::columns::{TableColumn, sortable_table};
use crate::page::markup::{at, scrolling};
use crate::terminal_text::{printable, shown_text};

/// Maximum number of rows of each kind in the table, which contains the longest marks.
const ROWS_OF_KIND_MAX: usize = 10;

/// Maximum number of characters of a description in the table and in plots.
const TEXT_MAX: usize = 160;

/// The name of one or several marks of a kind.
const fn noun(kind: MarkKind, is_one: bool) -> &'static str {
    match (kind, is_one) {
        (MarkKind::User, true) => "own mark",
        (MarkKind::User, false) => "own marks",
        (MarkKind::Restart, true) => "restart",
        (MarkKind::Restart, false) => "restarts",
        (MarkKind::End, true) => "end of a process",
        (MarkKind::End, false) => "ends of processes",
        (MarkKind::OutOfMemory, true) => "process killed for lack of memory",
        (MarkKind::OutOfMemory, false) => "processes killed for lack of memory",
        (MarkKind::Stall, true) => "stall of the machine",
        (MarkKind::Stall, false) => "stalls of the machine",
        (MarkKind::GcPause, true) => "marked GC pause",
        (MarkKind::GcPause, false) => "marked GC pauses",
        (MarkKind::LogBurst, true) => "log burst",
        (MarkKind::LogBurst, false) => "log bursts",
        (MarkKind::Other, true) => "other event",
        (MarkKind::Other, false) => "other events",
    }
}

/// The marks that the plots show.
#[derive(Serialize)]
pub(crate) struct EventModel {
    kind: &'static str,
    from_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_s: Option<f64>,
    words: String,
}

impl EventModel {
    /// The marks of a record.
    pub(crate) fn all(record: &SystemRecord) -> Vec<EventModel> {
        let round = |seconds: f64| (seconds * 1e4).round() / 1e4;
        let of = |mark: &SystemMark| EventModel {
            kind: mark.kind.as_str(),
            from_s: round(mark.from_s),
            to_s: (mark.to_s > mark.from_s).then(|| round(mark.to_s)),
            words: words(mark),
        };
        record.marks.iter().map(of).collect()
    }
}

/// The text about a mark that a plot shows at the cursor.
fn words(mark: &SystemMark) -> String {
    match mark.kind {
        MarkKind::User => shown_text(&mark.text, TEXT_MAX),
        MarkKind::GcPause | MarkKind::Stall if mark.to_s > mark.from_s => {
            format!(
                "{} of {}",
                noun(mark.kind, true),
                quantity(busyhour_results::Unit::Seconds, mark.to_s - mark.from_s)
            )
        }
        _ => shown_text(&mark.text, TEXT_MAX),
    }
}

/// The legend of the marks in plots; empty without marks.
pub(crate) fn legend(record: &SystemRecord) -> Markup {
    html! {
        @if !record.mark_counts.is_empty() {
            ul.events aria-label="Marks in the plots" {
                @for count in &record.mark_counts { li { (key(count)) } }
            }
        }
    }
}

fn key(count: &MarkCount) -> Markup {
    html! {
        span class={ "event " (count.kind.as_str()) } {
            (thousands(count.count as u64)) " " (noun(count.kind, count.count == 1))
        }
        @if count.total_s > 0.0 {
            span.soft {
                ", " (quantity(busyhour_results::Unit::Seconds, count.total_s))
                @if count.count > 1 { " in total, at most " (quantity(busyhour_results::Unit::Seconds, count.longest_s)) }
            }
        }
    }
}

/// The legend of the marks, and their table.
pub(super) fn marks(run: &RunFacts, record: &SystemRecord) -> Markup {
    let rows = longest(record);
    if rows.is_empty() {
        return html! {};
    }
    type Cells<'a> = TableColumn<'a, SystemMark>;
    let columns = [
        Cells::text("what", |mark| noun(mark.kind, true)),
        Cells::plain("time", |mark| at(run, mark.from_s)),
        Cells::plain("length", |mark| {
            let length = mark.to_s - mark.from_s;
            if length > 0.0 { quantity(busyhour_results::Unit::Seconds, length) } else { "–".to_owned() }
        }),
        Cells::text("source", |mark| printable(&mark.source)),
        Cells::text("description", |mark| shown_text(&mark.text, TEXT_MAX)),
    ];
    let all: usize = record.mark_counts.iter().map(|count| count.count).sum();
    html! {
        h3 { "Events" }
        (legend(record))
        details open[rows.len() <= ROWS_OF_KIND_MAX] {
            summary {
                @if rows.len() == all { "All events" } @else { "The longest events of each kind" }
            }
            (scrolling("Events", sortable_table("Events", &columns, rows)))
        }
    }
}

/// The longest marks of each kind in the order of time.
fn longest(record: &SystemRecord) -> Vec<&SystemMark> {
    let mut rows = Vec::new();
    for count in &record.mark_counts {
        let mut of_kind: Vec<&SystemMark> =
            record.marks.iter().filter(|mark| mark.kind == count.kind).collect();
        of_kind.sort_by(|a, b| (b.to_s - b.from_s).total_cmp(&(a.to_s - a.from_s)));
        rows.extend(of_kind.into_iter().take(ROWS_OF_KIND_MAX));
    }
    rows.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    rows
}
