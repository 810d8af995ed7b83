//! The sources with their outcomes, and the metrics that are not on the page.

use std::collections::BTreeMap;

use busyhour_analysis::RunFacts;
use busyhour_results::{SourceOutcome, SourceRow, SystemRecord};
use maud::{Markup, html};

use super::scale::short;
use crate::numbers::{counted, thousands};
use crate::page::columns::{TableColumn, sortable_table};
use crate::page::markup::{at, capital, mark, scrolling};
use crate::terminal_text::{printable, shown_text};

/// Maximum number of characters of a reason.
const REASON_MAX: usize = 300;

/// The table of sources, and the metrics without values.
pub(super) fn sources(run: &RunFacts, record: &SystemRecord) -> Markup {
    type Cells<'a> = TableColumn<'a, SourceRow>;
    let columns = [
        Cells::words("source", |row| {
            html! {
                (shown_text(&row.name, 80))
                @if !row.about.is_empty() { span.about { (printable(&row.about)) } }
            }
        }),
        Cells::words("state", |row| state(run, row)),
        Cells::number("series", |row| thousands(row.series as u64)),
        Cells::number("cost, % of a core", |row| row.cost_percent.map_or_else(|| "–".to_owned(), short)),
        Cells::number("readings skipped", |row| thousands(row.skipped)),
    ];
    html! {
        h3 { "Sources" }
        @if record.sources.is_empty() { p { "None." } } @else {
            (scrolling("Sources", sortable_table("Sources", &columns, &record.sources)))
        }
        @if record.sources_further > 0 { p.note { (counted(record.sources_further as u64, "more source")) "." } }
        @if !record.unavailable.is_empty() {
            details {
                summary { "Metrics without values" }
                ul {
                    @for one in &record.unavailable {
                        li {
                            (printable(&one.source)) ": " (printable(&one.metrics.join(", "))) ": "
                            (shown_text(&one.reason, REASON_MAX)) "."
                        }
                    }
                    @if record.unavailable_further > 0 { li { (counted(record.unavailable_further as u64, "more reason")) "." } }
                }
            }
        }
    }
}

fn state(run: &RunFacts, row: &SourceRow) -> Markup {
    let reason = |reason: &str| capital(&shown_text(reason, REASON_MAX));
    let since = html! { @if let Some(seconds) = row.at_s { " at " (at(run, seconds)) } };
    html! {
        @match &row.outcome {
            SourceOutcome::Observed => {
                (mark("good", "watched"))
                @if row.failures > 0 { span.about { "It failed " (counted(row.failures as u64, "time")) " in between." } }
            }
            SourceOutcome::Limited { missing, advice } => {
                (mark("open", "watched in part"))
                span.about { "Without " (shown_text(missing, REASON_MAX)) "." @if !advice.is_empty() { " " (reason(advice)) "." } }
            }
            SourceOutcome::Failed(why) => { (mark("bad", "failed")) (since) span.about { (reason(why)) "." } }
            SourceOutcome::Ended(why) => { (mark("open", "ended")) (since) span.about { (reason(why)) "." } }
            SourceOutcome::NotObserved { reason: why, advice } => {
                (mark("open", "not watched"))
                span.about { (reason(why)) "." @if !advice.is_empty() { " " (reason(advice)) "." } }
            }
        }
    }
}

/// Metrics that were recorded but are not on the page.
pub(super) fn not_shown(record: &SystemRecord) -> Markup {
    let mut by_source: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for omitted in &record.omitted {
        let series = if omitted.series > 1 {
            format!(" ({})", thousands(omitted.series as u64))
        } else {
            String::new()
        };
        by_source.entry(&omitted.source).or_default().push(format!("{}{series}", omitted.metric));
    }
    html! {
        @if !by_source.is_empty() {
            details {
                summary { "Recorded metrics that the page does not show" }
                ul {
                    @for (source, metrics) in &by_source { li { (printable(source)) ": " (printable(&metrics.join(", "))) "." } }
                    @if record.omitted_further > 0 { li { (counted(record.omitted_further as u64, "more metric")) "." } }
                }
                p.note {
                    "Numbers in parentheses count series. " code { "busyhour export" } " writes all of them."
                }
            }
        }
    }
}
