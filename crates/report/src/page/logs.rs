//! The page of an application log: its problems over time, by rule, template and stack trace, compared with a baseline.

mod content;
mod groups;
mod opening;
mod plots;
mod tables;

use super::bundle::MODEL_VERSION;
use super::document::{Document, Kind};
use super::events::{EventsModel, Part};
use super::markup::{PlotHeight, Section, figure_with};
use super::still::still;
pub use content::{LogBaseline, LogPage};

/// Renders the page of a log.
#[must_use]
pub fn logs_html(page: &LogPage<'_>) -> String {
    let span = Part { from_s: 0.0, to_s: page.log.counts.length_s.unwrap_or(1.0).max(1.0) };
    let mut sections = Vec::new();
    let mut drawn = Vec::new();
    for (id, title, plot, caption) in plots::plots(page) {
        let height = if plot.lines.len() > 3 { PlotHeight::Several } else { PlotHeight::Normal };
        let body = figure_with(plot.plot, height, &caption, &still(&plot, &span));
        sections.push(Section { id, title, body });
        drawn.push(plot);
    }
    if page.log.has_times {
        sections.push(Section { id: "bursts", title: "Bursts", body: tables::bursts(page) });
    }
    sections.push(Section { id: "templates", title: "Templates", body: groups::templates(page) });
    sections.push(Section { id: "traces", title: "Stack traces", body: groups::traces(page) });
    sections.push(Section { id: "rules", title: "Rules and severities", body: tables::rules(page) });
    sections.push(Section { id: "glossary", title: "How to read this", body: tables::glossary(page) });
    let model = EventsModel {
        version: MODEL_VERSION,
        from_s: span.from_s,
        to_s: span.to_s,
        plots: drawn,
        curves: Vec::new(),
    };
    Document {
        kind: Kind::Logs,
        title: &opening::title(page),
        subtitle: &opening::subtitle(page),
        opening: opening::opening(page),
        sections: &sections,
        model: &model,
    }
    .html()
}

#[cfg(test)]
mod tests;
