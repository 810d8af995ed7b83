//! The tiles of the first screen: each has a key figure and its values over time as a sparkline.

use busyhour_analysis::Summary;
use maud::{Markup, html};

use super::markup::def;
use super::steps::Steps;
use crate::numbers::{ms, percent, rate, thousands};

const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 32.0;

/// Maximum number of points of a sparkline; if there are more, adjacent points are combined.
const POINTS_MAX: usize = 80;

/// How adjacent points are combined.
#[derive(Clone, Copy)]
enum Join {
    /// By their mean, for rates.
    Mean,
    /// By their maximum, for percentiles, errors and users, so that peaks remain visible.
    Largest,
}

/// A tile: a key figure and its values over time.
struct Tile<'t> {
    name: Markup,
    /// CSS class that determines the colour of figure and line.
    class: &'static str,
    /// The path of the figure in the summary.
    path: &'static str,
    figure: String,
    /// Values by slice of the run; `None` if nothing is known over time.
    values: Option<&'t [Option<f64>]>,
    join: Join,
}

/// The tiles of a run.
pub(super) fn tiles(summary: &Summary, steps: Option<&Steps>) -> Markup {
    let total = &summary.total;
    let known = |of: fn(&Steps) -> &Vec<f64>| {
        steps.map(|steps| of(steps).iter().copied().map(Some).collect::<Vec<_>>())
    };
    let ended = known(|steps| &steps.ended);
    // The error rate, as in the figure; unknown for slices in which no request ended.
    let failed: Option<Vec<Option<f64>>> = steps.map(|steps| {
        let pairs = steps.errors.iter().zip(&steps.ended);
        pairs.map(|(errors, ended)| (*ended > 0.0).then(|| errors * 100.0 / ended)).collect()
    });
    let offered = known(|steps| &steps.offered).filter(|offered| !offered.is_empty());
    let load = match (summary.offered_per_s, &offered) {
        (Some(offered_per_s), offered) => Tile {
            name: def("offered", "offered arrivals per second"),
            class: "",
            path: "offered_per_s",
            figure: rate(offered_per_s),
            values: offered.as_deref(),
            join: Join::Mean,
        },
        (None, _) => Tile {
            name: def("users", "users at most"),
            class: "",
            path: "users_max",
            figure: if summary.users_max > 0 {
                thousands(u64::from(summary.users_max))
            } else {
                "–".into()
            },
            values: steps.map(|steps| steps.users.as_slice()),
            join: Join::Largest,
        },
    };
    let tiles = [
        Tile {
            name: def("rate", "requests per second"),
            class: "",
            path: "total.rate_per_s",
            figure: rate(total.rate_per_s),
            values: ended.as_deref(),
            join: Join::Mean,
        },
        Tile {
            name: def("p95", "95th percentile, ms"),
            class: "",
            path: "total.response.p95",
            figure: ms(total.response.p95),
            values: steps.map(|steps| steps.p95.as_slice()),
            join: Join::Largest,
        },
        Tile {
            name: def("failed", "failed"),
            class: if total.errors > 0 { "bad" } else { "" },
            path: "total.error_percent",
            figure: format!("{} %", percent(total.error_percent)),
            values: failed.as_deref(),
            join: Join::Largest,
        },
        load,
    ];
    html! {
        dl.tiles {
            @for tile in &tiles {
                div.tile {
                    dt { (tile.name) }
                    dd class=(tile.class) data-quantity=(tile.path) { (tile.figure) }
                    @if let Some(values) = tile.values {
                        dd.course { (sparkline(values, tile.join, tile.class)) }
                    }
                }
            }
        }
    }
}

/// A line through the values, from 0 at the bottom to the maximum at the top, with gaps at unknown values. It is hidden from
/// screen readers, because the plots below describe the same values.
fn sparkline(values: &[Option<f64>], join: Join, class: &str) -> Markup {
    let size = values.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<Option<f64>> = values.chunks(size).map(|part| joined(part, join)).collect();
    let most = points.iter().flatten().copied().fold(0.0, f64::max);
    let mut path = String::new();
    let mut is_open = false;
    for (at, value) in points.iter().enumerate() {
        let Some(value) = value else {
            is_open = false;
            continue;
        };
        let x = WIDTH * (at as f64 + 0.5) / points.len() as f64;
        let share = if most > 0.0 { value / most } else { 0.0 };
        let y = HEIGHT - 1.5 - share * (HEIGHT - 3.0);
        path += &format!("{}{x:.1} {y:.1}", if is_open { "L" } else { "M" });
        is_open = true;
    }
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" aria-hidden="true" {
            line.baseline x1="0" x2=(WIDTH) y1=(HEIGHT - 0.5) y2=(HEIGHT - 0.5) {}
            path class=(class) d=(path) {}
        }
    }
}

fn joined(part: &[Option<f64>], join: Join) -> Option<f64> {
    let known: Vec<f64> = part.iter().flatten().copied().collect();
    match join {
        _ if known.is_empty() => None,
        Join::Mean => Some(known.iter().sum::<f64>() / known.len() as f64),
        Join::Largest => known.into_iter().reduce(f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_has_gaps_and_fits_its_box() {
        let line = sparkline(&[Some(0.0), Some(10.0), None, Some(5.0)], Join::Largest, "").into_string();
        assert!(line.contains("d=\"M20.0 30.5L60.0 1.5M140.0 16.0\""), "{line}");
        let none = sparkline(&[None, None], Join::Mean, "").into_string();
        assert!(none.contains("d=\"\""), "{none}");
        let zero = sparkline(&[Some(0.0); 3], Join::Mean, "").into_string();
        assert!(!zero.contains("NaN"), "{zero}");
    }

    #[test]
    fn a_sparkline_begins_at_a_baseline_of_zero() {
        let line = sparkline(&[Some(5.0), Some(10.0)], Join::Mean, "").into_string();
        assert!(
            line.contains("<line class=\"baseline\" x1=\"0\" x2=\"160\" y1=\"31.5\" y2=\"31.5\">"),
            "{line}"
        );
        // Half of the largest value is half way between the baseline and the top.
        assert!(line.contains("d=\"M40.0 16.0L120.0 1.5\""), "{line}");
    }

    #[test]
    fn many_points_are_joined() {
        let values: Vec<Option<f64>> = (0..1000).map(|at| Some(f64::from(at % 7))).collect();
        let line = sparkline(&values, Join::Largest, "").into_string();
        assert!(line.matches('L').count() < POINTS_MAX, "{line}");
    }
}
