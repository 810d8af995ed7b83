//! The page of an experiment. It needs no script.

use busyhour_experiment::{ExperimentReport, ReportedResponse, TrialOutcome};
use maud::{Markup, html};

use super::experiment_plots::{distribution_plot, factor_plots};
use super::markup::scrolling;
use super::plain::plain_page;
use crate::experiment_more_tables::{causes_table, recovery_table, surface_tables};
use crate::experiment_tables::{
    ExperimentTable, cases_table, effects_table, state_lines, trials_table, value_text, with_unit,
};
use crate::terminal_text::printable;

const WIDTH: f64 = 720.0;
/// Width for the names of cases.
const NAMES: f64 = 260.0;
const ROW: f64 = 26.0;
const EDGE: f64 = 16.0;

/// Largest number of cases in a plot.
const CASES_MAX: usize = 100;

/// The page of an experiment. Links to the reports of trials are relative to the directory of the experiment, which begins with
/// `prefix`.
#[must_use]
pub fn experiment_html(report: &ExperimentReport, prefix: &str) -> String {
    let title = match report.title.as_str() {
        "" => "Experiment".to_owned(),
        title => printable(title),
    };
    let subtitle = html! { "Experiment with " (report.case_names.len()) " cases" };
    let sections = html! {
        section.first aria-label="Result" {
            p.headline { (printable(&report.sentence)) }
            @for line in state_lines(report) { p { (printable(&line)) } }
        }
        "\n"
        @for (at, response) in report.responses.iter().enumerate() {
            section aria-labelledby={ "response-" (at) } {
                h2 id={ "response-" (at) } { (printable(&response.name)) }
                @if at > 0 { p { (printable(&response.sentence)) } }
                (plot(report, response))
                @for plot in factor_plots(report, response) { (plot.figure()) }
                (table(&effects_table(response), |_| None))
                (table(&cases_table(report, response), |_| None))
                @for one in recovery_table(report, response).iter().chain(&surface_tables(report, response)) {
                    (table(one, |_| None))
                }
            }
            "\n"
        }
        @if let Some(plot) = distribution_plot(report) {
            section aria-labelledby="distributions" {
                h2 id="distributions" { "Distributions of response times" }
                (plot.figure())
            }
            "\n"
        }
        @if let Some(causes) = causes_table(report) {
            section aria-labelledby="causes" {
                h2 id="causes" { "Causes of slow requests" }
                (table(&causes, |_| None))
            }
            "\n"
        }
        section aria-labelledby="trials" {
            h2 id="trials" { "Trials" }
            (table(&trials_table(report), |row| link(report, prefix, row)))
        }
    };
    plain_page(&title, &subtitle, &sections)
}

/// The address of the report of a trial.
fn link(report: &ExperimentReport, prefix: &str, row: usize) -> Option<String> {
    let trial = report.trials.get(row).filter(|trial| trial.has_report)?;
    Some(format!("{prefix}{}/report.html", trial.dir))
}

/// A table. `link` returns the address for the first cell of a row.
pub(super) fn table(table: &ExperimentTable, link: impl Fn(usize) -> Option<String>) -> Markup {
    let class = |at: usize| (!table.columns[at].1).then_some("text");
    let shown = scrolling(
        &printable(&table.title),
        html! {
            table.wide {
                thead { tr { @for (at, (name, _)) in table.columns.iter().enumerate() {
                    th scope="col" class=[class(at)] { (printable(name)) }
                } } }
                tbody {
                    @for (number, row) in table.rows.iter().enumerate() {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at == 0 {
                                    th scope="row" {
                                        @if let Some(address) = link(number) { a href=(address) { (printable(cell)) } }
                                        @else { (printable(cell)) }
                                    }
                                } @else {
                                    td class=[class(at)] { (printable(cell)) }
                                }
                            }
                        }
                    }
                }
            }
        },
    );
    html! {
        h3 { (printable(&table.title)) }
        (shown)
        @if !table.note.is_empty() { p.sub { (printable(&table.note)) } }
    }
}

/// The values of all trials, with the mean and its interval, for each case.
fn plot(report: &ExperimentReport, response: &ReportedResponse) -> Markup {
    let cases = &response.analysis.cases;
    let ends = cases.iter().flat_map(|case| {
        let trials = trial_values(report, response, case.case);
        let interval = case.interval.map(|interval| [interval.low, interval.high]);
        trials.into_iter().chain(case.value).chain(interval.into_iter().flatten())
    });
    let (low, high) = ends
        .filter(|end| end.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    if low > high || cases.len() > CASES_MAX {
        return html! { p { "There is no plot: no trial has a value, or there are too many cases." } };
    }
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let x = |value: f64| NAMES + EDGE + (value - low) / span * (WIDTH - NAMES - 2.0 * EDGE);
    let at = |value: f64| format!("{value:.1}");
    let height = ROW * (cases.len() as f64 + 1.0);
    let scale = response.analysis.scale;
    html! {
        figure {
            svg viewBox={ "0 0 " (WIDTH) " " (at(height)) } width=(WIDTH) height=(at(height)) role="img"
                aria-label={ (printable(&with_unit(response))) " of each case; the numbers are in the table" }
            {
                @for (row, case) in cases.iter().enumerate() {
                    @let y = ROW * (row as f64 + 0.5);
                    @let name = report.case_names.get(case.case as usize - 1).map_or("", String::as_str);
                    text x=(at(NAMES)) y=(at(y + 4.0)) text-anchor="end" font-size="13" fill="currentColor" {
                        (crate::terminal_text::cut(&printable(name), 38))
                    }
                    @for value in trial_values(report, response, case.case) {
                        circle cx=(at(x(value))) cy=(at(y)) r="2.5" fill="none" stroke="currentColor" stroke-opacity="0.5" {}
                    }
                    @if let Some(interval) = case.interval {
                        line x1=(at(x(interval.low))) x2=(at(x(interval.high))) y1=(at(y)) y2=(at(y))
                            stroke="currentColor" stroke-width="2" {}
                    }
                    @if let Some(value) = case.value {
                        circle cx=(at(x(value))) cy=(at(y)) r="4.5" fill="currentColor" {}
                    }
                }
                text x=(at(NAMES + EDGE)) y=(at(height - 6.0)) font-size="12" fill="currentColor" {
                    (value_text(Some(low), scale))
                }
                text x=(at(WIDTH - EDGE)) y=(at(height - 6.0)) text-anchor="end" font-size="12" fill="currentColor" {
                    (value_text(Some(high), scale))
                }
            }
            figcaption {
                (printable(&with_unit(response))) ": trials (rings), mean of each case (dots) and its 95 % interval (bars)."
            }
        }
    }
}

fn trial_values(report: &ExperimentReport, response: &ReportedResponse, case: u32) -> Vec<f64> {
    let used = report.trials.iter().filter(|trial| {
        let id = trial.entry.trial;
        id.case == case && !id.is_warm_up() && trial.entry.outcome == TrialOutcome::Finished
    });
    used.filter_map(|trial| trial.values.get(&response.response).copied().flatten()).collect()
}
