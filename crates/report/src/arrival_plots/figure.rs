//! A plot with numeric axes, as a separate SVG file or as a part of a page.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use super::scale::{scale, tick};
use crate::terminal_text::printable;

/// How a layer's points are drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mark {
    /// Bars of this width in units of x, centred on their points.
    Bars(f64),
    /// A line through the points.
    Line,
    /// A line with dots at the points.
    Dots,
}

/// One set of points.
pub(super) struct Layer {
    /// Name in the legend.
    pub(super) name: String,
    /// CSS class that determines its colour.
    pub(super) class: &'static str,
    pub(super) mark: Mark,
    /// The points in ascending order of x.
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
    /// Whether the x axis has only whole numbers.
    pub(super) x_whole: bool,
    pub(super) layers: Vec<Layer>,
    /// A horizontal line for comparison: its value and its name.
    pub(super) level: Option<(f64, &'static str)>,
}

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 348.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 46.0;

/// The styles of a separate SVG file, which cannot use those of a page: the colours of the report.
const STYLE: &str = "text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;fill:#5d6878}\
    .title{font-size:15px;font-weight:600;fill:#1b2330}.of{font-size:12px;font-weight:400;fill:#5d6878}.page{fill:#fff}.grid{stroke:#e3e7ed}\
    .line{fill:none;stroke-width:1.8;stroke-linejoin:round}.a{stroke:#2f6fdf}.b{stroke:#e08a1e}.level{stroke:#5d6878;\
    stroke-dasharray:5 4}.bar{stroke:none;fill:#2f6fdf;fill-opacity:.38}.dot{stroke:none}.dot.a{fill:#2f6fdf}.dot.b{fill:#e08a1e}\
    .hover{fill:transparent}\
    @media (prefers-color-scheme:dark){text{fill:#98a4b5}.title{fill:#e7ebf1}.of{fill:#98a4b5}.page{fill:#1a2029}\
    .grid{stroke:#2c3542}.a{stroke:#6ea3ff}.b{stroke:#ffb454}.level{stroke:#98a4b5}.bar{fill:#6ea3ff}\
    .dot.a{fill:#6ea3ff}.dot.b{fill:#ffb454}}";

impl Figure {
    /// Renders a separate file; `of` is the name of the data.
    pub(super) fn svg(&self, of: &str) -> String {
        let title = printable(&self.title);
        let file = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT)
                role="img" aria-label=(title)
            {
                style { (PreEscaped(STYLE)) }
                rect.page width=(WIDTH) height=(HEIGHT) {}
                text.title x="14" y="24" {
                    (title)
                    tspan.of dx="12" {
                        (printable(of))
                        @if let Some(measure) = &self.measure { " · " (printable(measure)) }
                    }
                }
                (self.drawing())
            }
            "\n"
        };
        file.into_string()
    }

    /// Renders the plot for a page. The page has a heading for the plot.
    pub(super) fn inline(&self) -> Markup {
        html! {
            svg viewBox={ "0 30 " (WIDTH) " " (HEIGHT - 30.0) } role="img" aria-label=(printable(&self.title)) {
                (self.drawing())
            }
        }
    }

    fn drawing(&self) -> Markup {
        let values = self.layers.iter().flat_map(|layer| &layer.points).map(|(_, y)| *y);
        let most = values.chain(self.level.map(|(y, _)| y)).filter(|y| y.is_finite()).fold(0.0, f64::max);
        let (top, step) = scale(most);
        let x_at = |x: f64| {
            LEFT + (x - self.x_from) / (self.x_to - self.x_from).max(1e-300) * (WIDTH - LEFT - RIGHT)
        };
        let y_at = |y: f64| HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM);
        let right = WIDTH - RIGHT;
        html! {
            (self.axes((top, step), &x_at, &y_at))
            @for layer in &self.layers { (layer.draw(&x_at, &y_at)) }
            @if let Some((y, name)) = self.level {
                @let at = tenths(y_at(y));
                line.level x1=(LEFT) x2=(whole(right)) y1=(at) y2=(at) {}
                text.unit x=(whole(right - 4.0)) y=(tenths(y_at(y) + 15.0)) text-anchor="end" { (name) }
            }
            (self.legend())
        }
    }

    fn axes(
        &self,
        (top, step): (f64, f64),
        x_at: &impl Fn(f64) -> f64,
        y_at: &impl Fn(f64) -> f64,
    ) -> Markup {
        let floor = HEIGHT - BOTTOM;
        let levels = (0..=(top / step).round() as u32).map(|n| f64::from(n) * step);
        // The x axis has space for twice as many ticks as the y axis.
        let (_, mut x_step) = scale((self.x_to - self.x_from) / 2.0);
        if self.x_whole && x_step.fract() != 0.0 {
            x_step = if x_step > 1.0 { x_step * 2.0 } else { 1.0 };
        }
        let first = (self.x_from / x_step - 1e-9).ceil() as i64;
        let places = (first..).map(|n| n as f64 * x_step).take_while(|x| *x <= self.x_to * (1.0 + 1e-9));
        html! {
            @for y in levels {
                @let at = tenths(y_at(y));
                line.grid x1=(LEFT) x2=(whole(WIDTH - RIGHT)) y1=(at) y2=(at) {}
                text.tick x=(whole(LEFT - 8.0)) y=(tenths(y_at(y) + 4.0)) text-anchor="end" { (tick(y, step)) }
            }
            @for x in places {
                @let at = tenths(x_at(x));
                line.grid x1=(at) x2=(at) y1=(whole(floor)) y2=(whole(floor + 5.0)) {}
                text.tick x=(at) y=(whole(floor + 19.0)) text-anchor="middle" { (tick(x, x_step)) }
            }
            text.unit x=(whole(WIDTH - RIGHT)) y=(whole(HEIGHT - 8.0)) text-anchor="end" { (self.x_title) }
            text.unit x="14" y=(whole(TOP - 10.0)) { (self.y_title) }
        }
    }

    fn legend(&self) -> Markup {
        let mut x = WIDTH - RIGHT;
        let y = TOP - 14.0;
        let mut placed: Vec<(f64, &Layer)> = Vec::new();
        for layer in self.layers.iter().rev() {
            x -= 30.0 + layer.name.chars().count() as f64 * 6.3;
            placed.push((x, layer));
        }
        html! {
            @for (x, layer) in placed {
                @match layer.mark {
                    Mark::Bars(_) => {
                        rect class={ "bar " (layer.class) } x=(whole(x)) y=(whole(y - 5.0)) width="14" height="10" {}
                    }
                    Mark::Line | Mark::Dots => {
                        line class={ "line " (layer.class) } x1=(whole(x)) x2=(whole(x + 14.0)) y1=(whole(y))
                            y2=(whole(y)) {}
                    }
                }
                text.unit x=(whole(x + 19.0)) y=(whole(y + 4.0)) { (printable(&layer.name)) }
            }
        }
    }
}

impl Layer {
    fn draw(&self, x_at: &impl Fn(f64) -> f64, y_at: &impl Fn(f64) -> f64) -> Markup {
        if let Mark::Bars(width) = self.mark {
            return html! { @for point in &self.points { (self.bar(*point, width, x_at, y_at)) } };
        }
        let mut path = String::new();
        for (at, (x, y)) in self.points.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if at == 0 { 'M' } else { 'L' }, x_at(*x), y_at(*y));
        }
        html! {
            path class={ "line " (self.class) } d=(path) {}
            @if self.mark == Mark::Dots {
                @for (x, y) in &self.points {
                    circle class={ "dot " (self.class) } cx=(tenths(x_at(*x))) cy=(tenths(y_at(*y))) r="3" {
                        title { (shown(*x)) ": " (shown(*y)) }
                    }
                }
            }
        }
    }

    fn bar(
        &self,
        (x, y): (f64, f64),
        width: f64,
        x_at: &impl Fn(f64) -> f64,
        y_at: &impl Fn(f64) -> f64,
    ) -> Markup {
        let (left, right, top) = (x_at(x - width / 2.0), x_at(x + width / 2.0), y_at(y));
        // Leaves a narrow gap between bars if there is space.
        let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
        html! {
            rect class={ "bar " (self.class) } x=(format_args!("{:.2}", left + gap / 2.0)) y=(tenths(top))
                width=(format_args!("{:.2}", (right - left - gap).max(0.3))) height=(tenths(y_at(0.0) - top))
            {
                title { (shown(x)) ": " (shown(y)) }
            }
        }
    }
}

/// Formats a coordinate with one decimal.
fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// Formats a coordinate without decimals.
fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// Formats a number with four significant digits.
fn shown(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
