//! The live page of a run: the elements for the values from the server, and the controls that change the run.
//!
//! All elements have their final size before the first values arrive, so that nothing moves later.

use maud::{Markup, html};

use super::document::{Document, Kind};
use super::figures::BANDS_RESOLUTION;
use super::glossary::definitions;
use super::markup::{Column, PlotHeight, Section, Sort, def, figure, head, scrolling};
use crate::terminal_text::printable;

/// Texts of the page before the first values arrive.
#[derive(Debug, Clone, Copy)]
pub struct LivePage<'p> {
    /// The run's name.
    pub title: &'p str,
    /// The requested load, in words.
    pub requested: &'p str,
    /// Why the rate cannot be changed; `None` if it can be changed.
    pub fixed_rate: Option<&'p str>,
    /// Path of the report after the run.
    pub report: &'p str,
}

/// Ids of the elements whose text comes from the server.
pub const LIVE_TEXT_IDS: [&str; 33] = [
    "live-when",
    "live-state",
    "offered-now",
    "offered-all",
    "started-now",
    "started-all",
    "completed-now",
    "completed-all",
    "failed-now",
    "failed-all",
    "users-now",
    "users-all",
    "cov-now",
    "cov-all",
    "mean-now",
    "mean-all",
    "p50-now",
    "p50-all",
    "p95-now",
    "p95-all",
    "p99-now",
    "p99-all",
    "max-now",
    "max-all",
    "system-note",
    "system-0-name",
    "system-0-now",
    "system-1-name",
    "system-1-now",
    "system-2-name",
    "system-2-now",
    "system-3-name",
    "system-3-now",
];

/// Number of series of the observed system that the page shows.
const SYSTEM_SERIES: usize = 4;

/// Renders the page.
#[must_use]
pub fn live_html(page: &LivePage<'_>) -> String {
    let heat = html! {
        "A cell of the " (def("heat", "heat map")) " counts the requests that ended in one slice of time with a response \
         time in its band. Lines are p50, p95 and p99 of each slice, " (BANDS_RESOLUTION) " if a slice is longer than a second."
    };
    let rate = html! {
        (figure(
            "rate",
            PlotHeight::Normal,
            "Offered arrivals, started sessions (each with one or more requests) and completed requests per second; dashed \
             lines mark changes of the run.",
        ))
        (figure("errors", PlotHeight::Low, "Failed requests per second."))
    };
    let percentiles = figure(
        "percentiles",
        PlotHeight::Normal,
        "Response and service time of all requests so far; each step of the axis contains a tenth of the requests of the \
         previous step.",
    );
    let users = figure(
        "users",
        PlotHeight::Low,
        "Active users at the end of each second, or their maximum in each slice if a slice is longer.",
    );
    let glossary = html! { details { summary { "What the terms mean" } (definitions()) } };
    let sections = [
        Section { id: "rate", title: "Rate and errors", body: rate },
        Section {
            id: "times",
            title: "Response time over time",
            body: figure("heat", PlotHeight::Tall, heat),
        },
        Section { id: "distribution", title: "Distribution", body: percentiles },
        Section { id: "users", title: "Users", body: users },
        Section { id: "system", title: "System under test", body: system() },
        Section { id: "labels", title: "The busiest labels", body: labels() },
        Section { id: "glossary", title: "Definitions", body: glossary },
    ];
    Document {
        kind: Kind::Live,
        title: page.title,
        subtitle: page.requested,
        opening: opening(page),
        sections: &sections,
        model: &(),
    }
    .html()
}

fn opening(page: &LivePage<'_>) -> Markup {
    let lists = "Changes, thresholds and caveats";
    html! {
        div.live-bar {
            p.live-line {
                b #live-state role="status" { "connecting" }
                " " span #live-when {}
                " " span #live-connection role="status" {}
            }
            (controls(page))
            p.live-line.note #live-answer role="alert" {}
        }
        "\n"
        div.opening {
            section aria-labelledby="load-title" {
                h2 #load-title { "Requested and achieved" }
                (figures(&[
                    ("offered", "offered"),
                    ("started", "started"),
                    ("completed", "completed"),
                    ("failed", "failed"),
                    ("users", "active users"),
                    ("cov", "CoV of arrivals"),
                ]))
                h3 { (lists) }
                div.live-lists role="group" tabindex="0" aria-label=(lists) {
                    table.row-count { tbody #live-thresholds {} }
                    ul #live-caveats.caveats {}
                    ul #live-changes {}
                }
            }
            "\n"
            section aria-labelledby="key-title" {
                h2 #key-title { "Response time in ms" }
                (figures(&[
                    ("mean", "mean"), ("p50", "median"), ("p95", "p95"), ("p99", "p99"), ("max", "longest"),
                ]))
                p.note {
                    span.until-end { "When the run has ended, its report will be at" }
                    span.at-end { "The run has ended. Its report is at" }
                    br;
                    code { (printable(page.report)) }
                    "."
                }
            }
        }
    }
}

fn controls(page: &LivePage<'_>) -> Markup {
    html! {
        div.live-controls {
            button #pause type="button" { "Pause" }
            button #stop type="button" { "Stop …" }
            @if let Some(why) = page.fixed_rate {
                p.note { (printable(why)) }
            } @else {
                form #rate-form.live-rate {
                    label for="rate-factor" { "Rate ×" }
                    button #slower type="button" aria-label="slower by a fifth" { "−" }
                    input #rate-factor type="number" min="0.01" max="100" step="0.01" value="1" required;
                    button #faster type="button" aria-label="faster by a quarter" { "+" }
                    button #set-rate type="submit" { "Set" }
                    button #as-requested type="button" { "As requested" }
                }
            }
        }
        dialog #confirm-stop aria-labelledby="confirm-title" {
            p #confirm-title {
                "Stop the run? Users complete their current samples; all measurements are kept."
            }
            button #stop-now type="button" { "Stop the run" }
            " "
            button #stop-not type="button" { "Continue" }
        }
    }
}

/// A table with the current value of each figure and its value over the run so far.
fn figures(rows: &[(&str, &str)]) -> Markup {
    html! {
        table.live-figures {
            thead { tr { td {} th scope="col" { "now" } th scope="col" { "so far" } } }
            tbody {
                @for (id, name) in rows {
                    tr {
                        th scope="row" { (def(id, name)) }
                        td id={ (id) "-now" } { "–" }
                        td id={ (id) "-all" } { "–" }
                    }
                }
            }
        }
    }
}

/// Elements for the series of the observed system: for each series, a name, the last value and a small plot.
fn system() -> Markup {
    html! {
        p #system-note { "Not observed." }
        div.live-system {
            @for at in 0..SYSTEM_SERIES {
                figure #{ "system-" (at) } {
                    figcaption {
                        span id={ "system-" (at) "-name" } {}
                        " "
                        b id={ "system-" (at) "-now" } {}
                    }
                    svg viewBox="0 0 300 60" preserveAspectRatio="none" aria-hidden="true" {
                        path.marks d="" {}
                        path.line d="" {}
                    }
                }
            }
        }
        p.note {
            "The plots show the machine, the process with the most CPU time, the JVM with the most pauses and the resource that is \
             closest to its limit. Dashed lines are the latest marks, which are listed below. The report contains all series and marks."
        }
        ul #system-marks {}
    }
}

fn labels() -> Markup {
    let column = |name: &'static str| Column { name, term: "", sort: Sort::No };
    let columns = [
        Column { sort: Sort::Words, ..column("label") },
        column("completed"),
        column("last second"),
        column("failed %"),
        column("mean ms"),
        column("p50 ms"),
        column("p95 ms"),
        column("p99 ms"),
    ];
    let title = "The busiest labels";
    let table = html! {
        table.wide {
            caption.skip { (title) }
            (head(&columns))
            tbody #live-labels {}
        }
    };
    html! {
        p { "The labels with the most requests so far; the report contains all labels." }
        div.live-labels { (scrolling(title, table)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(fixed_rate: Option<&str>) -> String {
        live_html(&LivePage {
            title: "<shop>",
            requested: "poisson(1/s)",
            fixed_rate,
            report: "runs/<x>/report.html",
        })
    }

    #[test]
    fn every_value_of_the_server_has_an_element() {
        let html = page(None);
        for id in LIVE_TEXT_IDS {
            assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
        assert!(
            html.contains("data-page=\"live\" data-events=\"/events\"")
                && html.contains("connect-src 'self'")
        );
        assert!(html.contains("&lt;shop&gt;") && html.contains("runs/&lt;x&gt;/report.html"));
    }

    #[test]
    fn the_page_shows_why_a_rate_cannot_be_changed() {
        let html = page(Some("the users of the plan determine the rate"));
        assert!(
            html.contains("the users of the plan determine the rate") && !html.contains("id=\"rate-form\"")
        );
    }
}
