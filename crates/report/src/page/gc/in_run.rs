//! The garbage-collection log of a run, as a collapsed part of its report.

use busyhour_gclog::GcSource;
use maud::{Markup, html};

use super::super::events::{EventPlot, Part};
use super::super::still::picture;
use super::series::{self, Side};
use super::{figures, groups, opening};
use crate::gc_words::gc_collector;
use crate::numbers::ms;
use crate::terminal_text::{capital, printable};

/// The cost of the pauses and the verdict on live memory, followed by the content of the page of `observe gc`, which is
/// collapsed.
pub(crate) fn gc_in_run(source: &GcSource) -> Markup {
    let summary = &source.summary;
    let sides = [Side::shifted(summary, source.origin_s.unwrap_or(0.0))];
    let part = series::span(&sides);
    let plots = [series::heap(&sides), series::pauses(&sides), series::rates(&sides), series::live(&sides)];
    html! {
        h3 { "Garbage collection in " (printable(&source.name)) }
        p.note { (printable(&gc_collector(summary))) ", the part of the log within the run. " (clock(source)) }
        p { (opening::headline(summary)) " " (opening::verdict(summary)) }
        details {
            summary { "Analysis of this log: pauses by cause, figures, plots" }
            @if !summary.caveats.is_empty() {
                ul.note { @for caveat in &summary.caveats { li { (capital(&printable(&caveat.text))) "." } } }
            }
            (groups::percentiles(&sides))
            (groups::groups(&sides))
            @for (plot, caption) in plots.into_iter().flatten() { (figure(&plot, &caption, &part)) }
            (figures::figures(summary))
            (figures::lines(&sides))
        }
    }
}

/// The clock of the times in the plots.
fn clock(source: &GcSource) -> String {
    match (source.origin_s, source.uncertainty_s) {
        (None, _) => {
            "Times are those of the log's clock, because their place in the run is unknown.".to_owned()
        }
        (Some(_), None) => "Times are those of the run.".to_owned(),
        (Some(_), Some(off_s)) => {
            format!("Times are those of the run; they may be off by {} ms.", ms(off_s * 1e3))
        }
    }
}

fn figure(plot: &EventPlot, caption: &Markup, part: &Part) -> Markup {
    html! {
        h4 { (plot.name) }
        figure { (picture(plot, part)) figcaption { (caption) } }
    }
}
