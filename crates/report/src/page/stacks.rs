//! The section on stacks: the frames that differ, and a flame graph.

use busyhour_analysis::Summary;
use busyhour_stacks::{StackDifference, StackOutcome};
use maud::{Markup, html};

use super::flame_graph::flame_graph;
use super::markup::{Section, mark};
use crate::stack_lines::{stack_cost, stack_mark};
use crate::terminal_text::printable;

/// The section; `None` if no stacks were recorded.
pub(super) fn stacks(summary: &Summary) -> Option<Section> {
    (!summary.stacks.is_empty()).then(|| Section {
        id: "stacks",
        title: "Stacks of slow windows",
        body: html! { @for difference in &summary.stacks { (process(difference)) } },
    })
}

/// The differences on the first screen, with a link to the section.
pub(super) fn stacks_opening(summary: &Summary) -> Markup {
    let differs = |difference: &&StackDifference| difference.outcome == StackOutcome::Differs;
    html! {
        @for difference in summary.stacks.iter().filter(differs) {
            div.caveats.why {
                p { (printable(&difference.sentence)) ". " a href="#stacks" { "The stacks" } "." }
            }
        }
    }
}

/// The findings about a process.
fn process(difference: &StackDifference) -> Markup {
    let (class, words) = stack_mark(&difference.outcome);
    html! {
        h3 { (printable(difference.source.trim_start_matches("stacks:"))) " " (mark(class, words)) }
        p { (printable(&difference.sentence)) "." }
        @if !difference.frames.is_empty() {
            ol {
                @for frame in &difference.frames {
                    li { (printable(&frame.sentence)) "." }
                }
            }
        }
        p { (stack_cost(difference)) }
        (flame_graph(&difference.flame))
    }
}
