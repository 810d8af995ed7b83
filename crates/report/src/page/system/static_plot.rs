//! Panels as images for readers without the script.

use busyhour_results::{Panel, PanelLine, SystemRecord, TimeAxis};
use maud::{Markup, html};

use super::colours::line_class;
use super::model::panel_scale;
use crate::numbers::duration;

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 70.0;

/// Id of the element with the marks.
const MARKS_ID: &str = "static-marks";

/// Maximum number of points of a line. Adjacent slices are combined by their largest value, so that peaks remain
/// visible.
const POINTS_MAX: usize = 75;

/// The lines of a panel, from 0 at the bottom to the largest value at the top.
pub(super) fn static_plot(panel: &Panel, frame: &StaticFrame) -> Markup {
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
    // A limit that is much larger than the values would flatten the lines.
    let top = if limit <= values * LIMIT_SEEN { values.max(limit) } else { values };
    let scale = panel_scale(panel);
    html! {
        div.static-plot aria-hidden="true" {
            p { span { (scale.quantity(top)) } @if top > 0.0 { span { "0" } } }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" {
                @if frame.has_marks { use href={ "#" (MARKS_ID) } {} }
                path.baseline d=(format!("M0 {:.1}H{WIDTH}", HEIGHT - 1.0)) {}
                @for (at, points) in shown.iter().rev() {
                    @let line = &panel.lines[*at];
                    @if !line.is_limit || limit <= values * LIMIT_SEEN {
                        path class=(line_class(*at, line.is_limit)) d=(path(points, top)) {}
                    }
                }
            }
            p { @for tick in &frame.ticks { span { (tick) } } }
        }
    }
}

/// The properties of all static plots: the labels of the time axis, and whether there are marks.
pub(super) struct StaticFrame {
    ticks: [String; 3],
    has_marks: bool,
}

impl StaticFrame {
    pub(super) fn of(record: &SystemRecord) -> StaticFrame {
        let TimeAxis { from_s, step_s, count } = record.axis;
        let length_s = step_s * count as f64;
        let ticks = [0.0, 0.5, 1.0].map(|share| duration(from_s + share * length_s));
        StaticFrame { ticks, has_marks: !record.marks.is_empty() }
    }
}

/// The marks, which are in the page once; each plot refers to them. Empty without marks.
pub(super) fn static_marks(record: &SystemRecord) -> Markup {
    let TimeAxis { from_s, step_s, count } = record.axis;
    let per_s = WIDTH / (step_s * count as f64).max(f64::MIN_POSITIVE);
    let place = |seconds: f64| ((seconds - from_s) * per_s).clamp(0.0, WIDTH - 1.0).floor() as u32;
    let of_kind = |kind| {
        let marks = record.marks.iter().filter(|mark| mark.kind == kind);
        columns(marks.map(|mark| (place(mark.from_s), place(mark.to_s) + 1)).collect())
    };
    html! {
        @if !record.marks.is_empty() {
            svg.static-marks width="0" height="0" aria-hidden="true" {
                g #(MARKS_ID) {
                    @for count in &record.mark_counts {
                        path class=(count.kind.as_str()) d=(rectangles(&of_kind(count.kind))) {}
                    }
                }
            }
        }
    }
}

/// Ranges of columns of the plot, in order; ranges that touch are joined, so that there are at most as many as columns.
fn columns(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (from, to) in ranges {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

fn rectangles(ranges: &[(u32, u32)]) -> String {
    ranges.iter().map(|(from, to)| format!("M{from} 0V{HEIGHT}H{to}V0z")).collect()
}

/// A limit is drawn if it is at most this many times the largest value.
pub(super) const LIMIT_SEEN: f64 = 4.0;

fn points(line: &PanelLine) -> Vec<Option<f64>> {
    let size = line.values.len().div_ceil(POINTS_MAX).max(1);
    line.values.chunks(size).map(|part| part.iter().flatten().copied().reduce(f64::max)).collect()
}

/// Adds to each line the lines below it; limits are not changed.
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
            has_leading_line: false,
            further: 0,
            zero: Vec::new(),
        };
        let frame = StaticFrame { ticks: ["0.0 s", "5.0 s", "10.0 s"].map(str::to_owned), has_marks: true };
        let html = static_plot(&panel, &frame).into_string();
        insta::assert_snapshot!(html.replace("<path", "\n<path"), @r##"
        <div class="static-plot" aria-hidden="true"><p><span>3 B</span><span>0</span></p><svg viewBox="0 0 300 70" preserveAspectRatio="none"><use href="#static-marks"></use>
        <path class="baseline" d="M0 69.0H300"></path>
        <path class="orange" d="M75 24h1L225 2"></path>
        <path class="blue" d="M75 47h1L225 24"></path></svg><p><span>0.0 s</span><span>5.0 s</span><span>10.0 s</span></p></div>
        "##);
    }

    #[test]
    fn marks_that_touch_are_one_rectangle() {
        let joined = columns(vec![(7, 8), (0, 1), (8, 9), (20, 25), (21, 22)]);
        assert_eq!(joined, [(0, 1), (7, 9), (20, 25)]);
        assert_eq!(rectangles(&joined[..1]), "M0 0V70H1V0z");
        assert_eq!(columns((0..300).map(|at| (at, at + 1)).collect()), [(0, 300)]);
    }
}
