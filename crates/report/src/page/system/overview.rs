//! The overview: the use of each resource, the work that waited for it, and its errors.

use busyhour_results::{Aspect, Panel, PanelLine, PanelName, Resource, SystemRecord};
use maud::{Markup, html};

use super::scale::quantity;
use crate::page::markup::scrolling;
use crate::terminal_text::printable;

/// The columns with the aspects that they show. For resources without a limit, the first column shows traffic.
const CELLS: [(&str, &[Aspect]); 3] = [
    ("used", &[Aspect::Utilisation, Aspect::Traffic]),
    ("waiting for it", &[Aspect::Saturation]),
    ("errors", &[Aspect::Errors]),
];

/// Maximum number of panels in a cell.
const PANELS_OF_CELL_MAX: usize = 3;

/// Whether the overview has rows for the resource. The other resources concern single programs, which have their own
/// tables.
fn is_listed(resource: Resource) -> bool {
    match resource {
        Resource::Cpu
        | Resource::Memory
        | Resource::Disk
        | Resource::Network
        | Resource::Sockets
        | Resource::Stall
        | Resource::Cgroup
        | Resource::Jvm
        | Resource::GcLog
        | Resource::Database
        | Resource::Log => true,
        Resource::Process | Resource::Caches | Resource::Exported => false,
    }
}

/// A table with a row for each resource and source.
pub(super) fn overview(record: &SystemRecord) -> Markup {
    let mut rows: Vec<(Resource, &str)> = record
        .panels
        .iter()
        .map(|panel| (panel.resource, panel.source.as_str()))
        .chain(record.quiet.iter().map(|quiet| (quiet.resource, quiet.source.as_str())))
        .filter(|(resource, _)| is_listed(*resource))
        .collect();
    rows.sort_unstable();
    rows.dedup();
    let table = html! {
        table.wide.overview {
            caption.skip { "Use of each resource" }
            thead {
                tr {
                    th scope="col" { "resource" }
                    @for (name, _) in CELLS { th.text scope="col" { (name) } }
                }
            }
            tbody {
                @for (resource, source) in rows {
                    tr {
                        th scope="row" {
                            (resource.name())
                            @if !source.is_empty() { span.tag { (printable(source)) } }
                        }
                        @for (name, aspects) in CELLS {
                            (cell(record, (resource, source), name, aspects))
                        }
                    }
                }
            }
        }
    };
    html! {
        (scrolling("Use of each resource", table))
        p.note { "Median and largest value of the measured part." }
    }
}

/// A cell with the most important panels of the first of these aspects that has any.
fn cell(record: &SystemRecord, of: (Resource, &str), column: &str, aspects: &[Aspect]) -> Markup {
    let (resource, source) = of;
    let panels = |aspect: Aspect| {
        let is_of = move |panel: &&Panel| {
            panel.resource == resource && panel.source == source && panel.aspect == aspect
        };
        record.panels.iter().filter(is_of)
    };
    let aspect = aspects.iter().copied().find(|aspect| panels(*aspect).next().is_some());
    let is_quiet = |quiet: &&PanelName| {
        quiet.resource == resource && quiet.source == source && aspects.contains(&quiet.aspect)
    };
    let missing = record.missing.iter().find(|(name, _)| is_quiet(&name));
    html! {
        @if let Some(aspect) = aspect {
            td.text data-name=(column) {
                ul.plain {
                    @for panel in panels(aspect).take(PANELS_OF_CELL_MAX) {
                        li { (panel.title) ": " (figures(panel)) }
                    }
                }
            }
        } @else if record.quiet.iter().any(|quiet| is_quiet(&quiet)) {
            td.text.soft data-name=(column) { "none" }
        } @else if let Some((name, reason)) = missing {
            td.text.soft data-name=(column) { (name.title) ": unavailable, " (printable(reason)) }
        } @else {
            td.text.soft.none { "–" }
        }
    }
}

/// Median and largest value of the sum of stacked lines, or of the line with the largest value.
fn figures(panel: &Panel) -> Markup {
    let Some((name, median, max)) = summed(panel).or_else(|| largest(panel)) else { return html! { "–" } };
    let is_share = panel.aspect == Aspect::Utilisation;
    let share = limit(panel).filter(|limit| is_share && *limit > 0.0).map(|limit| max * 100.0 / limit);
    html! {
        b { (quantity(panel.unit, median)) } ", at most " b { (quantity(panel.unit, max)) }
        @if let Some(share) = share { " (" (super::scale::short(share.round())) " % of the limit)" }
        @if let Some(name) = name { span.soft { " " (printable(name)) } }
    }
}

fn largest(panel: &Panel) -> Option<(Option<&str>, f64, f64)> {
    let lines = panel.lines.iter().filter(|line| !line.is_limit);
    let several = lines.clone().count() > 1;
    let known = lines.filter_map(|line: &PanelLine| line.figures.map(|figures| (line, figures)));
    let (line, figures) = match panel.has_leading_line {
        true => known.clone().find(|(_, figures)| figures.max > 0.0).or_else(|| known.clone().next())?,
        false => known.max_by(|a, b| a.1.max.total_cmp(&b.1.max))?,
    };
    Some((several.then_some(line.name.as_str()), figures.median, figures.max))
}

fn summed(panel: &Panel) -> Option<(Option<&str>, f64, f64)> {
    if !panel.is_stacked {
        return None;
    }
    let slices = panel.lines.iter().map(|line| line.values.len()).max()?;
    let sum = |slice: usize| {
        let lines = panel.lines.iter().filter(|line| !line.is_limit);
        lines.filter_map(|line| line.values.get(slice).copied().flatten()).reduce(|sum, value| sum + value)
    };
    let mut sums: Vec<f64> = (0..slices).filter_map(sum).collect();
    sums.sort_unstable_by(f64::total_cmp);
    Some((None, *sums.get(sums.len().checked_sub(1)? / 2)?, *sums.last()?))
}

/// The limit of a panel that has one for all lines.
fn limit(panel: &Panel) -> Option<f64> {
    let mut limits = panel.lines.iter().filter(|line| line.is_limit).filter_map(|line| line.figures);
    let limit = limits.next()?;
    limits.next().is_none().then_some(limit.max)
}
