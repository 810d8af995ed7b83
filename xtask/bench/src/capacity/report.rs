//! The report: compares the measurements with the model, and the model with the bounds.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use serde_json::Value;
use xtask_common::table::Table;

use super::circumstances::Circumstances;

/// The accepted relative errors of a prediction: throughput, response time.
const GOAL: (f64, f64) = (0.10, 0.25);

/// The asymptotic bounds, from the shortest response time and the highest throughput of the measurements.
struct Bounds {
    throughput_max_per_s: f64,
    response_min_s: f64,
}

impl Bounds {
    fn from_points(points: &[Value]) -> Bounds {
        let number = |point: &Value, key: &str| point["point"][key].as_f64();
        let fastest = points.iter().filter_map(|point| number(point, "throughput_per_s")).fold(0.0, f64::max);
        let shortest =
            points.iter().filter_map(|point| number(point, "response_s")).fold(f64::INFINITY, f64::min);
        Bounds { throughput_max_per_s: fastest, response_min_s: shortest }
    }

    fn predict(&self, users: f64, think_s: f64) -> (f64, f64) {
        let rate = (users / (self.response_min_s + think_s)).min(self.throughput_max_per_s);
        (rate, users / rate - think_s)
    }
}

/// A measurement and its prediction by the model.
struct Row {
    name: String,
    users: f64,
    think_s: f64,
    /// The measured value and the value of the model.
    throughput_per_s: (f64, f64),
    response_s: (f64, f64),
}

impl Row {
    /// From a point of `capacity fit`.
    fn fitted(point: &Value) -> Result<Row> {
        Row::from_point(point, |key| {
            (
                &point["point"][key],
                &point[["model_throughput_per_s", "model_response_s"][usize::from(key == "response_s")]],
            )
        })
    }

    /// From a point of `capacity verify`.
    fn predicted(point: &Value) -> Result<Row> {
        Row::from_point(point, |key| {
            let values = &point[if key == "response_s" { "response" } else { "throughput" }];
            (&values["measured"], &values["model"]["value"])
        })
    }

    fn from_point<'a>(point: &'a Value, values_of: impl Fn(&str) -> (&'a Value, &'a Value)) -> Result<Row> {
        let name = point["point"]["name"].as_str().unwrap_or_default().to_owned();
        let number = |value: &Value| value.as_f64().with_context(|| format!("{name} lacks a number"));
        let both = |key: &str| -> Result<(f64, f64)> {
            let (measured, model) = values_of(key);
            Ok((number(measured)?, number(model)?))
        };
        Ok(Row {
            users: number(&point["users"])?,
            think_s: number(&point["point"]["think_s"])?,
            throughput_per_s: both("throughput_per_s")?,
            response_s: both("response_s")?,
            name: name.clone(),
        })
    }

    fn cells(&self, load: String, knee: f64, circumstances: Option<&Circumstances>) -> [String; 12] {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let ((x, model_x), (r, model_r)) = (self.throughput_per_s, self.response_s);
        [
            load,
            format!("{:.0}", self.users),
            format!("{:.2}", self.users / knee),
            format!("{x:.1}"),
            format!("{model_x:.1}"),
            relative_error(model_x, x),
            format!("{:.2}", r * 1e3),
            format!("{:.2}", model_r * 1e3),
            relative_error(model_r, r),
            circumstances.map_or_else(|| "–".into(), |found| percent(found.generator)),
            circumstances.and_then(|found| found.steal).map_or_else(|| "–".into(), percent),
            circumstances.and_then(|found| found.others).map_or_else(|| "–".into(), percent),
        ]
    }
}

fn relative_error(model: f64, measured: f64) -> String {
    format!("{:+.1} %", (model / measured - 1.0) * 100.0)
}

/// Builds the report as text.
pub fn report(
    fit: &Value,
    comparison: &Value,
    circumstances: &HashMap<String, Circumstances>,
) -> Result<String> {
    let list = |value: &Value| value["points"].as_array().cloned().unwrap_or_default();
    let mut out = String::new();
    for finding in fit["findings"].as_array().into_iter().flatten() {
        out += &format!(
            "{}: {}\n",
            finding["weight"].as_str().unwrap_or(""),
            finding["message"].as_str().unwrap_or("")
        );
    }
    let knee = fit["headroom"]["knee_users"]["value"].as_f64().context("the model has no knee")?;
    out += &format!("model: {}, knee at {knee:.1} users\n", fit["model"]);
    let mut table = Table::new(&[
        "load",
        "users",
        "of N*",
        "X /s",
        "model",
        "error",
        "R ms",
        "model",
        "error",
        "generator",
        "steal",
        "others",
    ]);
    for point in list(fit) {
        let line = Row::fitted(&point)?;
        let kind = if point["left_out"].is_null() {
            "fitted".into()
        } else {
            format!("left out: {}", point["left_out"])
        };
        table.row(line.cells(kind, knee, circumstances.get(&line.name)));
    }
    let bounds = Bounds::from_points(&list(fit));
    let mut lines = String::new();
    let (mut within, mut closer, mut all) = (0, 0, 0);
    for point in list(comparison) {
        let line = Row::predicted(&point)?;
        table.row(line.cells("predicted".into(), knee, circumstances.get(&line.name)));
        let ((x, model_x), (r, model_r)) = (line.throughput_per_s, line.response_s);
        let (bound_x, bound_r) = bounds.predict(line.users, line.think_s);
        let is_within = (model_x / x - 1.0).abs() <= GOAL.0 && (model_r / r - 1.0).abs() <= GOAL.1;
        let is_closer =
            (model_x - x).abs() <= (bound_x - x).abs() && (model_r - r).abs() <= (bound_r - r).abs();
        (within, closer, all) = (within + u32::from(is_within), closer + u32::from(is_closer), all + 1);
        lines += &format!(
            "{:.0} users: the bounds predict {bound_x:.1}/s ({}) and {:.2} ms ({}); the model is {} the goal and {}\n",
            line.users,
            relative_error(bound_x, x),
            bound_r * 1e3,
            relative_error(bound_r, r),
            if is_within { "within" } else { "OUTSIDE" },
            if is_closer { "closer than the bounds for both" } else { "NOT closer than the bounds for both" },
        );
    }
    out += &format!(
        "\n{table}\n{lines}{within} of {all} within the goal, {closer} closer than the bounds for both\n\
         verdict of `capacity verify`: {} (p = {})\n",
        comparison["verdict"], comparison["p_value"]
    );
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_bounds_are_two_straight_lines() {
        let point = |x: f64, r: f64| json!({ "point": { "throughput_per_s": x, "response_s": r } });
        let bounds = Bounds::from_points(&[point(10.0, 0.1), point(50.0, 0.4)]);
        assert_eq!(bounds.predict(11.0, 1.0), (10.0, 11.0 / 10.0 - 1.0));
        let (rate, response_s) = bounds.predict(100.0, 1.0);
        assert_eq!((rate, response_s), (50.0, 1.0));
    }

    #[test]
    fn predictions_are_compared_with_the_goal_and_the_bounds() {
        let of = |name: &str, users: f64, x: f64, r: f64| json!({ "name": name, "throughput_per_s": x, "response_s": r, "think_s": 1.0, "users": users });
        let fit = json!({
            "findings": [], "model": { "kind": "queue" }, "headroom": { "knee_users": { "value": 52.0 } },
            "points": [{ "point": of("light", 11.0, 10.0, 0.1), "users": 11.0, "left_out": null,
                "model_throughput_per_s": 10.0, "model_response_s": 0.1 }],
        });
        let values = |measured: f64, model: f64| json!({ "measured": measured, "model": { "value": model } });
        let comparison = json!({
            "verdict": "kept", "p_value": 0.5,
            "points": [{ "point": of("near", 52.0, 40.0, 0.3), "users": 52.0,
                "throughput": values(40.0, 41.0), "response": values(0.3, 0.4) }],
        });
        let circumstances = HashMap::from([(
            "near".to_owned(),
            Circumstances { generator: 0.25, steal: Some(0.02), others: None },
        )]);
        let text = report(&fit, &comparison, &circumstances).unwrap();
        assert!(text.contains("0 of 1 within the goal, 1 closer than the bounds for both"), "{text}");
        let row = text.lines().find(|line| line.contains("predicted")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(
            cells[2..13],
            ["52", "1.00", "40.0", "41.0", "+2.5 %", "300.00", "400.00", "+33.3 %", "25 %", "2 %", "–"]
        );
    }
}
