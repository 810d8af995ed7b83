//! The plots of a run: their elements, and captions that describe them.

use std::fmt::Write as _;

use busyhour_analysis::{DistributionPoint, HeatMap, Summary, reported_stalls};
use maud::{Markup, html};

use super::closed_load;
use super::markup::{PlotHeight, Section, def, figure, quantity};
use super::steps::Steps;
use crate::numbers::{counted, duration, ms, rate as per_second, thousands};

/// The largest and the smallest value, each with its index.
struct Extremes {
    least: (usize, f64),
    most: (usize, f64),
}

impl Extremes {
    fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Extremes> {
        let known = values.into_iter().enumerate().filter_map(|(at, value)| Some((at, value?)));
        known.fold(None, |found: Option<Extremes>, here| {
            Some(match found {
                None => Extremes { least: here, most: here },
                Some(found) => Extremes {
                    least: if here.1 < found.least.1 { here } else { found.least },
                    most: if here.1 > found.most.1 { here } else { found.most },
                },
            })
        })
    }
}

/// Notes that apply to all plots over time: the length of a slice, an excluded second, an excluded part.
fn about_slices(summary: &Summary, steps: &Steps, of_several: &str) -> String {
    let mut words = String::new();
    if steps.step_s > 1 {
        words += &format!(" Each point is {of_several} {} seconds.", steps.step_s);
    }
    words + &about_ends(summary, steps)
}

/// The same notes without the length of a slice.
fn about_ends(summary: &Summary, steps: &Steps) -> String {
    let mut words = String::new();
    if steps.is_cut {
        words += " The last, incomplete second is not drawn.";
    }
    if summary.window.is_some() {
        words += " Shaded: excluded from the tables.";
    }
    if !summary.run.events.is_empty() {
        words += " Dashed vertical lines mark changes of the load.";
    }
    if reported_stalls(&summary.run.generator.stalls).next().is_some() {
        words += " Dotted vertical lines mark stalls of the generator.";
    }
    if !summary.incidents.is_empty() {
        words += " Incidents are shaded red.";
    }
    let evidence = summary.explanation.as_ref().and_then(|explanation| explanation.main());
    if let Some(evidence) = evidence.filter(|evidence| !evidence.windows_s.is_empty()) {
        let _ = write!(words, " Times of {} are shaded, too.", evidence.cause.id());
    }
    words
}

fn nothing() -> Markup {
    html! { p { "No request ended." } }
}

/// The plots of requests and errors per second.
fn rate_body(summary: &Summary, steps: &Steps) -> Markup {
    let Some(extremes) = Extremes::of(steps.ended.iter().copied().map(Some)) else { return nothing() };
    let Extremes { least, most } = extremes;
    let (low, high) = (per_second(least.1), per_second(most.1));
    let body = figure(
        "rate",
        PlotHeight::Normal,
        html! {
            "Completed per second: "
            @if low == high {
                (low) " in each " @if steps.step_s == 1 { "second" } @else { "point" }
            } @else {
                "from " (low) " (at " (duration(steps.begin_s(least.0))) ") to " (high) " (at "
                (duration(steps.begin_s(most.0))) ")"
            }
            "; " (quantity("total.rate_per_s", per_second(summary.total.rate_per_s))) " over the "
            (quantity("span_s", duration(summary.span_s)))
            @if summary.window.is_some() { " of the measured part." } @else { " from the first start to the last end." }
            @if steps.started.is_empty() { " The record does not contain starts per second." }
            (about_slices(summary, steps, "the mean of"))
        },
    );
    if summary.total.errors == 0 {
        return html! { (body) p.note { "No request failed." } };
    }
    let first = steps.errors.iter().position(|errors| *errors > 0.0);
    let words = match (first, Extremes::of(steps.errors.iter().copied().map(Some))) {
        (Some(first), Some(Extremes { most, .. })) => format!(
            "{} failed, the first at {}; at most {} per second, at {}.",
            counted(summary.total.errors, "request"),
            duration(steps.begin_s(first)),
            per_second(most.1),
            duration(steps.begin_s(most.0))
        ),
        _ => format!("{} failed, in a second that is not shown.", counted(summary.total.errors, "request")),
    };
    html! {
        (body)
        h3 { (def("failed", "Errors per second")) }
        (figure("errors", PlotHeight::Low, words))
    }
}

/// The section on rates.
pub(super) fn rate(summary: &Summary, steps: Option<&Steps>) -> Section {
    let body = steps.map_or_else(nothing, |steps| rate_body(summary, steps));
    Section { id: "rate", title: "Rate and errors", body }
}

/// The section on response times over time.
pub(super) fn times(summary: &Summary, steps: Option<&Steps>) -> Section {
    let body = steps.map_or_else(nothing, |steps| times_body(summary, steps));
    Section { id: "times", title: "Response time over time", body }
}

/// The ranges of median and p95 over the slices; `begin_s` returns the start of a slice.
fn describe_ranges(
    p50: impl IntoIterator<Item = Option<f64>>,
    p95: impl IntoIterator<Item = Option<f64>>,
    begin_s: impl Fn(usize) -> f64,
) -> String {
    match (Extremes::of(p50), Extremes::of(p95)) {
        (Some(p50), Some(p95)) => format!(
            "the median was between {} and {} ms, p95 between {} ms (at {}) and {} ms (at {}).",
            ms(p50.least.1),
            ms(p50.most.1),
            ms(p95.least.1),
            duration(begin_s(p95.least.0)),
            ms(p95.most.1),
            duration(begin_s(p95.most.0))
        ),
        _ => "no request ended.".to_owned(),
    }
}

fn times_body(summary: &Summary, steps: &Steps) -> Markup {
    let of_steps =
        || describe_ranges(steps.p50.iter().copied(), steps.p95.iter().copied(), |at| steps.begin_s(at));
    let Some(heat) = &summary.heat else {
        // The median of a slice of several seconds is the worst of its seconds' medians; the text states this.
        let each = if steps.step_s > 1 { "In the worst second of each point" } else { "Second by second" };
        return figure(
            "times",
            PlotHeight::Normal,
            format!(
                "{each}, {} The record does not contain single response times over time.{}",
                of_steps(),
                about_slices(summary, steps, "the worst of")
            ),
        );
    };
    let (length, slice, lines, of_each) = if heat.step_s > 1.0 {
        // A slice that contains only the incomplete second is skipped.
        let end_s = steps.begin_s(steps.ended.len());
        let begin_s = |at: usize| heat.from_s + at as f64 * heat.step_s;
        let slices = |share: f64| {
            let is_said = move |at: &usize| begin_s(*at) < end_s;
            (0..heat.columns.len()).filter(is_said).map(move |at| heat.quantile_ms(at, share))
        };
        (
            slice_length(heat),
            "slice",
            format!("lines are p50, p95 and p99 of each slice, {BANDS_RESOLUTION}"),
            describe_ranges(slices(0.5), slices(0.95), begin_s),
        )
    } else {
        ("a second".to_owned(), "second", "lines are its p50, p95 and p99".to_owned(), of_steps())
    };
    figure(
        "heat",
        PlotHeight::Tall,
        html! {
            "A cell of the " (def("heat", "heat map")) " counts the requests that ended within " (length)
            " with a response time in its band; " (lines) ". From " (slice) " to " (slice) " " (of_each)
            (about_ends(summary, steps))
        },
    )
}

/// The resolution of the percentiles of long slices.
pub(super) const BANDS_RESOLUTION: &str = "with a resolution of 15 %";

/// Formats the length of a slice: `2 seconds`, `4 min 16 s`.
fn slice_length(heat: &HeatMap) -> String {
    if heat.step_s < 60.0 { format!("{} seconds", heat.step_s) } else { duration(heat.step_s) }
}

/// The section on the quantile functions of both clocks.
pub(super) fn distribution(summary: &Summary) -> Section {
    let points = &summary.distribution;
    let body = if points.len() < 2 {
        html! { p { "There are too few requests for a distribution." } }
    } else {
        let times = &summary.total.response;
        let words = match points
            .iter()
            .any(|DistributionPoint { response_ms, service_ms, .. }| response_ms != service_ms)
        {
            true => {
                "Response time counts from the intended start, service time from the actual start. The difference is waiting \
                 before the request was sent. "
            }
            false if summary.run.only_actual_starts => "The record contains only the actual start. ",
            false => "All requests started at their intended time, so response and service time are equal. ",
        };
        let caption = html! {
            "Half of the requests took at most " (quantity("total.response.p50", ms(times.p50)))
            " ms, the longest " (quantity("total.response.max", ms(times.max))) " ms"
            @if summary.total.samples >= 100 {
                ", 1 % took " (quantity("total.response.p99", ms(times.p99))) " ms or more"
            }
            ". " (words) "Each step of the axis contains a tenth of the requests of the previous step."
        };
        figure("percentiles", PlotHeight::Normal, caption)
    };
    Section { id: "distribution", title: "Distribution", body }
}

/// The section on active users over time.
pub(super) fn users(summary: &Summary, steps: Option<&Steps>) -> Section {
    let known = steps.and_then(|steps| Some((steps, Extremes::of(steps.users.iter().copied())?)));
    let body = match known.filter(|(_, extremes)| extremes.most.1 > 0.0) {
        Some((steps, Extremes { most, .. })) => figure(
            "users",
            PlotHeight::Low,
            html! {
                (def("users", "Active users")) " at the end of each second, at most "
                (thousands(most.1 as u64)) ", for the first time at " (duration(steps.begin_s(most.0)))
                ". At any time at most " (quantity("users_max", thousands(summary.users_max.into())))
                " were active."
                @if summary.run.only_actual_starts {
                    " A result file contains the number only with each sample: the last sample of a second counts, and \
                     in seconds without one at least the requests in flight."
                }
                (about_slices(summary, steps, "the maximum of"))
            },
        ),
        None => html! { p { "Not recorded." } },
    };
    let body = html! { (body) (closed_load::note(summary)) };
    Section { id: "users", title: "Users", body }
}
