//! `report.html`: a page without external resources.
//!
//! The page contains all texts and tables, so it can be read without its script. The script draws the plots from the model in
//! the page and makes the tables sortable. Its source is in `ui/`; its bundle is checked in.

mod agents;
mod bundle;
mod capacity;
mod closed_load;
mod columns;
mod comparison;
mod document;
mod environment;
mod errors;
mod events;
mod experiment;
mod experiment_plots;
mod explanation;
mod figures;
mod flame_graph;
mod forest;
mod gc;
mod glossary;
mod labels;
mod largest_load;
mod leak;
mod line_plot;
mod live;
mod logs;
mod markup;
mod model;
mod opening;
mod percentiles;
mod plain;
mod server_log;
mod spark;
mod stacks;
mod steps;
mod still;
mod system;
mod thresholds;
mod tiles;
mod traffic;
mod what_if;

use busyhour_analysis::Summary;
use busyhour_results::SystemRecord;

pub use capacity::capacity_html;
pub use comparison::comparison_html;
pub use document::EVENTS_PATH;
pub use experiment::experiment_html;
pub use gc::{gc_comparison_html, gc_html};
pub use largest_load::largest_load_html;
pub use leak::{leak_html, memory_html};
pub use live::{LIVE_TEXT_IDS, LivePage, live_html};
pub use logs::{LogBaseline, LogPage, logs_html};
pub use percentiles::percentiles_html;
pub use what_if::{
    NoSolution, WhatIfClass, WhatIfFound, WhatIfModel, WhatIfPage, WhatIfPoint, WhatIfStation, WhatIfValue,
    what_if_html,
};

use maud::html;

use document::{Document, Kind};
use markup::Section;

use crate::run_title::title;

/// The page of a run without the section on the observed system.
#[must_use]
pub fn html_report(summary: &Summary) -> String {
    html_report_with_system(summary, None)
}

/// The page of a run, with the observations of the system.
#[must_use]
pub fn html_report_with_system(summary: &Summary, system: Option<&SystemRecord>) -> String {
    let mut sections: Vec<Section> = Vec::new();
    let steps = steps::Steps::of(&summary.series, summary.total.last_end_s);
    sections.push(with_legend(figures::times(summary, steps.as_ref()), system));
    sections.push(figures::rate(summary, steps.as_ref()));
    sections.extend(stacks::stacks(summary));
    sections.extend(server_log::server_log(summary));
    sections.push(opening::key_section(summary));
    sections.push(figures::distribution(summary));
    sections.push(labels::labels(summary));
    sections.extend(labels::groups(summary));
    sections.push(errors::errors(summary));
    sections.push(figures::users(summary, steps.as_ref()));
    sections.push(errors::slowest(summary));
    sections.extend(system.map(|record| system::system(summary, record)));
    sections.push(traffic::traffic(summary));
    sections.extend(agents::agents(summary));
    sections.push(environment::environment(summary));
    sections.push(glossary::glossary(summary));
    let opening = opening::opening(summary, steps.as_ref());
    let model = model::PageModel::of(summary, steps, system);
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

/// The page of an observation without a run. `summary` has no requests, only the figures of the system.
#[must_use]
pub fn observation_html(summary: &Summary, record: &SystemRecord) -> String {
    let sections = [system::system(summary, record)];
    let host = match record.hostname.as_str() {
        "" => "System under test".to_owned(),
        host => format!("System under test: {}", crate::terminal_text::printable(host)),
    };
    let model = model::PageModel::of(summary, None, Some(record));
    Document {
        kind: Kind::Run,
        title: &host,
        subtitle: "Observed without a run of Busyhour",
        opening: html! { (opening::neighbours(summary)) p { "Figures per request are unavailable, because no requests of a run were recorded." } },
        sections: &sections,
        model: &model,
    }
    .html()
}

/// Adds the key of the marks of the observed system to a section with a plot.
fn with_legend(section: Section, record: Option<&SystemRecord>) -> Section {
    match record {
        Some(record) => Section { body: html! { (section.body) (system::legend(record)) }, ..section },
        None => section,
    }
}
