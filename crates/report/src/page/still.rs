//! Draws a plot as a picture for browsers without scripts. The picture has few points, because it is a part of the
//! page.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::events::{EventLine, EventPlot, Look, Part};
use crate::numbers::{duration, rate, whole};

/// The size of the picture in its own units, and the space for the labels of the axes.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;

/// The number of columns. In each column, a line has at most two points and dots have at most one.
const COLUMNS: usize = 240;

/// The ranges of both axes.
struct Scale {
    from_s: f64,
    to_s: f64,
    low: f64,
    high: f64,
    logarithm: bool,
}

impl Scale {
    fn of(plot: &EventPlot, part: &Part) -> Scale {
        let Part { from_s, to_s } = *part;
        let (least, most) = plot
            .values()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if plot.logarithm { (least, most) } else { (0.0, most) };
        Scale { from_s, to_s, low, high, logarithm: plot.logarithm }
    }

    fn x(&self, time_s: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * share(time_s, self.from_s, self.to_s)
    }

    fn y(&self, value: f64) -> f64 {
        let at = if self.logarithm {
            share(value.ln(), self.low.ln(), self.high.ln())
        } else {
            share(value, self.low, self.high)
        };
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - at)
    }
}

fn share(value: f64, low: f64, high: f64) -> f64 {
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

/// A plot of a part of the time for browsers without scripts.
pub(super) fn still(plot: &EventPlot, part: &Part) -> Markup {
    html! { noscript { (picture(plot, part)) } }
}

/// Draws a plot of a part of the time.
pub(super) fn picture(plot: &EventPlot, part: &Part) -> Markup {
    let scale = Scale::of(plot, part);
    let bottom = HEIGHT - BOTTOM;
    // The unit of counts is too long for the axis; the caption contains it.
    let value = |value: f64| match plot.unit.starts_with("per ") {
        true => whole(value),
        false => format!("{} {}", rate(value), plot.unit),
    };
    html! {
        svg.still viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(plot.name) {
            path.frame d={ "M" (LEFT) " " (TOP) "V" (bottom) "H" (WIDTH - RIGHT) } {}
            @for line in &plot.lines {
                path class={ (line.colour.name()) " " (class(line.look)) } d=(path(line, &scale)) {}
            }
            text x=(LEFT - 6.0) y=(TOP + 8.0) text-anchor="end" { (value(scale.high)) }
            text x=(LEFT - 6.0) y=(bottom) text-anchor="end" { (value(scale.low)) }
            text x=(LEFT) y=(HEIGHT - 6.0) { (duration(scale.from_s)) }
            text x=(WIDTH - RIGHT) y=(HEIGHT - 6.0) text-anchor="end" { (duration(scale.to_s)) }
        }
        p.still {
            @for line in &plot.lines { span class={ (line.colour.name()) " " (class(line.look)) } { (line.name) } " " }
        }
    }
}

fn class(look: Look) -> &'static str {
    match look {
        Look::Line | Look::Area => "line",
        Look::Dashed => "dashed",
        Look::Dots => "dots",
    }
}

/// The points of a line as a path: the minimum and the maximum of each column, in their order. Dots are lines of length
/// 0 with round ends.
fn path(line: &EventLine, scale: &Scale) -> String {
    let mut out = String::new();
    let mut column = Vec::new();
    let mut number = None;
    let mut flush = |column: &mut Vec<(f64, f64)>| {
        let highest = |one: &&(f64, f64), two: &&(f64, f64)| one.1.total_cmp(&two.1);
        let (Some(low), Some(high)) = (column.iter().min_by(highest), column.iter().max_by(highest)) else {
            return;
        };
        // Writing to a string cannot fail.
        if line.look == Look::Dots {
            let _ = write!(out, "M{:.1} {:.1}h0", scale.x(high.0), scale.y(high.1));
        } else {
            let mut ends = vec![*low];
            if high != low {
                ends.push(*high);
                ends.sort_by(|one, two| one.0.total_cmp(&two.0));
            }
            for (time_s, value) in ends {
                let order = if out.is_empty() { 'M' } else { 'L' };
                let _ = write!(out, "{order}{:.1} {:.1}", scale.x(time_s), scale.y(value));
            }
        }
        column.clear();
    };
    for point in line.x.iter().copied().zip(line.y.iter().copied()) {
        let at = (share(point.0, scale.from_s, scale.to_s) * COLUMNS as f64) as usize;
        if number.is_some_and(|number| number != at) {
            flush(&mut column);
        }
        number = Some(at);
        column.push(point);
    }
    flush(&mut column);
    out
}
