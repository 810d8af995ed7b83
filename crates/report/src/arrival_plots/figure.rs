//! A plot of numbers over numbers, as a separate SVG file or as part of a page.

use std::fmt::Write as _;

use maud::html;

use super::scale::{scale, tick};
use crate::terminal_text::printable;

/// Text in SVG.
fn escape(text: &str) -> String {
    html! { (printable(text)) }.into_string()
}

/// How a layer's points are drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mark {
    /// Bars of this width in units of x, around their places.
    Bars(f64),
    /// A line through the points.
    Line,
    /// A line through dots.
    Dots,
}

/// One set of points.
pub(super) struct Layer {
    /// In the legend.
    pub(super) name: String,
    /// Class that gives its colour.
    pub(super) class: &'static str,
    pub(super) mark: Mark,
    /// Ascending by x.
    pub(super) points: Vec<(f64, f64)>,
}

/// A plot. The y axis begins at 0.
pub(super) struct Figure {
    pub(super) title: String,
    /// The key figures, shown in the title of a separate file.
    pub(super) measure: Option<String>,
    pub(super) x_title: &'static str,
    pub(super) y_title: &'static str,
    pub(super) x_from: f64,
    pub(super) x_to: f64,
    /// Whether only whole numbers mean something on the x axis.
    pub(super) x_whole: bool,
    pub(super) layers: Vec<Layer>,
    /// A level that the points are compared with, and what it is.
    pub(super) level: Option<(f64, &'static str)>,
}

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 348.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 46.0;

/// What an SVG needs that has no page around it: the report's colours.
const STYLE: &str = "text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;fill:#5d6878}\
    .title{font-size:15px;font-weight:600;fill:#1b2330}.of{font-size:12px;font-weight:400;fill:#5d6878}.page{fill:#fff}.grid{stroke:#e3e7ed}\
    .line{fill:none;stroke-width:1.8;stroke-linejoin:round}.a{stroke:#2f6fdf}.b{stroke:#e08a1e}.level{stroke:#5d6878;\
    stroke-dasharray:5 4}.bar{stroke:none;fill:#2f6fdf;fill-opacity:.38}.dot{stroke:none}.dot.a{fill:#2f6fdf}.dot.b{fill:#e08a1e}\
    .hover{fill:transparent}\
    @media (prefers-color-scheme:dark){text{fill:#98a4b5}.title{fill:#e7ebf1}.of{fill:#98a4b5}.page{fill:#1a2029}\
    .grid{stroke:#2c3542}.a{stroke:#6ea3ff}.b{stroke:#ffb454}.level{stroke:#98a4b5}.bar{fill:#6ea3ff}\
    .dot.a{fill:#6ea3ff}.dot.b{fill:#ffb454}}";

impl Figure {
    /// A separate file; `of` names the data.
    pub(super) fn svg(&self, of: &str) -> String {
        let measure = self.measure.iter().map(|measure| format!(" · {measure}")).collect::<String>();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" role=\"img\" aria-label=\"{0}\">\n<style>{STYLE}</style>\
             <rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\
             <text class=\"title\" x=\"14\" y=\"24\">{0}<tspan class=\"of\" dx=\"12\">{2}{3}</tspan></text>\n{1}</svg>\n",
            escape(&self.title),
            self.drawing(),
            escape(of),
            escape(&measure)
        )
    }

    /// For a page, which has a heading for the plot.
    pub(super) fn inline(&self) -> String {
        format!(
            "<svg viewBox=\"0 30 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            HEIGHT - 30.0,
            escape(&self.title),
            self.drawing()
        )
    }

    fn drawing(&self) -> String {
        let values = self.layers.iter().flat_map(|layer| &layer.points).map(|(_, y)| *y);
        let most = values.chain(self.level.map(|(y, _)| y)).filter(|y| y.is_finite()).fold(0.0, f64::max);
        let (top, step) = scale(most);
        let x_at = |x: f64| {
            LEFT + (x - self.x_from) / (self.x_to - self.x_from).max(1e-300) * (WIDTH - LEFT - RIGHT)
        };
        let y_at = |y: f64| HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM);
        let mut out = String::new();
        self.axes(&mut out, (top, step), &x_at, &y_at);
        for layer in &self.layers {
            layer.draw(&mut out, &x_at, &y_at);
        }
        if let Some((y, name)) = self.level {
            let at = y_at(y);
            let _ = writeln!(
                out,
                "<line class=\"level\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"unit\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                WIDTH - RIGHT - 4.0,
                at + 15.0,
                escape(name)
            );
        }
        self.legend(&mut out);
        out
    }

    fn axes(
        &self,
        out: &mut String,
        (top, step): (f64, f64),
        x_at: &impl Fn(f64) -> f64,
        y_at: &impl Fn(f64) -> f64,
    ) {
        let floor = HEIGHT - BOTTOM;
        for n in 0..=(top / step).round() as u32 {
            let (y, at) = (f64::from(n) * step, y_at(f64::from(n) * step));
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"tick\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                at + 4.0,
                tick(y, step)
            );
        }
        // The x axis has space for twice as many ticks as the y axis.
        let (_, mut step) = scale((self.x_to - self.x_from) / 2.0);
        if self.x_whole && step.fract() != 0.0 {
            step = if step > 1.0 { step * 2.0 } else { 1.0 };
        }
        let first = (self.x_from / step - 1e-9).ceil() as i64;
        for x in (first..).map(|n| n as f64 * step).take_while(|x| *x <= self.x_to * (1.0 + 1e-9)) {
            let at = x_at(x);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{floor:.0}\" y2=\"{:.0}\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
                floor + 5.0,
                floor + 19.0,
                tick(x, step)
            );
        }
        let _ = writeln!(
            out,
            "<text class=\"unit\" x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>\
             <text class=\"unit\" x=\"14\" y=\"{:.0}\">{}</text>",
            WIDTH - RIGHT,
            HEIGHT - 8.0,
            escape(self.x_title),
            TOP - 10.0,
            escape(self.y_title)
        );
    }

    fn legend(&self, out: &mut String) {
        let mut right = WIDTH - RIGHT;
        for layer in self.layers.iter().rev() {
            right -= 30.0 + layer.name.chars().count() as f64 * 6.3;
            let (x, y) = (right, TOP - 14.0);
            let _ = match layer.mark {
                Mark::Bars(_) => write!(
                    out,
                    "<rect class=\"bar {}\" x=\"{x:.0}\" y=\"{:.0}\" width=\"14\" height=\"10\"/>",
                    layer.class,
                    y - 5.0
                ),
                Mark::Line | Mark::Dots => write!(
                    out,
                    "<line class=\"line {}\" x1=\"{x:.0}\" x2=\"{:.0}\" y1=\"{y:.0}\" y2=\"{y:.0}\"/>",
                    layer.class,
                    x + 14.0
                ),
            };
            let _ = writeln!(
                out,
                "<text class=\"unit\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
                x + 19.0,
                y + 4.0,
                escape(&layer.name)
            );
        }
    }
}

impl Layer {
    fn draw(&self, out: &mut String, x_at: &impl Fn(f64) -> f64, y_at: &impl Fn(f64) -> f64) {
        if let Mark::Bars(width) = self.mark {
            for (x, y) in &self.points {
                let (left, right, top) = (x_at(x - width / 2.0), x_at(x + width / 2.0), y_at(*y));
                // A narrow gap between bars, if there is space.
                let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
                let _ = writeln!(
                    out,
                    "<rect class=\"bar {}\" x=\"{:.2}\" y=\"{top:.1}\" width=\"{:.2}\" height=\"{:.1}\">\
                     <title>{}: {}</title></rect>",
                    self.class,
                    left + gap / 2.0,
                    (right - left - gap).max(0.3),
                    y_at(0.0) - top,
                    shown(*x),
                    shown(*y)
                );
            }
            return;
        }
        let mut path = String::new();
        for (at, (x, y)) in self.points.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if at == 0 { 'M' } else { 'L' }, x_at(*x), y_at(*y));
        }
        let _ = writeln!(out, "<path class=\"line {}\" d=\"{path}\"/>", self.class);
        if self.mark == Mark::Dots {
            for (x, y) in &self.points {
                let _ = writeln!(
                    out,
                    "<circle class=\"dot {}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}: {}</title></circle>",
                    self.class,
                    x_at(*x),
                    y_at(*y),
                    shown(*x),
                    shown(*y)
                );
            }
        }
    }
}

/// Four digits that matter.
fn shown(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
