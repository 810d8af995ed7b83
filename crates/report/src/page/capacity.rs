//! The page of a capacity model: the capacity with its interval, a comparison of the model with the measurements, and
//! the headroom.

use busyhour_queueing::fit::{CapacityFit, FindingSeverity, FittedValue};
use maud::{Markup, html};
use serde::Serialize;

use super::bundle::MODEL_VERSION;
use super::document::{Document, Kind};
use super::markup::{
    Column, PlotHeight, Section, Sort, capital, caveat_list, figure, head, quantity, scrolling, wide_table,
};
use crate::capacity_words::{
    OTHER_MODELS_NOTE, headroom, model_words, off, parameter, per_s, time, users, with_interval,
};
use crate::numbers::counted;
use crate::terminal_text::printable;

/// Renders the page of a capacity model; `title` is the name of the measured system.
#[must_use]
pub fn capacity_html(fit: &CapacityFit, title: &str) -> String {
    let sections = [
        Section { id: "throughput", title: "Throughput", body: throughput(fit) },
        Section { id: "response", title: "Response time", body: response(fit) },
        Section { id: "headroom", title: "Headroom", body: headroom_list(fit) },
        Section { id: "measurements", title: "Measurements", body: measurements(fit) },
        Section { id: "model-parameters", title: "Model", body: model(fit) },
        Section { id: "method", title: "How to read this", body: method(fit) },
    ];
    Document {
        kind: Kind::Capacity,
        title: &format!("{title}: capacity"),
        subtitle: &subtitle(fit),
        opening: opening(fit),
        sections: &sections,
        model: &CapacityPageModel::of(fit),
    }
    .html()
}

fn subtitle(fit: &CapacityFit) -> String {
    let fitted = fit.points.iter().filter(|point| point.checked.left_out.is_none()).count();
    let excluded = fit.points.len() - fitted;
    let mut subtitle =
        format!("{} · think time {} ms", counted(fitted as u64, "measurement"), time(fit.think_s));
    if excluded > 0 {
        subtitle += &format!(" · {excluded} excluded");
    }
    subtitle
}

/// The result in a sentence, and its caveats.
fn opening(fit: &CapacityFit) -> Markup {
    let of = |is_contradiction: bool| {
        let all = fit.findings.iter();
        all.filter(move |finding| (finding.weight == FindingSeverity::Contradiction) == is_contradiction)
            .map(|finding| (finding.message.as_str(), Some(finding.advice.as_str())))
    };
    html! {
        section aria-label="Result" { p.headline { (headline(fit)) "." } }
        @if of(true).next().is_some() {
            (caveat_list("Contradictory measurements", "contradictions-title", of(true)))
            "\n"
        }
        @if of(false).next().is_some() {
            (caveat_list("Before you rely on this", "caveats-title", of(false)))
            "\n"
        }
    }
}

/// The result in a sentence, the same one as [`capacity_words::headline`](crate::capacity_words::headline) returns.
fn headline(fit: &CapacityFit) -> Markup {
    let capacity = &fit.headroom.capacity_per_s;
    html! {
        @if let Some(capacity) = capacity {
            "Sustains about " (capacity_per_s(capacity, " requests per second"))
        } @else {
            "The model has no limit"
        }
        @if let Some(knee) = &fit.headroom.knee_users {
            @let knee = quantity("headroom.knee_users.value", users(knee.value.round()));
            @if fit.bounds.is_some() {
                "; with more than " (knee) " users, requests wait for each other"
            } @else {
                "; the throughput is largest with " (knee) " users"
            }
        }
    }
}

/// The capacity in the unit `unit`, with its interval.
fn capacity_per_s(capacity: &FittedValue, unit: &str) -> Markup {
    let end = |name: &str, value: f64| quantity(&format!("headroom.capacity_per_s.{name}"), per_s(value));
    html! {
        (end("value", capacity.value)) (unit)
        @match (capacity.low, capacity.high) {
            (Some(low), Some(high)) => { " (" (end("low", low)) " to " (end("high", high)) ")" }
            (Some(low), None) => { " (" (end("low", low)) " or more)" }
            (None, _) => {}
        }
    }
}

fn throughput(fit: &CapacityFit) -> Markup {
    let bound = html! {
        @if let (Some(bounds), Some(capacity)) = (fit.bounds, &fit.headroom.capacity_per_s) {
            " Dashed: the bounds min(N/(R₀ + Z), X_max) with R₀ = " (time(bounds.response_min_s)) " ms and X_max = "
            (capacity_per_s(capacity, "/s")) ", which intersect at "
            (quantity("bounds.knee_users", users(bounds.knee_users.round()))) " users."
        }
    };
    let band = if has_band(fit) {
        " The tinted band is the 95 % interval of the throughput at each number of users; it approaches the interval of X_max."
    } else {
        ""
    };
    figure(
        "throughput",
        PlotHeight::Normal,
        html! { "Requests per second by number of users: curve of the model and measurements." (band) (bound) },
    )
}

fn response(fit: &CapacityFit) -> Markup {
    let bound = match fit.bounds {
        Some(_) => " Dashed: lower bound max(R₀, N/X_max − Z).",
        None => " By Little's law from the throughput.",
    };
    figure("response", PlotHeight::Normal, format!("Mean response time by number of users.{bound}"))
}

fn has_band(fit: &CapacityFit) -> bool {
    fit.curve.iter().any(|point| point.throughput_per_s.low.is_some())
}

fn headroom_list(fit: &CapacityFit) -> Markup {
    html! { ul { @for line in headroom(fit) { li { (printable(&line)) } } } }
}

fn measurements(fit: &CapacityFit) -> Markup {
    let column = |name: &'static str, sort: Sort| Column { name, term: "", sort };
    let mut columns = vec![
        column("measurement", Sort::Text),
        column("users", Sort::Number),
        column("X per second", Sort::Number),
        column("model", Sort::Number),
        column("off", Sort::No),
        column("R ms", Sort::Number),
        column("model R ms", Sort::Number),
        column("off", Sort::No),
    ];
    // A column without any value is omitted.
    let has_failed = fit.points.iter().any(|compared| compared.checked.point.error_share.is_some());
    let has_excluded = fit.points.iter().any(|compared| compared.checked.left_out.is_some());
    columns.extend(has_failed.then(|| column("failed %", Sort::Number)));
    columns.extend(has_excluded.then(|| column("excluded", Sort::Words)));
    let rows = html! {
        @for (at, compared) in fit.points.iter().enumerate() {
            @let point = &compared.checked.point;
            @let response = compared.model_response_s;
            tr {
                th scope="row" { (printable(&point.name)) }
                td { (users(compared.checked.users)) }
                td { (per_s(point.throughput_per_s)) }
                td data-quantity={ "points." (at) ".model_throughput_per_s" } {
                    (per_s(compared.model_throughput_per_s))
                }
                td { (off(compared.model_throughput_per_s, point.throughput_per_s)) }
                td { (point.response_s.map_or_else(dash, time)) }
                td { (time(response)) }
                td { (point.response_s.map_or_else(dash, |measured| off(response, measured))) }
                @if has_failed {
                    td { (point.error_share.map_or_else(dash, |share| format!("{:.2}", share * 100.0))) }
                }
                @if has_excluded {
                    td.text { (compared.checked.left_out.map_or("", |reason| reason.label())) }
                }
            }
        }
    };
    let title = "Measurements and model";
    scrolling(title, wide_table(title, &columns, &rows))
}

fn dash() -> String {
    "–".to_owned()
}

fn model(fit: &CapacityFit) -> Markup {
    let column = |name: &'static str, sort: Sort| Column { name, term: "", sort };
    let columns =
        [column("parameter", Sort::Words), column("value", Sort::No), column("95 % interval", Sort::No)];
    let mut rows: Vec<(String, String, Option<(String, String)>)> = Vec::new();
    let includes_others = fit.parameters.iter().any(|of| of.includes_other_models);
    for of in &fit.parameters {
        let ends = of.fitted.low.zip(of.fitted.high);
        let shown = |(low, high)| (parameter(of, low), parameter(of, high));
        rows.push((of.name.clone(), parameter(of, of.fitted.value), ends.map(shown)));
        if of.bootstrap.is_some() {
            let name = format!("{}, by bootstrap over runs", of.name);
            rows.push((name, parameter(of, of.fitted.value), of.bootstrap.map(shown)));
        }
    }
    let title = "Parameters of the model";
    let table = html! {
        table {
            caption.skip { (title) }
            (head(&columns))
            tbody {
                @for (name, value, ends) in &rows {
                    tr {
                        th scope="row" { (printable(name)) }
                        td { (value) }
                        td.soft {
                            @if let Some((low, high)) = ends { (low) " to " (high) } @else { "unknown" }
                        }
                    }
                }
            }
        }
    };
    html! {
        p { (printable(&capital(&model_words(fit)))) "." }
        (scrolling(title, table))
        @if includes_others { p.note { (OTHER_MODELS_NOTE) } }
        @if let (Some(usl), Some(_)) = (&fit.usl, &fit.bounds) {
            p.note {
                "The Universal Scalability Law for the same throughputs: σ = " (format!("{:.4}", usl.curve.sigma))
                ", κ = " (format!("{:.3e}", usl.curve.kappa)) ", λ = " (per_s(usl.curve.lambda_per_s)) "/s, "
                @if let Some(peak) = &usl.peak_users {
                    "with a peak at " (with_interval(peak, |value| users(value.round()))) " users."
                } @else {
                    "without a peak."
                }
            }
        }
    }
}

fn method(fit: &CapacityFit) -> Markup {
    let entry = |term: &str, words: &str| html! { dt { (term) } dd { (words) } };
    html! {
        dl.pairs {
            (entry(
                "N, X, R, Z",
                "Users, requests per second, mean response time, mean think time: N = X(R + Z) holds for every system.",
            ))
            (entry(
                "capacity",
                "X_max = 1/D_max: the throughput at which the busiest resource is always busy. No number of users exceeds it.",
            ))
            (entry(
                "knee N*",
                "X_max (R₀ + Z): the number of users that keeps the bottleneck busy without queueing. With fewer users there \
                 is little waiting; with more, each further user mainly increases the waiting time.",
            ))
            (entry(
                "interval",
                "The intervals of the parameters and of the curve assume that the model is correct. Compare the measurements \
                 with the curve to judge that.",
            ))
            @if fit.bounds.is_none() {
                (entry(
                    "σ, κ",
                    "σ is the serial share of the work, κ the cost of coordination between pairs of users. If κ is above 0, \
                     throughput has a peak and decreases beyond it.",
                ))
            }
        }
    }
}

/// The data that the script draws; `ui/src/model.ts` declares the same structure.
#[derive(Serialize)]
struct CapacityPageModel {
    version: u32,
    curve: CurveColumns,
    points: Vec<PointModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knee_users: Option<f64>,
}

/// The points of the curve by column.
#[derive(Serialize)]
struct CurveColumns {
    users: Vec<f64>,
    throughput: BandColumns,
    /// Response time in ms.
    response: BandColumns,
}

#[derive(Serialize)]
struct BandColumns {
    value: Vec<f64>,
    /// The ends of the interval; omitted if they are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Vec<f64>>,
    /// The asymptotic bound; omitted for the Universal Scalability Law, which has no service demands.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<Vec<f64>>,
}

#[derive(Serialize)]
struct PointModel {
    users: f64,
    throughput: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_ms: Option<f64>,
    fitted: bool,
}

impl BandColumns {
    fn of(values: &[&FittedValue], bound: Option<Vec<f64>>, factor: f64) -> BandColumns {
        let ends = |of: fn(&FittedValue) -> Option<f64>| -> Option<Vec<f64>> {
            values.iter().map(|value| of(value).map(|end| end * factor)).collect()
        };
        BandColumns {
            value: values.iter().map(|value| value.value * factor).collect(),
            low: ends(|value| value.low),
            high: ends(|value| value.high),
            bound: bound.map(|bound| bound.into_iter().map(|value| value * factor).collect()),
        }
    }
}

impl CapacityPageModel {
    fn of(fit: &CapacityFit) -> CapacityPageModel {
        let throughput: Vec<&FittedValue> = fit.curve.iter().map(|point| &point.throughput_per_s).collect();
        let response: Vec<&FittedValue> = fit.curve.iter().map(|point| &point.response_s).collect();
        let x_bound = fit.curve.iter().map(|point| point.throughput_bound_per_s).collect();
        let r_bound = fit.curve.iter().map(|point| point.response_bound_s).collect();
        CapacityPageModel {
            version: MODEL_VERSION,
            curve: CurveColumns {
                users: fit.curve.iter().map(|point| point.users).collect(),
                throughput: BandColumns::of(&throughput, x_bound, 1.0),
                response: BandColumns::of(&response, r_bound, 1e3),
            },
            points: fit
                .points
                .iter()
                .map(|compared| PointModel {
                    users: compared.checked.users,
                    throughput: compared.checked.point.throughput_per_s,
                    response_ms: compared.checked.point.response_s.map(|seconds| seconds * 1e3),
                    fitted: compared.checked.left_out.is_none(),
                })
                .collect(),
            knee_users: fit.headroom.knee_users.map(|knee| knee.value),
        }
    }
}
