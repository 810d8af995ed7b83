//! The page of a capacity model: what a system can do, how well that is known, and what is left.

use std::fmt::Write as _;

use busyhour_queueing::fit::{CapacityFit, FittedValue, ReportedFinding, Weight};
use serde::Serialize;

use super::document::{Document, Kind};
use super::markup::{Column, Section, Sort, capital, escape, figure, head, scrolling};
use super::model::MODEL_VERSION;
use crate::capacity_words::{headline, headroom, off, parameter, per_s, time, users, with_interval};
use crate::numbers::counted;

/// The page of a capacity model; `title` is what was measured.
#[must_use]
pub fn capacity_html(fit: &CapacityFit, title: &str) -> String {
    let sections = [
        Section { id: "throughput", title: "Throughput", body: throughput(fit) },
        Section { id: "response", title: "Response time", body: response(fit) },
        Section { id: "headroom", title: "Headroom", body: left(fit) },
        Section { id: "measurements", title: "Measurements", body: measurements(fit) },
        Section { id: "model-parameters", title: "Model", body: model(fit) },
        Section { id: "method", title: "How to read this", body: method(fit) },
    ];
    Document {
        kind: Kind::Capacity,
        title: &format!("{title}: capacity"),
        subtitle: &subtitle(fit),
        opening: &opening(fit),
        sections: &sections,
        model: &CapacityPageModel::of(fit),
    }
    .html()
}

fn subtitle(fit: &CapacityFit) -> String {
    let fitted = fit.points.iter().filter(|point| point.checked.left_out.is_none()).count();
    let left_out = fit.points.len() - fitted;
    let mut words =
        format!("{} · think time {} ms", counted(fitted as u64, "measurement"), time(fit.think_s));
    if left_out > 0 {
        let _ = write!(words, " · {left_out} left out");
    }
    words
}

/// The result in a sentence, and its caveats.
fn opening(fit: &CapacityFit) -> String {
    let mut out = format!(
        "<section aria-label=\"Result\"><p class=\"headline\">{}</p></section>",
        escape(&capital(&headline(fit)))
    );
    let told = |findings: Vec<&ReportedFinding>, title: &str, id: &str| {
        let mut out =
            format!("<section class=\"caveats\" aria-labelledby=\"{id}\"><h2 id=\"{id}\">{title}</h2><ul>");
        for told in findings {
            let _ = write!(
                out,
                "<li>{}.<span>{}.</span></li>",
                escape(&capital(&told.message)),
                escape(&capital(&told.advice))
            );
        }
        out + "</ul></section>\n"
    };
    let of = |wanted: &dyn Fn(Weight) -> bool| -> Vec<&ReportedFinding> {
        fit.findings.iter().filter(|told| wanted(told.weight)).collect()
    };
    let contradictions = of(&|weight| weight == Weight::Contradiction);
    if !contradictions.is_empty() {
        out += &told(
            contradictions,
            "Contradictions to laws that hold for every system",
            "contradictions-title",
        );
    }
    let doubts = of(&|weight| weight != Weight::Contradiction);
    if !doubts.is_empty() {
        out += &told(doubts, "Before you rely on this", "caveats-title");
    }
    out
}

fn throughput(fit: &CapacityFit) -> String {
    let bound = match (fit.bounds, &fit.headroom.capacity_per_s) {
        (Some(bounds), Some(capacity)) => format!(
            " Dashed: the bounds min(N/(R₀ + Z), X_max) with R₀ = {} ms and X_max = {}/s, which intersect at {} users.",
            time(bounds.response_min_s),
            with_interval(capacity, per_s),
            users(bounds.knee_users.round())
        ),
        _ => String::new(),
    };
    let band = if has_band(fit) { " The tinted band is the curve's 95 % interval." } else { "" };
    figure(
        "throughput",
        "",
        &format!("Requests per second by number of users: curve of the model and measurements.{band}{bound}"),
    )
}

fn response(fit: &CapacityFit) -> String {
    let bound = match fit.bounds {
        Some(_) => " Dashed: lower bound max(R₀, N/X_max − Z).",
        None => " By Little's law from the throughput.",
    };
    figure("response", "", &format!("Mean response time by number of users.{bound}"))
}

fn has_band(fit: &CapacityFit) -> bool {
    fit.curve.iter().any(|point| point.throughput_per_s.low.is_some())
}

fn left(fit: &CapacityFit) -> String {
    let mut out = String::from("<ul>");
    for line in headroom(fit) {
        let _ = write!(out, "<li>{}</li>", escape(&line));
    }
    out + "</ul>"
}

fn measurements(fit: &CapacityFit) -> String {
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
    // Columns of which nothing is known are left away.
    let has_failed = fit.points.iter().any(|compared| compared.checked.point.error_share.is_some());
    let has_left_out = fit.points.iter().any(|compared| compared.checked.left_out.is_some());
    columns.extend(has_failed.then(|| column("failed %", Sort::Number)));
    columns.extend(has_left_out.then(|| column("excluded", Sort::Words)));
    let mut table = format!(
        "<table class=\"wide sortable\"><caption class=\"skip\">Measurements and model</caption>{}<tbody>",
        head(&columns)
    );
    for compared in &fit.points {
        let point = &compared.checked.point;
        let response = match point.response_s {
            Some(measured) => {
                [time(measured), time(compared.model_response_s), off(compared.model_response_s, measured)]
            }
            None => ["–".to_owned(), time(compared.model_response_s), "–".to_owned()],
        };
        let _ = write!(
            table,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
            escape(&point.name),
            users(compared.checked.users),
            per_s(point.throughput_per_s),
            per_s(compared.model_throughput_per_s),
            off(compared.model_throughput_per_s, point.throughput_per_s),
            response[0],
            response[1],
            response[2],
        );
        if has_failed {
            let failed =
                point.error_share.map_or_else(|| "–".to_owned(), |share| format!("{:.2}", share * 100.0));
            let _ = write!(table, "<td>{failed}</td>");
        }
        if has_left_out {
            let why = compared.checked.left_out.map_or("", |why| why.words());
            let _ = write!(table, "<td class=\"text\">{why}</td>");
        }
        table.push_str("</tr>");
    }
    table.push_str("</tbody></table>");
    scrolling("Measurements and model", &table)
}

fn model(fit: &CapacityFit) -> String {
    let column = |name: &'static str, sort: Sort| Column { name, term: "", sort };
    let columns =
        [column("parameter", Sort::Words), column("value", Sort::No), column("95 % interval", Sort::No)];
    let mut table =
        format!("<table><caption class=\"skip\">Parameters of the model</caption>{}<tbody>", head(&columns));
    let mut row = |name: &str, value: String, ends: Option<(String, String)>| {
        let ends = ends.map_or_else(|| "unknown".to_owned(), |(low, high)| format!("{low} to {high}"));
        let _ = write!(
            table,
            "<tr><th scope=\"row\">{}</th><td>{value}</td><td class=\"soft\">{ends}</td></tr>",
            escape(name)
        );
    };
    for of in &fit.parameters {
        let ends = of.fitted.low.zip(of.fitted.high);
        let ends = ends.map(|(low, high)| (parameter(of, low), parameter(of, high)));
        row(&of.name, parameter(of, of.fitted.value), ends);
        if let Some((low, high)) = of.bootstrap {
            let name = format!("{}, by bootstrap over runs", of.name);
            row(&name, parameter(of, of.fitted.value), Some((parameter(of, low), parameter(of, high))));
        }
    }
    table.push_str("</tbody></table>");
    let mut out = format!(
        "<p>{}, {}.</p>{}",
        escape(&capital(&fit.model.words())),
        escape(fit.method.words()),
        scrolling("Parameters of the model", &table)
    );
    if let (Some(usl), Some(_)) = (&fit.usl, &fit.bounds) {
        let peak = usl.peak_users.as_ref().map_or_else(
            || "without a peak".to_owned(),
            |peak| format!("with a peak at {} users", with_interval(peak, |value| users(value.round()))),
        );
        let _ = write!(
            out,
            "<p class=\"note\">The Universal Scalability Law for the same throughputs: σ = {:.4}, κ = {:.3e}, λ = {}/s, {peak}.</p>",
            usl.curve.sigma,
            usl.curve.kappa,
            per_s(usl.curve.lambda_per_s)
        );
    }
    out
}

fn method(fit: &CapacityFit) -> String {
    let mut out = String::from("<dl class=\"pairs\">");
    let mut add = |term: &str, words: &str| {
        let _ = write!(out, "<dt>{term}</dt><dd>{words}</dd>");
    };
    add(
        "N, X, R, Z",
        "Users, requests per second, mean response time, mean think time: N = X(R + Z) holds for every system.",
    );
    add(
        "capacity",
        "X_max = 1/D_max: the throughput at which the busiest resource is always busy. No number of users exceeds it.",
    );
    add(
        "knee N*",
        "X_max (R₀ + Z): the number of users that keeps the bottleneck busy without queueing. With fewer users there is little waiting; \
         with more, each further user mainly increases the waiting time.",
    );
    add(
        "interval",
        "Of the parameters and the curve, if the model is correct. Compare the measurements with the curve to judge that.",
    );
    if fit.bounds.is_none() {
        add(
            "σ, κ",
            "σ is the serial share of the work, κ the cost of coordination between pairs of users. If κ is above 0, \
             throughput has a peak and decreases beyond it.",
        );
    }
    out.push_str("</dl>");
    out
}

/// What the script draws: `ui/src/model.ts` mirrors it.
#[derive(Serialize)]
struct CapacityPageModel {
    version: u32,
    curve: CurveColumns,
    points: Vec<PointModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knee_users: Option<f64>,
}

/// The curve in columns.
#[derive(Serialize)]
struct CurveColumns {
    users: Vec<f64>,
    throughput: BandColumns,
    /// In ms.
    response: BandColumns,
}

#[derive(Serialize)]
struct BandColumns {
    value: Vec<f64>,
    /// Ends of the interval; left out when nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Vec<f64>>,
    /// The asymptotic bound; left out of a law without demands.
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
