//! The frame of a page: head, table of contents, sections, data and script.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::bundle::{HEAD_SCRIPT, SCRIPT, STYLE, content_security_policy};
use super::markup::{Section, json_in_script};
use crate::terminal_text::printable;

/// Kind of page, which the script reads.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// The page of one run.
    Run,
    /// The page of a comparison of two groups of runs.
    Comparison,
    /// The page of a capacity model.
    Capacity,
    /// The page of a model whose parameters vary.
    WhatIf,
    /// The page of one or two garbage-collection logs.
    Gc,
    /// The page of an application log.
    Logs,
    /// The live page, which receives events from [`EVENTS_PATH`] of the server that it was loaded from.
    Live,
}

/// Path of the event stream of the live page.
pub const EVENTS_PATH: &str = "/events";

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Comparison => "comparison",
            Kind::Capacity => "capacity",
            Kind::WhatIf => "what-if",
            Kind::Gc => "gc",
            Kind::Logs => "logs",
            Kind::Live => "live",
        }
    }
}

/// A page.
pub(super) struct Document<'a, Model> {
    pub(super) kind: Kind,
    /// Heading of the page, as text.
    pub(super) title: &'a str,
    /// The line below the heading, as text.
    pub(super) subtitle: &'a str,
    /// The first screen.
    pub(super) opening: Markup,
    pub(super) sections: &'a [Section],
    /// The data that the script draws.
    pub(super) model: &'a Model,
}

impl<Model: Serialize> Document<'_, Model> {
    pub(super) fn html(&self) -> String {
        let (title, kind) = (printable(self.title), self.kind);
        let is_live = matches!(kind, Kind::Live);
        // The model consists of strings, numbers and lists, which can always be serialized.
        let model = json_in_script(&serde_json::to_string(self.model).unwrap_or_default());
        let page = html! {
            (PreEscaped("<!doctype html>\n"))
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(PreEscaped(content_security_policy(is_live)));
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // The browser waits for the element `whole` before it shows anything. Otherwise tables would move while the
                    // user reads them.
                    link rel="expect" href="#whole" blocking="render";
                    title { (title) " – Busyhour" }
                    "\n"
                    style { (PreEscaped(STYLE)) }
                    "\n"
                    script { (PreEscaped(HEAD_SCRIPT)) }
                }
                "\n"
                body data-page=(kind.name()) data-events=[is_live.then_some(EVENTS_PATH)] {
                    a.skip href="#results" { "To the results" }
                    "\n"
                    header { h1 { (title) } p.sub { (printable(self.subtitle)) } }
                    "\n"
                    nav aria-label="Contents" {
                        ul {
                            @for Section { id, title, .. } in self.sections {
                                li { a href={ "#" (id) } { (title) } }
                            }
                        }
                    }
                    "\n"
                    main #results tabindex="-1" {
                        "\n" (self.opening) "\n"
                        @for Section { id, title, body } in self.sections {
                            @let title_id = format!("{id}-title");
                            section id=(id) aria-labelledby=(title_id) {
                                h2 id=(title_id) { (title) }
                                "\n" (body)
                            }
                            "\n"
                        }
                    }
                    "\n"
                    script type="application/json" id="model" { (PreEscaped(model)) }
                    "\n"
                    script { (PreEscaped(SCRIPT)) }
                    "\n"
                    p #whole hidden {}
                }
            }
            "\n"
        };
        page.into_string()
    }
}
