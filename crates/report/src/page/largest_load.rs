//! The page of a search for the largest load. It needs no script.

use busyhour_search::{LargestLoadReport, LoadKind, TrialOutcome};
use maud::{Markup, html};

use super::experiment::table;
use super::plain::plain_page;
use crate::experiment_tables::ExperimentTable;
use crate::largest_load_words::{detail_lines, largest_load_sentence, load_text, search_trials_table};
use crate::terminal_text::printable;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 56.0;
const EDGE: f64 = 20.0;
const BOTTOM: f64 = 40.0;

/// The width of a label below the plot.
const LABEL_WIDTH: f64 = 60.0;

/// Rings of trials at one load are moved apart by this distance.
const SHIFT: f64 = 5.0;

/// The page of a search. Links to the reports of trials are relative to the directory of the search, which begins with `prefix`.
#[must_use]
pub fn largest_load_html(report: &LargestLoadReport, prefix: &str) -> String {
    let title = format!("Largest load: {}", printable(&report.target));
    let unit = match report.kind {
        LoadKind::Users => "users",
        LoadKind::Rate => "arrivals per second",
    };
    let thresholds = report.thresholds.join("; ");
    let link =
        |row: usize| report.trials.get(row).map(|record| format!("{prefix}{}/report.html", record.dir));
    let subtitle = html! { "Load in " (unit) ", with the thresholds " (printable(&thresholds)) };
    let sections = html! {
        section.first aria-label="Result" {
            p.headline { (printable(&largest_load_sentence(report))) }
            @for line in detail_lines(report) { p { (printable(&line)) } }
        }
        "\n"
        section aria-labelledby="curve" {
            h2 id="curve" { "Pass curve" }
            (plot(report))
        }
        "\n"
        section aria-labelledby="trials" {
            h2 id="trials" { "Trials" }
            (table(&ExperimentTable { title: "In the order of execution".to_owned(), ..search_trials_table(report) }, link))
        }
    };
    plain_page(&title, &subtitle, &sections)
}

/// The outcomes of trials without a preceding overload, by load, and the pass curve.
fn plot(report: &LargestLoadReport) -> Markup {
    let (Some(first), Some(last)) = (report.pass_curve.first(), report.pass_curve.last()) else {
        return html! { p { "There is no curve: it needs trials that passed and trials that failed." } };
    };
    let (low, high) = (first.load.ln(), last.load.ln());
    let x = |load: f64| LEFT + (load.ln() - low) / (high - low).max(1e-9) * (WIDTH - LEFT - EDGE);
    let y = |share: f64| EDGE + (1.0 - share) * (HEIGHT - EDGE - BOTTOM);
    let at = |value: f64| format!("{value:.1}");
    let curve: Vec<String> = report
        .pass_curve
        .iter()
        .map(|point| format!("{:.1},{:.1}", x(point.load), y(point.pass_probability)))
        .collect();
    let half = report.search.as_ref().and_then(|search| search.half_pass.median);
    // The labels of the ends come first: that of the half-pass load must not overlap them.
    let is_free =
        |load: &f64| x(*load) - x(first.load) > LABEL_WIDTH && x(last.load) - x(*load) > 1.5 * LABEL_WIDTH;
    let half = half.filter(is_free).map(|load| (load, "middle"));
    let labels = [Some((first.load, "middle")), half, Some((last.load, "end"))].into_iter().flatten();
    let interval = shown_interval(report, first.load, last.load);
    html! {
        figure {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) role="img"
                aria-label="Outcomes of trials over the load, and the pass curve; the numbers are in the table"
            {
                @for share in [0.0, 0.5, 0.95] {
                    line x1=(at(LEFT)) x2=(at(WIDTH - EDGE)) y1=(at(y(share))) y2=(at(y(share)))
                        stroke="currentColor" stroke-opacity="0.25" {}
                    text x=(at(LEFT - 6.0)) y=(at(y(share) + 4.0)) text-anchor="end" font-size="12" fill="currentColor" {
                        (format!("{:.0} %", 100.0 * share))
                    }
                }
                @if let Some((low, high)) = interval {
                    rect x=(at(x(low))) width=(at(x(high) - x(low))) y=(at(y(1.0))) height=(at(y(0.0) - y(1.0)))
                        fill="currentColor" fill-opacity="0.1" {}
                }
                polyline points=(curve.join(" ")) fill="none" stroke="currentColor" stroke-width="2" {}
                @for (load, share, shift) in outcomes(report) {
                    circle cx=(at(x(load))) cy=(at(y(share) + shift)) r="4" fill="none" stroke="currentColor"
                        stroke-opacity="0.7" {}
                }
                @for (load, anchor) in labels {
                    text x=(at(x(load))) y=(at(HEIGHT - 8.0)) text-anchor=(anchor) font-size="12" fill="currentColor" {
                        (load_text(report.kind, load))
                    }
                }
            }
            figcaption {
                "Trials that passed (rings at 100 %) and failed (rings at 0 %), and the probability that a trial of full \
                 length passes. The load is on a logarithmic scale. The shaded part is the interval of the largest load. Void trials and trials after an overload are left out."
            }
        }
    }
}

/// The part of the interval of the largest load that is within the plot.
fn shown_interval(report: &LargestLoadReport, first: f64, last: f64) -> Option<(f64, f64)> {
    let interval = report.search.as_ref()?.interval;
    let (low, high) = interval.low.zip(interval.high)?;
    Some((low.clamp(first, last), high.clamp(first, last)))
}

/// The load of each outcome, its share of passes, and its shift in the plot.
fn outcomes(report: &LargestLoadReport) -> Vec<(f64, f64, f64)> {
    let mut shown: Vec<(f64, f64, f64)> = Vec::new();
    for record in report.trials.iter().filter(|record| record.overload.is_none()) {
        let share = match record.outcome {
            TrialOutcome::Passed => 1.0,
            TrialOutcome::Failed { .. } => 0.0,
            TrialOutcome::Void(_) => continue,
        };
        let same = shown.iter().filter(|(load, of, _)| *load == record.load && *of == share).count();
        let inwards = if share > 0.5 { 1.0 } else { -1.0 };
        shown.push((record.load, share, inwards * SHIFT * same as f64));
    }
    shown
}
