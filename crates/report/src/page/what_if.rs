//! The page of a model whose parameters vary: plots over one of the parameters, and tables with every point.

mod plots;
mod points;
mod tables;

use maud::{Markup, html};
use serde::Serialize;

use super::bundle::MODEL_VERSION;
use super::document::{Document, Kind};
use super::markup::{PlotHeight, Section, capital, caveat_list, figure};
use crate::numbers::counted;
use crate::terminal_text::printable;
use plots::{SweepModel, axis, labels, numbers, plots};
use tables::{classes, stations};

pub use points::{
    NoSolution, WhatIfClass, WhatIfFound, WhatIfModel, WhatIfPage, WhatIfPoint, WhatIfStation, WhatIfValue,
};

/// Maximum number of caveats that are listed individually.
const CAVEATS_MAX: usize = 10;

/// Renders the page of a what-if analysis.
#[must_use]
pub fn what_if_html(page: &WhatIfPage) -> String {
    let plots = plots(page);
    let axis = axis(page);
    let numbers = numbers(&labels(page, axis));
    let mut sections = Vec::new();
    for (id, title, plot) in [
        ("throughput", "Throughput", "x"),
        ("response", "Response time", "r"),
        ("utilization", "Utilization", "u"),
        ("customers", "Customers", "q"),
    ] {
        if let Some((sweep, caption)) = plots.iter().find(|(sweep, _)| sweep.plot == plot) {
            let height = match sweep.lines.len() {
                0..=2 => PlotHeight::Normal,
                3..=5 => PlotHeight::Several,
                _ => PlotHeight::Many,
            };
            sections.push(Section { id, title, body: figure(plot, height, caption) });
        }
    }
    sections.push(Section { id: "classes", title: "Points by class", body: classes(page) });
    sections.push(Section { id: "stations", title: "Points by station", body: stations(page) });
    sections.push(Section { id: "glossary", title: "How to read this", body: definitions(page) });
    let names: Vec<&str> = page.models.iter().map(|model| model.name.as_str()).collect();
    Document {
        kind: Kind::WhatIf,
        title: &format!("{}: what if", names.join(" and ")),
        subtitle: &subtitle(page),
        opening: opening(page),
        sections: &sections,
        model: &WhatIfPageModel {
            version: MODEL_VERSION,
            parameter: page.parameters.get(axis).map_or("", String::as_str),
            labels: labels(page, axis),
            unit: numbers.as_ref().map(|(_, unit)| unit.clone()).unwrap_or_default(),
            numbers: numbers.map(|(numbers, _)| numbers),
            plots: plots.into_iter().map(|(sweep, _)| sweep).collect(),
        },
    }
    .html()
}

fn subtitle(page: &WhatIfPage) -> String {
    let points: usize = page.models.iter().map(|model| model.points.len()).sum();
    let mut methods: Vec<&str> =
        page.models.iter().flat_map(|model| &model.methods).map(String::as_str).collect();
    methods.sort_unstable();
    methods.dedup();
    let vary = if page.parameters.len() == 1 { "varies" } else { "vary" };
    format!(
        "{} {vary} · {} · {}",
        page.parameters.join(", "),
        counted(points as u64, "point"),
        methods.join("; ")
    )
}

/// The parameters with the largest throughput X and the smallest response time R, and the caveats.
fn opening(page: &WhatIfPage) -> Markup {
    let classes = names(page, |found| found.classes.iter().map(|class| class.name.clone()).collect());
    let mut headlines = Vec::new();
    for model in &page.models {
        let name = if page.models.len() > 1 { format!("{}: ", model.name) } else { String::new() };
        for class in &classes {
            headlines
                .extend(headline(page, model, class, classes.len()).map(|words| format!("{name}{words}")));
        }
    }
    let mut caveats: Vec<String> = page
        .models
        .iter()
        .flat_map(|model| {
            let unanswered = model.points.iter().filter_map(|point| {
                let why = point.found.as_ref().err()?;
                Some(format!("no solution with {}: {why}", values(page, point)))
            });
            model.caveats.iter().cloned().chain(unanswered)
        })
        .collect();
    if caveats.len() > CAVEATS_MAX {
        let more = caveats.len() - CAVEATS_MAX;
        caveats.truncate(CAVEATS_MAX);
        caveats.push(format!("and {more} more, in the tables"));
    }
    html! {
        section aria-label="Result" {
            @for line in headlines { p.headline { (printable(&capital(&line))) } }
        }
        @if !caveats.is_empty() {
            (caveat_list(
                "Before you rely on this",
                "caveats-title",
                caveats.iter().map(|caveat| (caveat.as_str(), None)),
            ))
            "\n"
        }
    }
}

fn values(page: &WhatIfPage, point: &WhatIfPoint) -> String {
    let named: Vec<String> = page
        .parameters
        .iter()
        .zip(&point.values)
        .map(|(parameter, value)| format!("{parameter} = {value}"))
        .collect();
    named.join(", ")
}

fn headline(page: &WhatIfPage, model: &WhatIfModel, name: &str, classes: usize) -> Option<String> {
    let of = |point: &WhatIfPoint| {
        let class = point.found.as_ref().ok()?.classes.iter().find(|class| class.name == name)?.clone();
        Some((values(page, point), class.throughput_per_s?, class.response_s?))
    };
    let found: Vec<(String, WhatIfValue, WhatIfValue)> = model.points.iter().filter_map(of).collect();
    let most = found.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let least = found.iter().min_by(|a, b| a.2.value.total_cmp(&b.2.value))?;
    let whose = if classes > 1 { format!("of {name} ") } else { String::new() };
    Some(format!(
        "throughput {whose}is largest with {}: {}/s; response time is smallest with {}: {} ms.",
        most.0,
        most.1.text(),
        least.0,
        least.2.times(1e3).text()
    ))
}

/// The names of classes or stations in all models and points.
fn names(page: &WhatIfPage, of: impl Fn(&WhatIfFound) -> Vec<String>) -> Vec<String> {
    let mut names = Vec::new();
    for found in
        page.models.iter().flat_map(|model| &model.points).filter_map(|point| point.found.as_ref().ok())
    {
        for name in of(found) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn definitions(page: &WhatIfPage) -> Markup {
    let entry = |id: &str, term: &str, words: &str| html! { dt { (term) } dd id={ "def-" (id) } { (words) } };
    let simulated = page
        .models
        .iter()
        .flat_map(|model| &model.points)
        .filter_map(|point| point.found.as_ref().ok())
        .flat_map(|found| &found.classes)
        .any(|class| class.throughput_per_s.is_some_and(|value| value.half.is_some()));
    html! {
        dl.pairs {
            (entry("x", "X, throughput", "Passes of a class through the stations per second."))
            (entry("r", "R, response time", "The mean time of a pass, waiting and in service, without think time."))
            (entry("u", "U, utilization", "The mean share of a station's servers that is busy."))
            (entry(
                "q",
                "Q, customers",
                "The mean number of customers: of a class in all stations, or at one station.",
            ))
            (entry(
                "bounds",
                "bounds",
                "Asymptotic: X is never more than min(1/D_max, N/(D + Z)), and R never less than max(D, N·D_max − Z), with the \
                 service demands D of a pass, the largest of them D_max, N users and the think time Z.",
            ))
            @if simulated {
                (entry(
                    "interval",
                    "± and bars",
                    "Points without an exact solution were simulated; ± is half the width of the interval, whose confidence is \
                     given above. All points use the same random numbers, so that they differ only by their parameters.",
                ))
            }
        }
    }
}

/// The data that the script draws; `ui/src/model.ts` declares the same structure.
#[derive(Serialize)]
struct WhatIfPageModel<'p> {
    version: u32,
    parameter: &'p str,
    labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<f64>>,
    unit: String,
    plots: Vec<SweepModel>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let text = |value, half| WhatIfValue { value, half }.text();
        assert_eq!(text(208.991_23, Some(0.0471)), "208.991 ± 0.047");
        assert_eq!(text(1234.5, Some(37.8)), "1234 ± 38");
        assert_eq!(text(135.727_3, None), "135.73");
        assert_eq!(text(3.0, Some(0.0)), "3");
        assert_eq!(text(0.0, None), "0");
        assert_eq!(text(3.0, Some(f64::INFINITY)), "3 ± ?");
    }
}
