//! Plots as inline SVG.

use std::fmt::Write as _;

use crate::numbers::{clock, ms, rate};

/// A line of a plot.
pub(crate) struct Line<'d> {
    /// In the legend.
    pub(crate) name: &'static str,
    /// Class that gives its colour.
    pub(crate) class: &'static str,
    /// One value per place of the x axis; `NaN` where there is none.
    pub(crate) values: &'d [f64],
    /// Whether the area below is filled.
    pub(crate) filled: bool,
}

/// How the places of the x axis are read.
#[derive(Clone, Copy)]
pub(crate) enum Axis {
    /// Seconds of the run.
    Seconds,
    /// Percentiles, spaced by the decimal logarithm of what lies beyond.
    Percentiles,
}

/// A plot.
pub(crate) struct Chart<'d> {
    /// What is on the y axis, with its unit.
    pub(crate) unit: &'static str,
    pub(crate) axis: Axis,
    /// Places on the x axis, ascending.
    pub(crate) x: &'d [f64],
    pub(crate) lines: Vec<Line<'d>>,
}

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 30.0;

impl Chart<'_> {
    /// The SVG element.
    pub(crate) fn svg(&self) -> String {
        let seen = self.lines.iter().flat_map(|line| line.values).copied().filter(|v| v.is_finite());
        let most = seen.fold(0.0, f64::max);
        let (top, step) = scale(most);
        let (x_from, x_to) = self.x_range();
        let x_at =
            |x: f64| LEFT + (self.place(x) - x_from) / (x_to - x_from).max(1e-9) * (WIDTH - LEFT - RIGHT);
        let y_at = |y: f64| HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM);

        let mut out =
            format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">", self.unit);
        let mut y = 0.0;
        while y <= top * 1.0001 {
            let at = y_at(y);
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"tick\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                at + 4.0,
                tick(y, step)
            );
            y += step;
        }
        for (x, text) in self.x_ticks() {
            let at = x_at(x);
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.0}\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{text}</text>",
                HEIGHT - BOTTOM,
                HEIGHT - BOTTOM + 18.0
            );
        }
        let _ = write!(out, "<text class=\"unit\" x=\"4\" y=\"14\">{}</text>", self.unit);
        self.legend(&mut out);
        for line in &self.lines {
            line.draw(self.x, &x_at, &y_at, &mut out);
        }
        self.hover(&x_at, &mut out);
        out.push_str("</svg>");
        out
    }

    fn legend(&self, out: &mut String) {
        let mut right = WIDTH - RIGHT;
        for line in self.lines.iter().rev() {
            let width = 26.0 + line.name.len() as f64 * 6.6;
            right -= width;
            let _ = write!(
                out,
                "<line class=\"line {}\" x1=\"{:.0}\" x2=\"{:.0}\" y1=\"10\" y2=\"10\"/>\
                 <text class=\"unit\" x=\"{:.0}\" y=\"14\">{}</text>",
                line.class,
                right,
                right + 14.0,
                right + 18.0,
                line.name
            );
        }
    }

    /// Invisible strips that tell the values below the pointer.
    fn hover(&self, x_at: &impl Fn(f64) -> f64, out: &mut String) {
        for (at, x) in self.x.iter().enumerate() {
            let middle = x_at(*x);
            let half = |other: Option<&f64>| other.map_or(1.0, |other| (x_at(*other) - middle).abs() / 2.0);
            let before = if at == 0 { 0.0 } else { half(self.x.get(at - 1)) };
            let after = if at + 1 == self.x.len() { 0.0 } else { half(self.x.get(at + 1)) };
            let mut title = match self.axis {
                Axis::Seconds => clock(*x as u64),
                Axis::Percentiles => format!("p{}", trimmed(*x)),
            };
            for line in &self.lines {
                if let Some(value) = line.values.get(at).filter(|value| value.is_finite()) {
                    let _ = write!(title, "\n{}: {}", line.name, number(*value));
                }
            }
            let _ = write!(
                out,
                "<rect class=\"hover\" x=\"{:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.0}\"><title>{title}</title></rect>",
                middle - before,
                (before + after).max(1.0),
                HEIGHT - TOP - BOTTOM
            );
        }
    }

    /// Where a value lies along the axis.
    fn place(&self, x: f64) -> f64 {
        match self.axis {
            Axis::Seconds => x,
            // The last point, the maximum, stands half a decade behind the one before it.
            Axis::Percentiles if x >= 100.0 => self.last_decade() + 0.5,
            Axis::Percentiles => 2.0 - (100.0 - x).log10(),
        }
    }

    fn last_decade(&self) -> f64 {
        let last = self.x.iter().copied().filter(|x| *x < 100.0).fold(0.0, f64::max);
        2.0 - (100.0 - last).log10()
    }

    fn x_range(&self) -> (f64, f64) {
        let first = self.x.first().map_or(0.0, |x| self.place(*x));
        let last = self.x.last().map_or(1.0, |x| self.place(*x));
        (first, last.max(first + 1e-9))
    }

    fn x_ticks(&self) -> Vec<(f64, String)> {
        match self.axis {
            Axis::Percentiles => {
                let known = [0.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 99.999, 99.9999];
                let last = self.x.iter().copied().filter(|x| *x < 100.0).fold(0.0, f64::max);
                let mut ticks: Vec<_> = known
                    .into_iter()
                    .filter(|x| *x <= last)
                    .map(|x| (x, format!("p{}", trimmed(x))))
                    .collect();
                if self.x.last().is_some_and(|x| *x >= 100.0) {
                    ticks.push((100.0, "max".into()));
                }
                ticks
            }
            Axis::Seconds => {
                let (from, to) = self.x_range();
                let steps = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0];
                let step = steps.into_iter().find(|step| (to - from) / step <= 10.0);
                let step = step.unwrap_or_else(|| ((to - from) / 10.0 / 3600.0).ceil() * 3600.0);
                let first = (from / step).ceil() as u64;
                (first..)
                    .map(|n| n as f64 * step)
                    .take_while(|x| *x <= to)
                    .map(|x| (x, if to < 120.0 { format!("{x:.0} s") } else { clock(x as u64) }))
                    .collect()
            }
        }
    }
}

impl Line<'_> {
    fn draw(&self, x: &[f64], x_at: &impl Fn(f64) -> f64, y_at: &impl Fn(f64) -> f64, out: &mut String) {
        let points: Vec<(f64, f64)> = x
            .iter()
            .zip(self.values)
            .map(|(x, y)| (x_at(*x), if y.is_finite() { y_at(*y) } else { f64::NAN }))
            .collect();
        for part in points.split(|(_, y)| y.is_nan()).filter(|part| !part.is_empty()) {
            let mut path = String::new();
            for (at, (x, y)) in part.iter().enumerate() {
                let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
            }
            if let ([(x, y)], false) = (part, self.filled) {
                let _ =
                    write!(out, "<circle class=\"dot {}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\"/>", self.class);
            }
            if self.filled {
                let (first, last) = (part[0].0, part[part.len() - 1].0);
                let floor = y_at(0.0);
                let _ = write!(
                    out,
                    "<path class=\"area {}\" d=\"{path}L{last:.1} {floor:.1}L{first:.1} {floor:.1}Z\"/>",
                    self.class
                );
            }
            let _ = write!(out, "<path class=\"line {}\" d=\"{path}\"/>", self.class);
        }
    }
}

/// A round upper end of an axis that holds `most`, and the distance of its ticks.
pub(crate) fn scale(most: f64) -> (f64, f64) {
    if most <= 0.0 || !most.is_finite() {
        return (1.0, 0.5);
    }
    let rough = most / 4.0;
    let decade = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * decade >= rough * 0.999).unwrap_or(10.0);
    let step = factor * decade;
    ((most / step).ceil() * step, step)
}

/// A tick's text, on an axis with ticks every `step`.
pub(crate) fn tick(value: f64, step: f64) -> String {
    if step >= 1.0 {
        return rate(value).trim_end_matches(".0").to_owned();
    }
    let places = (-step.log10()).ceil().max(0.0) as usize + usize::from(step.to_string().ends_with("25"));
    format!("{value:.places$}")
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e15 { crate::numbers::thousands(value as u64) } else { ms(value) }
}

/// A percentile without the noise of its last digits.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.5}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(scale(0.0), (1.0, 0.5));
        assert_eq!(scale(404.0), (600.0, 200.0));
        assert_eq!(scale(1000.0), (1000.0, 250.0));
        let (top, step) = scale(0.07);
        assert!(top >= 0.07 && (top / step).fract() < 1e-6 && tick(step, step) == "0.02");
    }

    #[test]
    fn a_plot_has_gaps_where_there_are_no_values() {
        let values = [1.0, 2.0, f64::NAN, 3.0];
        let x = [0.0, 1.0, 2.0, 3.0];
        let line = Line { name: "n", class: "a", values: &values, filled: false };
        let svg = Chart { unit: "u", axis: Axis::Seconds, x: &x, lines: vec![line] }.svg();
        assert_eq!(svg.matches("<path").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(!svg.contains("NaN"));
    }
}
