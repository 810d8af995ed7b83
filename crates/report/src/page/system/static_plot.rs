//! Panels as images for readers without the script.

use busyhour_results::{Panel, PanelLine};
use maud::{Markup, html};

use super::colours::line_class;

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 70.0;

/// Points of a line at most; adjacent slices are combined by their largest value, so that peaks remain visible.
const POINTS_MAX: usize = 75;

/// The lines of a panel, from 0 at the bottom to the largest value at the top.
pub(super) fn static_plot(panel: &Panel) -> Markup {
    let mut shown: Vec<(usize, Vec<Option<f64>>)> =
        panel.lines.iter().enumerate().map(|(at, line)| (at, points(line))).collect();
    if panel.is_stacked {
        stack(&mut shown, &panel.lines);
    }
    let top_of = |is_limit: bool| {
        let of = shown.iter().filter(|(at, _)| panel.lines[*at].is_limit == is_limit);
        of.flat_map(|(_, points)| points.iter().flatten().copied()).fold(0.0, f64::max)
    };
    let (values, limit) = (top_of(false), top_of(true));
    // A limit that is far away would press the lines to the bottom.
    let top = if limit <= values * LIMIT_SEEN { values.max(limit) } else { values };
    html! {
        svg.static-plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" aria-hidden="true" {
            path.baseline d=(format!("M0 {:.1}H{WIDTH}", HEIGHT - 1.0)) {}
            @for (at, points) in shown.iter().rev() {
                @let line = &panel.lines[*at];
                @if !line.is_limit || limit <= values * LIMIT_SEEN {
                    path class=(line_class(*at, line.is_limit)) d=(path(points, top)) {}
                }
            }
        }
    }
}

/// A limit is drawn if it is at most this many times the largest value.
pub(super) const LIMIT_SEEN: f64 = 4.0;

fn points(line: &PanelLine) -> Vec<Option<f64>> {
    let size = line.values.len().div_ceil(POINTS_MAX).max(1);
    line.values.chunks(size).map(|part| part.iter().flatten().copied().reduce(f64::max)).collect()
}

/// Puts each line on top of the previous ones; limits stay.
fn stack(shown: &mut [(usize, Vec<Option<f64>>)], lines: &[PanelLine]) {
    let count = shown.first().map_or(0, |(_, points)| points.len());
    let mut sums = vec![0.0; count];
    for (_, points) in shown.iter_mut().filter(|(at, _)| !lines[*at].is_limit) {
        for (sum, point) in sums.iter_mut().zip(points) {
            *sum += point.unwrap_or(0.0);
            *point = point.map(|_| *sum);
        }
    }
}

fn path(points: &[Option<f64>], top: f64) -> String {
    let across = WIDTH / points.len().max(1) as f64;
    let mut path = String::new();
    let mut is_open = false;
    for (at, point) in points.iter().enumerate() {
        let Some(value) = point else {
            is_open = false;
            continue;
        };
        let x = (at as f64 + 0.5) * across;
        let y = HEIGHT - 1.0 - if top > 0.0 { value / top * (HEIGHT - 3.0) } else { 0.0 };
        path += &if is_open { format!("L{x:.0} {y:.0}") } else { format!("M{x:.0} {y:.0}h1") };
        is_open = true;
    }
    path
}

#[cfg(test)]
mod tests {
    use busyhour_results::{Aspect, Resource, Unit};

    use super::*;

    #[test]
    fn stacked_lines_are_on_top_of_each_other_and_far_limits_are_left_out() {
        let line = |name: &str, values: [f64; 2], is_limit| PanelLine {
            name: name.to_owned(),
            values: values.map(Some).to_vec(),
            figures: None,
            is_limit,
        };
        let panel = Panel {
            resource: Resource::Jvm,
            source: String::new(),
            aspect: Aspect::Utilisation,
            title: "Heap".to_owned(),
            help: String::new(),
            unit: Unit::Bytes,
            is_stacked: true,
            lines: vec![
                line("eden", [1.0, 2.0], false),
                line("old", [1.0, 1.0], false),
                line("limit", [100.0, 100.0], true),
            ],
            is_led: false,
            further: 0,
            zero: Vec::new(),
        };
        let html = static_plot(&panel).into_string();
        insta::assert_snapshot!(html.replace("<path", "\n<path"), @r#"
        <svg class="static-plot" viewBox="0 0 300 70" preserveAspectRatio="none" aria-hidden="true">
        <path class="baseline" d="M0 69.0H300"></path>
        <path class="orange" d="M75 24h1L225 2"></path>
        <path class="blue" d="M75 47h1L225 24"></path></svg>
        "#);
    }
}
