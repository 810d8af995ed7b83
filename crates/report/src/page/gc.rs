//! The pages of garbage-collection logs: of one log, and of two logs before and after a change.

mod figures;
mod groups;
mod in_run;
mod opening;
mod series;

use busyhour_gclog::GcComparison;
use maud::{Markup, html};

use super::bundle::MODEL_VERSION;
use super::document::{Document, Kind};
use super::events::{EventPlot, EventsModel, Part};
use super::markup::{PlotHeight, Section, figure_with};
use super::still::still;
use crate::gc_words::NamedGcLog;
pub(super) use in_run::gc_in_run;
use series::Side;

/// Renders the page of a log.
#[must_use]
pub fn gc_html(log: &NamedGcLog) -> String {
    let sides = [Side::only(log)];
    let mut page = Page::of(&sides);
    page.sections.push(Section { id: "causes", title: "Causes", body: groups::groups(&sides) });
    page.sections.push(Section { id: "figures", title: "Figures", body: figures::figures(&log.summary) });
    page.sections.push(Section { id: "lines", title: "Lines of the log", body: figures::lines(&sides) });
    page.sections.push(Section { id: "glossary", title: "How to read this", body: figures::glossary() });
    page.html(&opening::title(log), &opening::subtitle(log), opening::opening(log))
}

/// Renders the page of two logs, before and after a change.
#[must_use]
pub fn gc_comparison_html(before: &NamedGcLog, after: &NamedGcLog, comparison: &GcComparison) -> String {
    let sides = Side::both(before, after);
    let mut page = Page::of(&sides);
    let compared =
        Section { id: "figures", title: "Figures", body: figures::compared(before, after, comparison) };
    page.sections.insert(0, compared);
    page.sections.push(Section { id: "causes", title: "Causes", body: groups::groups(&sides) });
    page.sections.push(Section { id: "lines", title: "Lines of the logs", body: figures::lines(&sides) });
    page.sections.push(Section { id: "glossary", title: "How to read this", body: figures::glossary() });
    let title = opening::comparison_title(before, after);
    let subtitle = opening::comparison_subtitle(before, after);
    page.html(&title, &subtitle, opening::comparison_opening(before, after, comparison))
}

/// The sections of a page, with the data of their plots.
struct Page {
    sections: Vec<Section>,
    model: EventsModel,
}

impl Page {
    /// The sections with plots.
    fn of(sides: &[Side<'_>]) -> Page {
        let Part { from_s, to_s } = series::span(sides);
        let mut page = Page {
            sections: Vec::new(),
            model: EventsModel {
                version: MODEL_VERSION,
                from_s,
                to_s,
                plots: Vec::new(),
                curves: Vec::new(),
            },
        };
        page.plot("heap", "Heap", series::heap(sides));
        page.plot("pauses", "Pauses", series::pauses(sides));
        page.curves(sides);
        page.plot("rates", "Allocation and promotion", series::rates(sides));
        page.plot("live", "Live memory", series::live(sides));
        page
    }

    fn plot(&mut self, id: &'static str, title: &'static str, plot: Option<(EventPlot, Markup)>) {
        if let Some((plot, caption)) = plot {
            let height = if plot.lines.len() > 3 { PlotHeight::Several } else { PlotHeight::Normal };
            let part = Part { from_s: self.model.from_s, to_s: self.model.to_s };
            // Browsers without scripts show a picture.
            let body = figure_with(plot.plot, height, &caption, &still(&plot, &part));
            self.sections.push(Section { id, title, body });
            self.model.plots.push(plot);
        }
    }

    fn curves(&mut self, sides: &[Side<'_>]) {
        let curves = series::curves(sides);
        if curves.is_empty() {
            return;
        }
        let caption = html! {
            "How long the pauses took: of 100 pauses, 99 were shorter than the value at p99. Each decade of the slowest \
             part is as wide as the others."
        };
        let body = html! {
            (figure_with("percentiles", PlotHeight::Normal, &caption, &html! {}))
            (groups::percentiles(sides))
        };
        self.sections.push(Section { id: "percentiles", title: "Pauses by percentile", body });
        self.model.curves = curves;
    }

    fn html(&self, title: &str, subtitle: &str, opening: Markup) -> String {
        Document { kind: Kind::Gc, title, subtitle, opening, sections: &self.sections, model: &self.model }
            .html()
    }
}

#[cfg(test)]
mod tests;
