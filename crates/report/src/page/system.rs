//! The section on the system that was observed during the run: an overview, plots per resource, tables, and the sources.

mod colours;
mod logs;
mod marks;
mod model;
mod overview;
mod panels;
mod scale;
mod sources;
mod static_plot;
mod tables;

use busyhour_analysis::Summary;
use busyhour_results::SystemRecord;
use maud::{Markup, html};

use super::gc::gc_in_run;
use super::markup::{Section, capital};
use crate::terminal_text::printable;

pub(super) use marks::{EventModel, legend};
pub(super) use model::SystemModel;

/// The section.
pub(super) fn system(summary: &Summary, record: &SystemRecord) -> Section {
    let body = html! {
        p { (about(record)) }
        (problems(record))
        @if record.panels.is_empty() {
            p { "No values were recorded. The sources below state the reasons." }
        } @else {
            (overview::overview(record))
        }
        (marks::marks(&summary.run, record))
        (tables::processes(summary, record))
        (tables::virtual_machines(summary))
        (panels::panels(record))
        (logs::logs(&summary.run, record))
        @for source in &record.gc_logs { (gc_in_run(source)) }
        (sources::sources(&summary.run, record))
        (sources::not_shown(record))
    };
    Section { id: "system", title: "System", body }
}

/// The source, the interval and the cost of the readings.
fn about(record: &SystemRecord) -> String {
    let mut words = String::from("Recorded");
    if !record.hostname.is_empty() {
        words += &format!(" on {}", printable(&record.hostname));
    }
    if let Some(seconds) = record.interval_s {
        // Readings are sometimes slightly late.
        words += &if seconds < 0.95 {
            format!(" every {:.0} ms", (seconds * 1e2).round() * 10.0)
        } else {
            format!(" every {seconds:.0} s")
        };
    }
    words += ".";
    if let Some(percent) = record.cost_percent {
        words += &format!(" Observing took {} % of one core.", scale::short(percent));
    }
    if record.axis.step_s > record.interval_s.unwrap_or(1.0) * 1.5 {
        words += &format!(" Each point is the mean of {} s.", scale::short(record.axis.step_s));
    }
    if record.measured.len() < record.axis.count {
        words += " Figures are those of the measured part; plots show the whole run.";
    }
    words
}

fn problems(record: &SystemRecord) -> Markup {
    html! {
        @if !record.problems.is_empty() {
            div.caveats {
                ul { @for problem in &record.problems { li { (capital(&printable(problem))) "." } } }
            }
        }
    }
}
