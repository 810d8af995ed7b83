//! Small lines in the cells of tables.

use maud::{Markup, html};

const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 20.0;

/// Maximum number of points of a line; adjacent values are combined by their largest value, so that peaks remain visible.
const POINTS_MAX: usize = 75;

/// A small line of rates over time, for a cell of a table.
pub(super) fn spark(values: &[f64]) -> Markup {
    let size = values.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<f64> = values.chunks(size).map(|part| part.iter().copied().fold(0.0, f64::max)).collect();
    let top = points.iter().copied().fold(0.0, f64::max);
    let across = (WIDTH - 2.0) / points.len().max(2).saturating_sub(1) as f64;
    let mut path = String::new();
    for (at, value) in points.iter().enumerate() {
        let y = HEIGHT - 2.0 - if top > 0.0 { value / top * (HEIGHT - 4.0) } else { 0.0 };
        path += &format!("{}{:.0} {y:.0}", if at == 0 { 'M' } else { 'L' }, 1.0 + at as f64 * across);
    }
    html! {
        svg width=(WIDTH) height=(HEIGHT) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) aria-hidden="true" { path d=(path) {} }
    }
}
