//! Why requests were slow: the finding on the first screen, with its evidence.

use busyhour_analysis::explanation::{Cause, Explanation};
use busyhour_analysis::saturation::Saturation;
use maud::{Markup, html};

use super::markup::{capital, def, scrolling};
use crate::explanation_lines::other;
use crate::numbers::counted;
use crate::saturation_lines::{HEADS, RESOURCES_MAX, cells};
use crate::terminal_text::printable;

/// The finding; the other causes and the causes that were not examined are collapsed.
pub(super) fn explanation(explanation: &Explanation, saturation: Option<&Saturation>) -> Markup {
    let others: Vec<_> = explanation.evidence.iter().filter(|one| one.cause != explanation.cause).collect();
    let heading = match explanation.cause {
        Cause::None => "Why requests were slow: not found",
        _ => "Why requests were slow",
    };
    html! {
        div.caveats.why role="group" aria-labelledby="why-title" {
            h2 #why-title { (def("explanation", heading)) }
            p { (printable(&explanation.sentence)) " " (printable(&explanation.next)) }
            @if let Some(found) = saturation { (resources(found)) }
            @if !others.is_empty() {
                details {
                    summary { (counted(others.len() as u64, "other cause")) " compared" }
                    ul { @for one in others { li { b { (one.cause.id()) } ": " (printable(&capital(&other(one)))) "." } } }
                }
            }
            @if !explanation.not_examined.is_empty() {
                details {
                    summary { (counted(explanation.not_examined.len() as u64, "cause")) " not examined" }
                    ul {
                        @for one in &explanation.not_examined {
                            li { b { (one.cause.id()) } ": " (printable(&one.reason)) "." }
                        }
                    }
                }
            }
        }
    }
}

/// The resource that saturates first; the table of resources is collapsed.
fn resources(saturation: &Saturation) -> Markup {
    html! {
        p { (printable(&saturation.sentence)) }
        details {
            summary { (counted(saturation.resources.len() as u64, "resource")) " and the load at which each one saturates" }
            (scrolling("Resources", html! {
                table {
                    thead { tr { @for head in HEADS { th scope="col" { (head) } } } }
                    tbody {
                        @for load in saturation.resources.iter().take(RESOURCES_MAX) {
                            tr { @for cell in cells(load) { td { (cell) } } }
                        }
                    }
                }
            }))
        }
    }
}
