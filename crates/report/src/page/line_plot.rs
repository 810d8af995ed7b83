//! A plot of lines without a script.

use maud::{Markup, html};

use crate::numbers::rate;
use crate::terminal_text::{cut, printable};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// Space for the labels of the axes, and for the names of the lines.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 44.0;

/// Space between the names of two lines.
const NAME_HEIGHT: f64 = 15.0;

/// Largest number of lines.
pub(super) const LINES_MAX: usize = 10;

/// Largest number of labels of the x axis.
const LABELS_MAX: usize = 12;

/// Number of characters of names.
const NAME_CHARS: usize = 24;

/// The colours of lines; further lines are dashed.
const COLOURS: [&str; 5] = ["var(--blue)", "var(--orange)", "var(--green)", "var(--purple)", "var(--red)"];

/// If the smallest value is below this share of the largest, the y axis begins with 0.
const ZERO_BELOW: f64 = 0.6;

/// A point of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) value: f64,
    pub(super) interval: Option<(f64, f64)>,
}

/// A line with its name.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
}

/// A plot.
#[derive(Debug, Clone)]
pub(super) struct LinePlot {
    pub(super) x_title: String,
    /// The labels of the x axis with their places.
    pub(super) x_labels: Vec<(f64, String)>,
    pub(super) y_title: String,
    /// Whether the y axis is logarithmic.
    pub(super) is_logarithmic: bool,
    /// Whether a y axis that is not logarithmic begins with 0. Otherwise it does if a value is near 0.
    pub(super) starts_at_zero: bool,
    pub(super) lines: Vec<Line>,
    /// Follows the titles in the caption.
    pub(super) note: String,
}

/// The range of an axis, and its length on the page.
struct Axis {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Axis {
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.is_logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }

    /// Places of labels.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let exponents = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let steps: &[f64] = if exponents.clone().count() > 4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let all =
                exponents.flat_map(|exponent| steps.iter().map(move |step| step * 10_f64.powi(exponent)));
            return all.filter(|tick| (self.low..=self.high).contains(tick)).collect();
        }
        let rough = (self.high - self.low) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil();
        (0..10)
            .map(|at| (first + f64::from(at)) * step)
            .take_while(|tick| *tick <= self.high * (1.0 + 1e-9))
            .collect()
    }
}

impl LinePlot {
    /// The axes; `None` if there is nothing to plot.
    fn axes(&self) -> Option<(Axis, Axis)> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let values = points().flat_map(|point| {
            let ends = point.interval.map(|(low, high)| [low, high]);
            ends.into_iter().flatten().chain([point.value])
        });
        let usable = values.filter(|value| value.is_finite() && (!self.is_logarithmic || *value > 0.0));
        let (low, high) = range(usable)?;
        let (x_low, x_high) = range(points().map(|point| point.x))?;
        let y = match self.is_logarithmic {
            true if high > low => Axis { low, high, is_logarithmic: true },
            true => Axis { low: low / 2.0, high: high * 2.0, is_logarithmic: true },
            false => {
                let margin = if high > low { 0.05 * (high - low) } else { 0.1 * high.abs().max(1.0) };
                let from_zero =
                    (self.starts_at_zero && low >= 0.0) || (0.0..ZERO_BELOW * high).contains(&low);
                let low = if from_zero { 0.0 } else { low - margin };
                Axis { low, high: high + margin, is_logarithmic: false }
            }
        };
        let x = if x_high > x_low { (x_low, x_high) } else { (x_low - 1.0, x_high + 1.0) };
        Some((Axis { low: x.0, high: x.1, is_logarithmic: false }, y))
    }

    /// Draws the plot.
    pub(super) fn figure(&self) -> Markup {
        let Some((x_axis, y_axis)) = self.axes() else { return html! {} };
        let x = |value: f64| LEFT + x_axis.share(value) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - y_axis.share(value).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
        let names = self.name_places(&y);
        let every = self.x_labels.len().div_ceil(LABELS_MAX).max(1);
        html! {
            figure {
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) role="img"
                    aria-label={ (printable(&self.y_title)) " over " (printable(&self.x_title)) "; the numbers are in the tables" }
                {
                    @for tick in y_axis.ticks() {
                        line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(at(y(tick))) y2=(at(y(tick))) stroke="var(--rule)" {}
                        text x=(LEFT - 8.0) y=(at(y(tick) + 4.0)) text-anchor="end" font-size="12" fill="currentColor" { (tick_text(tick)) }
                    }
                    @for (place, label) in self.x_labels.iter().step_by(every) {
                        text x=(at(x(*place))) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" font-size="12" fill="currentColor" {
                            (cut(&printable(label), NAME_CHARS))
                        }
                    }
                    text x=(at((LEFT + WIDTH - RIGHT) / 2.0)) y=(HEIGHT - 8.0) text-anchor="middle" font-size="12" fill="currentColor" {
                        (printable(&self.x_title))
                    }
                    @for (number, line) in self.lines.iter().take(LINES_MAX).enumerate() {
                        (draw(line, number, &x, &y))
                        @if let Some(last) = line.points.last() {
                            text x=(at(x(last.x) + 10.0)) y=(at(names[number] + 4.0)) font-size="12" fill=(COLOURS[number % COLOURS.len()]) {
                                (cut(&printable(&line.name), NAME_CHARS))
                            }
                        }
                    }
                }
                figcaption { (printable(&self.y_title)) " over " (printable(&self.x_title)) (printable(&self.note)) }
            }
        }
    }

    /// The heights of the names, which are drawn next to the last points and must not overlap.
    fn name_places(&self, y: &dyn Fn(f64) -> f64) -> Vec<f64> {
        let ends: Vec<f64> = self
            .lines
            .iter()
            .take(LINES_MAX)
            .map(|line| line.points.last().map_or(TOP, |point| y(point.value)))
            .collect();
        let mut order: Vec<usize> = (0..ends.len()).collect();
        order.sort_by(|one, other| ends[*one].total_cmp(&ends[*other]));
        let mut places = ends.clone();
        let mut above = f64::NEG_INFINITY;
        for at in order {
            places[at] = ends[at].max(above + NAME_HEIGHT);
            above = places[at];
        }
        // Names below the bottom move up together.
        let beyond = above - (HEIGHT - 6.0);
        if beyond > 0.0 { places.iter().map(|place| place - beyond).collect() } else { places }
    }
}

fn draw(line: &Line, number: usize, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> Markup {
    let colour = COLOURS[number % COLOURS.len()];
    let dash = (number >= COLOURS.len()).then_some("5 3");
    let path: Vec<String> =
        line.points.iter().map(|point| format!("{:.1},{:.1}", x(point.x), y(point.value))).collect();
    html! {
        polyline points=(path.join(" ")) fill="none" stroke=(colour) stroke-width="2" stroke-dasharray=[dash] {}
        @for point in &line.points {
            @if let Some((low, high)) = point.interval {
                line x1=(at(x(point.x))) x2=(at(x(point.x))) y1=(at(y(low))) y2=(at(y(high))) stroke=(colour) stroke-opacity="0.6" {}
            }
            circle cx=(at(x(point.x))) cy=(at(y(point.value))) r="3" fill=(colour) {}
        }
    }
}

fn at(value: f64) -> String {
    format!("{value:.1}")
}

fn tick_text(tick: f64) -> String {
    if tick == 0.0 || (tick.abs() >= 10.0 && tick.abs() < 1e6) {
        format!("{tick:.0}")
    } else if tick.abs() < 0.1 {
        format!("{tick}")
    } else {
        rate(tick)
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    (low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_axis() {
        let axis = |low, high, is_logarithmic| Axis { low, high, is_logarithmic };
        assert_eq!(axis(0.0, 10.0, false).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(axis(93.0, 117.0, false).ticks(), [95.0, 100.0, 105.0, 110.0, 115.0]);
        assert_eq!(axis(3.0, 60.0, true).ticks(), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(axis(0.5, 2e5, true).ticks(), [1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0]);
    }

    #[test]
    fn names_do_not_overlap_and_stay_on_the_plot() {
        let line = |value: f64| Line {
            name: format!("{value}"),
            points: vec![Point { x: 1.0, value, interval: None }],
        };
        let lines: Vec<Line> = (0..LINES_MAX).map(|_| line(1.0)).collect();
        let plot = LinePlot {
            x_title: String::new(),
            x_labels: Vec::new(),
            y_title: String::new(),
            is_logarithmic: false,
            starts_at_zero: false,
            lines,
            note: String::new(),
        };
        let mut places = plot.name_places(&|_| HEIGHT - BOTTOM);
        places.sort_by(f64::total_cmp);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT - 1e-9), "{places:?}");
        assert!(places[0] > 0.0 && places[LINES_MAX - 1] < HEIGHT);
        assert!(plot.figure().into_string().contains("<polyline"));
    }
}
