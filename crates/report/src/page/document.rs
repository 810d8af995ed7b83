//! The frame of a page: head, contents, sections, data and script.

use std::fmt::Write as _;

use serde::Serialize;

use super::bundle::{HEAD_SCRIPT, SCRIPT, STYLE, content_security_policy};
use super::markup::{Section, escape, json_in_script};

/// Kind of page, read by the script.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Of one run.
    Run,
    /// Of two groups of runs.
    Comparison,
    /// Of a capacity model.
    Capacity,
    /// Of a model whose parameters vary.
    WhatIf,
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
            Kind::Live => "live",
        }
    }
}

/// A page.
pub(super) struct Document<'a, Model> {
    pub(super) kind: Kind,
    /// Its heading, as text.
    pub(super) title: &'a str,
    /// The line below it, as text.
    pub(super) subtitle: &'a str,
    /// The first screen, as HTML.
    pub(super) opening: &'a str,
    pub(super) sections: &'a [Section],
    /// What the script draws.
    pub(super) model: &'a Model,
}

impl<Model: Serialize> Document<'_, Model> {
    pub(super) fn html(&self) -> String {
        let (title, subtitle) = (escape(self.title), escape(self.subtitle));
        // The model is made of strings, numbers and lists: every one has a JSON form.
        let model = json_in_script(&serde_json::to_string(self.model).unwrap_or_default());
        // Nothing is shown before all is there (the browser waits for `whole`): tables would move while they are read.
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <link rel=\"expect\" href=\"#whole\" blocking=\"render\">\
             <title>{title} – Busyhour</title>\n<style>{STYLE}</style>\n<script>{HEAD_SCRIPT}</script></head>\n\
             <body data-page=\"{}\"{}><a class=\"skip\" href=\"#results\">To the results</a>\n\
             <header><h1>{title}</h1><p class=\"sub\">{subtitle}</p></header>\n\
             <nav aria-label=\"Contents\"><ul>",
            content_security_policy(matches!(self.kind, Kind::Live)),
            self.kind.name(),
            if matches!(self.kind, Kind::Live) {
                format!(" data-events=\"{EVENTS_PATH}\"")
            } else {
                String::new()
            },
        );
        for Section { id, title, .. } in self.sections {
            let _ = write!(out, "<li><a href=\"#{id}\">{title}</a></li>");
        }
        let _ = writeln!(out, "</ul></nav>\n<main id=\"results\" tabindex=\"-1\">\n{}", self.opening);
        for Section { id, title, body } in self.sections {
            let _ = writeln!(
                out,
                "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\n{body}</section>"
            );
        }
        let _ = writeln!(
            out,
            "</main>\n<script type=\"application/json\" id=\"model\">{model}</script>\n<script>{SCRIPT}</script>\n\
             <p id=\"whole\" hidden></p></body></html>"
        );
        out
    }
}
