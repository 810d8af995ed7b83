//! The frame of pages that need no script and have no table of contents.

use maud::{Markup, PreEscaped, html};

use super::bundle::{STYLE, content_security_policy};

/// A page with a heading, a line below it, and sections.
pub(super) fn plain_page(title: &str, subtitle: &Markup, sections: &Markup) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(PreEscaped(content_security_policy(false)));
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Busyhour" }
                style { (PreEscaped(STYLE)) }
            }
            "\n"
            body {
                header { h1 { (title) } p.sub { (subtitle) } }
                "\n"
                main #results { (sections) }
            }
        }
        "\n"
    };
    page.into_string()
}
