//! The plots of each resource. A table below each plot contains the figures of its lines and is also the legend.

use busyhour_results::{Panel, PanelLine, Resource, SystemRecord};
use maud::{Markup, html};

use super::colours::line_class;
use super::model::panel_scale;
use super::static_plot::{StaticFrame, static_marks, static_plot};
use crate::terminal_text::{printable, shown_text};

/// Maximum number of characters of a line's name.
const NAME_MAX: usize = 60;

/// All panels, by resource and source.
pub(super) fn panels(record: &SystemRecord) -> Markup {
    let mut number = 0;
    let frame = StaticFrame::of(record);
    html! {
        (static_marks(record))
        @for group in record.panels.chunk_by(|a, b| (a.resource, &a.source) == (b.resource, &b.source)) {
            @let (resource, source) = (group[0].resource, group[0].source.as_str());
            h3 {
                (resource.name())
                @if !source.is_empty() { span.tag { (printable(source)) } }
            }
            div.panels {
                @for panel in group {
                    (figure(panel, { number += 1; number - 1 }, &frame))
                }
            }
            (panels_not_drawn(record, resource, source))
        }
        (resources_not_drawn(record))
    }
}

fn figure(panel: &Panel, number: usize, frame: &StaticFrame) -> Markup {
    let scale = panel_scale(panel);
    html! {
        figure.plot.panel #{ "plot-system-" (number) } data-panel=(number) {
            figcaption { h4 { (printable(&panel.title)) } }
            div.canvas {}
            (static_plot(panel, frame))
            table {
                thead {
                    tr {
                        th scope="col" { @if scale.name.is_empty() { span.skip { "line" } } @else { (scale.name) } }
                        @for name in ["min", "median", "max"] { th scope="col" { (name) } }
                        th.now scope="col" { "cursor" }
                    }
                }
                tbody {
                    @for (at, line) in panel.lines.iter().enumerate() {
                        tr {
                            th scope="row" {
                                span class={ "key " (line_class(at, line.is_limit)) } { (shown_text(&line.name, NAME_MAX)) }
                            }
                            (figures(line, scale))
                            td.now {}
                        }
                    }
                }
            }
            @if panel.further > 0 {
                p.note { "The largest of " (panel.lines.iter().filter(|line| !line.is_limit).count() + panel.further) " lines." }
            }
            @if !panel.zero.is_empty() { p.note { "Always 0: " (printable(&panel.zero.join("; "))) "." } }
            @if !panel.help.is_empty() { p.note { (printable(&panel.help)) } }
        }
    }
}

fn figures(line: &PanelLine, scale: super::scale::Scale) -> Markup {
    html! {
        @match line.figures {
            Some(figures) => {
                @for value in [figures.min, figures.median, figures.max] { td { (scale.number(value)) } }
            }
            None => { @for _ in 0..3 { td { "–" } } }
        }
    }
}

/// The panels of a resource that are not shown: those whose values were always 0, and unavailable ones with their
/// reasons.
fn panels_not_drawn(record: &SystemRecord, resource: Resource, source: &str) -> Markup {
    let quiet: Vec<&str> = record
        .quiet
        .iter()
        .filter(|quiet| quiet.resource == resource && quiet.source == source)
        .map(|quiet| quiet.title.as_str())
        .collect();
    let missing = || {
        let is_of = |(name, _): &&(busyhour_results::PanelName, String)| {
            name.resource == resource && (name.source == source || source.is_empty())
        };
        record.missing.iter().filter(is_of)
    };
    html! {
        @if !quiet.is_empty() { p.note { "Always 0: " (quiet.join("; ")) "." } }
        @if missing().next().is_some() {
            ul.note {
                @for (name, reason) in missing() {
                    li {
                        (name.title)
                        @if !name.source.is_empty() { ", " (printable(&name.source)) }
                        ": unavailable, because " (printable(reason)) "."
                    }
                }
            }
        }
    }
}

/// Like [`panels_not_drawn`], for all resources without a panel.
fn resources_not_drawn(record: &SystemRecord) -> Markup {
    let mut resources: Vec<(Resource, &str)> = record
        .missing
        .iter()
        .map(|(name, _)| (name.resource, name.source.as_str()))
        .chain(record.quiet.iter().map(|name| (name.resource, name.source.as_str())))
        .filter(|(resource, source)| {
            let is_shown = |panel: &Panel| {
                panel.resource == *resource && (panel.source == *source || panel.source.is_empty())
            };
            !record.panels.iter().any(is_shown)
        })
        .collect();
    resources.sort_unstable();
    resources.dedup();
    html! {
        @for (resource, source) in resources {
            h3 {
                (resource.name())
                @if !source.is_empty() { span.tag { (printable(source)) } }
            }
            (panels_not_drawn(record, resource, source))
        }
    }
}
