//! The data of pages about logs: plots of events over time. `ui/src/model.ts` declares the same structure.

use serde::Serialize;

/// The data that the script draws.
#[derive(Serialize)]
pub(super) struct EventsModel {
    pub(super) version: u32,
    /// The time that all plots show, s.
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    pub(super) plots: Vec<EventPlot>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) curves: Vec<CurveModel>,
}

/// A plot of events over time.
#[derive(Debug, Serialize)]
pub(super) struct EventPlot {
    /// The name of the figure.
    pub(super) plot: &'static str,
    /// The description of the plot.
    pub(super) name: &'static str,
    /// The unit of all values.
    pub(super) unit: String,
    /// Whether the values differ so much that only a logarithmic axis shows all of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) logarithm: bool,
    /// The time in s that a result covers; the rest is shaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) window: Option<Part>,
    pub(super) lines: Vec<EventLine>,
}

/// A part of the time of a log, in s.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) from_s: f64,
    pub(super) to_s: f64,
}

/// How the points of a line are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Look {
    /// A line through the points.
    Line,
    /// A dashed line.
    Dashed,
    /// A line, with the area below it tinted.
    Area,
    /// A dot at each point.
    Dots,
}

/// The colours of lines, which are defined in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Colour {
    Blue,
    Orange,
    Green,
    Purple,
    Red,
    Soft,
}

impl Colour {
    /// The name in the style sheet.
    pub(super) fn name(self) -> &'static str {
        match self {
            Colour::Blue => "blue",
            Colour::Orange => "orange",
            Colour::Green => "green",
            Colour::Purple => "purple",
            Colour::Red => "red",
            Colour::Soft => "soft",
        }
    }
}

/// Points in the order of time.
#[derive(Debug, Serialize)]
pub(super) struct EventLine {
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) colour: Colour,
    /// Times in s.
    pub(super) x: Vec<f64>,
    /// Values in the unit of the plot.
    pub(super) y: Vec<f64>,
}

impl EventLine {
    /// An empty line.
    pub(super) fn new(name: impl Into<String>, look: Look, colour: Colour) -> EventLine {
        EventLine { name: name.into(), look, colour, x: Vec::new(), y: Vec::new() }
    }

    /// Adds a point. Its time is rounded to 0.1 ms. A point that is not later than the previous one is moved to just
    /// after it.
    pub(super) fn push(&mut self, time_s: f64, value: f64) {
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        let last = self.x.last().copied();
        let time_s = rounded(time_s);
        self.x.push(last.filter(|last| *last >= time_s).map_or(time_s, |last| rounded(last + 1e-4)));
        self.y.push(value);
    }
}

impl EventPlot {
    /// A plot of lines with the values in KiB, which are converted to the largest unit in which the maximum is at least 1.
    pub(super) fn of_kib(
        plot: &'static str,
        name: &'static str,
        per: &str,
        lines: Vec<EventLine>,
    ) -> Option<EventPlot> {
        let mut plot = EventPlot::of(plot, name, lines)?;
        let most = plot.values().fold(0.0, f64::max);
        let (unit, factor) = match most {
            kib if kib >= 10.0 * 1024.0 * 1024.0 => ("GiB", 1024.0 * 1024.0),
            kib if kib >= 1024.0 => ("MiB", 1024.0),
            _ => ("KiB", 1.0),
        };
        plot.unit = format!("{unit}{per}");
        // Three decimals of the unit are more than a plot can show.
        plot.lines
            .iter_mut()
            .flat_map(|line| &mut line.y)
            .for_each(|value| *value = (*value / factor * 1e3).round() / 1e3);
        Some(plot)
    }

    /// A plot of the lines that have points; `None` if there are none.
    pub(super) fn of(plot: &'static str, name: &'static str, mut lines: Vec<EventLine>) -> Option<EventPlot> {
        lines.retain(|line| !line.x.is_empty());
        (!lines.is_empty()).then(|| EventPlot {
            plot,
            name,
            unit: String::new(),
            logarithm: false,
            window: None,
            lines,
        })
    }

    /// All values.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.lines.iter().flat_map(|line| line.y.iter().copied())
    }
}

/// Durations of pauses by percentile.
#[derive(Debug, Serialize)]
pub(super) struct CurveModel {
    pub(super) name: String,
    pub(super) percentile: Vec<f64>,
    pub(super) values_ms: Vec<f64>,
}
