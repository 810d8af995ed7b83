//! A comparison as one CSV table.

use std::fmt::Write as _;

use busyhour_analysis::Comparison;
use busyhour_analysis::comparison::{ComparedRow, Interval, LabelEffect, Measure};
use serde_json::Value;

use crate::comparison_quartiles::quartiles_csv;
use crate::comparison_system::system_csv;
use crate::log_tables::cell;

/// Number of columns of the table.
const COLUMNS: usize = 17;

/// The whole comparison as one CSV table. There is a line per label and measure, and a line per part of the system and
/// figure. Times are in ms, throughput is per second, and errors are shares from 0 to 1. The values of single runs are
/// joined by semicolons. Unknown values are empty.
#[must_use]
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut out = String::from(
        "label,kind,measure,before,after,ratio,ratio_low,ratio_high,difference,difference_low,difference_high,p_value,\
         confidence,method,verdict,runs_before,runs_after\n",
    );
    for row in comparison.rows() {
        row.effects.iter().for_each(|effect| line(&mut out, row, effect));
        out += &quartiles_csv(row, &name(&row.kind), COLUMNS);
    }
    if let Some(system) = &comparison.system {
        out += &system_csv(system, COLUMNS);
    }
    out
}

fn line(out: &mut String, row: &ComparedRow, effect: &LabelEffect) {
    let runs = |runs: &[Option<f64>]| runs.iter().map(|run| number(*run)).collect::<Vec<_>>().join(";");
    let mut cells = vec![
        cell(&row.label),
        name(&row.kind),
        name::<Measure>(&effect.measure),
        number(effect.base),
        number(effect.new),
    ];
    cells.extend(three(effect.ratio.as_ref()));
    cells.extend(three(effect.difference.as_ref()));
    cells.extend([
        effect.p_value.map_or_else(String::new, |p| format!("{p:.3e}")),
        number(effect.p_value.map(|_| effect.confidence)),
        effect.method.map_or_else(String::new, |method| name(&method)),
        name(&effect.verdict),
        runs(&effect.base_runs),
        runs(&effect.new_runs),
    ]);
    let _ = writeln!(out, "{}", cells.join(","));
}

/// The name of an enumeration's value in JSON.
fn name<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

fn three(interval: Option<&Interval>) -> [String; 3] {
    [interval.map(|i| i.value), interval.and_then(|i| i.low), interval.and_then(|i| i.high)].map(number)
}

/// Formats a number with six digits, which is sufficient for the precision of the histograms.
fn number(value: Option<f64>) -> String {
    value
        .filter(|value| value.is_finite())
        .map_or_else(String::new, |v| ((v * 1e6).round() / 1e6).to_string())
}
