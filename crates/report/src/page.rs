//! `report.html`: a page without external resources.
//!
//! The page contains all texts and tables, so it can be read without its script. The script draws the plots from the model in
//! the page and makes the tables sortable. Its source is in `ui/`; its bundle is checked in.

mod bundle;
mod capacity;
mod closed_load;
mod columns;
mod comparison;
mod document;
mod environment;
mod errors;
mod figures;
mod forest;
mod gc;
mod glossary;
mod labels;
mod live;
mod markup;
mod model;
mod opening;
mod steps;
mod thresholds;
mod tiles;
mod traffic;
mod what_if;

use busyhour_analysis::Summary;

pub use capacity::capacity_html;
pub use comparison::comparison_html;
pub use document::EVENTS_PATH;
pub use gc::{gc_comparison_html, gc_html};
pub use live::{LIVE_WORDS, LivePage, live_html};
pub use what_if::{
    NoSolution, WhatIfClass, WhatIfFound, WhatIfModel, WhatIfPage, WhatIfPoint, WhatIfStation, WhatIfValue,
    what_if_html,
};

use document::{Document, Kind};
use markup::Section;

use crate::run_title::title;

/// The page of a run.
#[must_use]
pub fn html_report(summary: &Summary) -> String {
    let mut sections: Vec<Section> = Vec::new();
    let steps = steps::Steps::of(&summary.series, summary.total.last_end_s);
    sections.push(figures::times(summary, steps.as_ref()));
    sections.push(figures::rate(summary, steps.as_ref()));
    sections.push(opening::key_section(summary));
    sections.push(figures::distribution(summary));
    sections.push(labels::labels(summary));
    sections.extend(labels::groups(summary));
    sections.push(errors::errors(summary));
    sections.push(figures::users(summary, steps.as_ref()));
    sections.push(errors::slowest(summary));
    sections.push(traffic::traffic(summary));
    sections.push(environment::environment(summary));
    sections.push(glossary::glossary(summary));
    let opening = opening::opening(summary, steps.as_ref());
    let model = model::PageModel::of(summary, steps);
    Document {
        kind: Kind::Run,
        title: &title(summary),
        subtitle: &opening::subtitle(summary),
        opening,
        sections: &sections,
        model: &model,
    }
    .html()
}
