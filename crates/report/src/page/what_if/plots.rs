//! The lines in the plots of a what-if analysis.

use maud::{Markup, html};
use serde::Serialize;

use super::super::markup::def;
use super::points::{WhatIfClass, WhatIfFound, WhatIfPage, WhatIfStation, WhatIfValue};
use crate::terminal_text::printable;

/// Maximum number of lines in a plot; the tables contain the others.
const LINES_MAX: usize = 9;

/// The index of the parameter on the x axis: the numeric parameter with the most values. Parameters with names, such as
/// strategies, then become separate lines. If no parameter is numeric, the first one is used.
pub(super) fn axis(page: &WhatIfPage) -> usize {
    let values = |at: usize| numbers(&labels(page, at)).map_or(0, |(numbers, _)| numbers.len());
    // If several parameters have the same number of values, the first of them is used.
    (0..page.parameters.len()).rev().max_by_key(|at| values(*at)).unwrap_or(0)
}

/// The distinct values of a parameter.
pub(super) fn labels(page: &WhatIfPage, parameter: usize) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    let points = page.models.iter().flat_map(|model| &model.points);
    for value in points.filter_map(|point| point.values.get(parameter)) {
        if !labels.contains(value) {
            labels.push(value.clone());
        }
    }
    labels
}

/// The labels as numbers with a common unit, and the unit; `None` if they are not such numbers.
pub(super) fn numbers(labels: &[String]) -> Option<(Vec<f64>, String)> {
    let split = |label: &String| {
        let end = label.find(|c: char| !(c.is_ascii_digit() || ".-+".contains(c))).unwrap_or(label.len());
        Some((label[..end].parse::<f64>().ok()?, label[end..].trim().to_owned()))
    };
    let all: Vec<(f64, String)> = labels.iter().map(split).collect::<Option<_>>()?;
    let unit = all.first()?.1.clone();
    // A distribution such as erlang(5ms, 2) counts as a name, and so does a time in another unit.
    let is_plain = |(_, other): &(f64, String)| *other == unit && !other.contains('(');
    all.iter().all(is_plain).then(|| (all.iter().map(|(number, _)| *number).collect(), unit))
}

/// A line while it is being collected: its name, and its values and bounds by label.
struct Line {
    name: String,
    values: Vec<Option<WhatIfValue>>,
    bound: Vec<Option<f64>>,
}

/// The data of a point that a plot uses: for each class or station its name, value and bound.
type PlottedData = Vec<(String, Option<WhatIfValue>, Option<f64>)>;

pub(super) fn plots(page: &WhatIfPage) -> Vec<(SweepModel, Markup)> {
    let axis = axis(page);
    let over = page.parameters.get(axis).map(|name| printable(name)).unwrap_or_default();
    let by_class = |of: fn(&WhatIfClass) -> (Option<WhatIfValue>, Option<f64>)| {
        move |found: &WhatIfFound| -> PlottedData {
            let one = |class: &WhatIfClass| {
                let (value, bound) = of(class);
                (class.name.clone(), value, bound)
            };
            found.classes.iter().map(one).collect()
        }
    };
    let by_station = |of: fn(&WhatIfStation) -> Option<WhatIfValue>| {
        move |found: &WhatIfFound| -> PlottedData {
            found.stations.iter().map(|station| (station.name.clone(), of(station), None)).collect()
        }
    };
    let is_line = numbers(&labels(page, axis)).is_some();
    let throughput = lines(page, by_class(|class| (class.throughput_per_s, class.throughput_bound_per_s)));
    let response = lines(page, by_class(|class| (class.response_s, class.response_bound_s)));
    let utilization = lines(page, by_station(|station| station.utilization));
    let customers = lines(page, by_station(|station| station.customers));
    [
        (
            "x",
            "/s",
            1.0,
            throughput,
            html! { (def("x", "Passes per second")) " over " (over) },
            " Dashed: upper bound.",
        ),
        (
            "r",
            "ms",
            1e3,
            response,
            html! { (def("r", "Mean response time")) " of a pass over " (over) },
            " Dashed: lower bound.",
        ),
        (
            "u",
            "%",
            100.0,
            utilization,
            html! { (def("u", "Utilization")) " of each station over " (over) },
            "",
        ),
        (
            "q",
            "",
            1.0,
            customers,
            html! { (def("q", "Customers")) " at each station, waiting and in service, over " (over) },
            "",
        ),
    ]
    .into_iter()
    .filter_map(|(plot, unit, factor, lines, caption, about_bound)| {
        sweep(plot, unit, factor, lines, &caption, about_bound, is_line)
    })
    .collect()
}

/// A plot with its caption; empty if there is nothing to draw.
fn sweep(
    plot: &'static str,
    unit: &'static str,
    factor: f64,
    mut all: Vec<Line>,
    caption: &Markup,
    about_bound: &str,
    is_line: bool,
) -> Option<(SweepModel, Markup)> {
    all.retain(|line| line.values.iter().any(Option::is_some));
    let count = all.len();
    all.truncate(LINES_MAX);
    let first = all.first()?;
    let scaled =
        |values: &[Option<f64>]| values.iter().map(|value| value.map(|value| value * factor)).collect();
    // Names on the x axis have no order, so no line for a bound is drawn between them.
    let bound: Option<Vec<Option<f64>>> =
        (is_line && count == 1 && first.bound.iter().any(Option::is_some)).then(|| scaled(&first.bound));
    let has_intervals = all.iter().flat_map(|line| &line.values).flatten().any(|value| value.half.is_some());
    let shown = all.len();
    let caption = html! {
        (caption) "."
        @if has_intervals { " Bars: intervals of simulated points." }
        @if bound.is_some() { (about_bound) }
        @if count > shown { " The first " (shown) " of " (count) " lines; the tables contain all." }
    };
    let mut lines: Vec<SweepLine> = all
        .iter()
        .map(|line| {
            let halves: Vec<Option<f64>> = line
                .values
                .iter()
                .map(|value| value.and_then(|value| value.half).filter(|half| half.is_finite()))
                .collect();
            SweepLine {
                name: line.name.clone(),
                values: scaled(
                    &line.values.iter().map(|value| value.map(|value| value.value)).collect::<Vec<_>>(),
                ),
                half: halves.iter().any(Option::is_some).then(|| scaled(&halves)),
                is_bound: false,
            }
        })
        .collect();
    lines.extend(bound.map(|values| SweepLine { name: "bound".into(), values, half: None, is_bound: true }));
    let name = match plot {
        "x" => "Throughput",
        "r" => "Response time",
        "u" => "Utilization",
        _ => "Customers",
    };
    Some((SweepModel { plot, name, unit, lines }, caption))
}

/// One line for each model, combination of the other parameters, and class or station.
fn lines(page: &WhatIfPage, plotted: impl Fn(&WhatIfFound) -> PlottedData) -> Vec<Line> {
    let axis = axis(page);
    let labels = labels(page, axis);
    let is_other = |at: &usize| *at != axis;
    let mut keys: Vec<(usize, Vec<String>, String)> = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for (model, data) in page.models.iter().enumerate() {
        for point in &data.points {
            let Ok(found) = &point.found else { continue };
            let others: Vec<String> =
                (0..point.values.len()).filter(is_other).map(|at| point.values[at].clone()).collect();
            let label =
                point.values.get(axis).and_then(|value| labels.iter().position(|label| label == value));
            for (part, value, bound) in plotted(found) {
                let key = (model, others.clone(), part);
                let at = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                    keys.push(key);
                    lines.push(Line {
                        name: String::new(),
                        values: vec![None; labels.len()],
                        bound: vec![None; labels.len()],
                    });
                    keys.len() - 1
                });
                if let Some(label) = label {
                    lines[at].values[label] = value.filter(|value| value.value.is_finite());
                    lines[at].bound[label] = bound.filter(|bound| bound.is_finite());
                }
            }
        }
    }
    // The name of a line contains only the values in which it differs from others.
    let several =
        |of: &dyn Fn(&(usize, Vec<String>, String)) -> String| keys.iter().any(|key| of(key) != of(&keys[0]));
    let [models, others, parts] =
        [several(&|key| key.0.to_string()), several(&|key| key.1.join(", ")), several(&|key| key.2.clone())];
    for (line, (model, values, part)) in lines.iter_mut().zip(&keys) {
        let mut name = Vec::new();
        name.extend(parts.then(|| part.clone()));
        if others {
            // The last part of a parameter's path is sufficient: `servers 4`.
            let parameters = (0..page.parameters.len()).filter(is_other).map(|at| &page.parameters[at]);
            name.extend(parameters.zip(values).map(|(parameter, value)| {
                format!("{} {value}", parameter.rsplit('.').next().unwrap_or_default())
            }));
        }
        name.extend(models.then(|| page.models[*model].name.clone()));
        line.name = if name.is_empty() { part.clone() } else { name.join(" · ") };
    }
    lines
}

/// A plot over one of the parameters.
#[derive(Serialize)]
pub(super) struct SweepModel {
    pub(super) plot: &'static str,
    name: &'static str,
    unit: &'static str,
    pub(super) lines: Vec<SweepLine>,
}

/// A line that may have gaps.
#[derive(Serialize)]
pub(super) struct SweepLine {
    name: String,
    values: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    half: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_bound: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_lines_over_users() {
        let point = |strategy: &str, users: &str| super::super::WhatIfPoint {
            values: vec![strategy.to_owned(), users.to_owned()],
            found: Err("not computed".into()),
        };
        let points =
            vec![point("random", "50"), point("random", "100"), point("jsq", "50"), point("jsq", "100")];
        let model = super::super::WhatIfModel {
            name: "two".into(),
            methods: Vec::new(),
            caveats: Vec::new(),
            points,
        };
        let parameters = vec!["outside.strategy".to_owned(), "users.users".to_owned()];
        let page = WhatIfPage { parameters, models: vec![model] };
        assert_eq!((axis(&page), labels(&page, 1)), (1, vec!["50".to_owned(), "100".to_owned()]));
        // If all parameters are names, the first one is used.
        let names = WhatIfPage { parameters: vec!["a".into(), "b".into()], models: Vec::new() };
        assert_eq!(axis(&names), 0);
    }

    #[test]
    fn values_of_one_unit_are_numbers() {
        let of =
            |labels: &[&str]| numbers(&labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["10ms", "20ms"]), Some((vec![10.0, 20.0], "ms".into())));
        assert_eq!(of(&["1", "2.5"]), Some((vec![1.0, 2.5], String::new())));
        assert_eq!(of(&["500ms", "1s"]), None);
        assert_eq!(of(&["random", "round-robin"]), None);
        assert_eq!(of(&["erlang(5ms, 2)"]), None);
    }
}
