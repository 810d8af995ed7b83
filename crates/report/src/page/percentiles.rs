//! The page of a file that contains percentiles and no samples. It needs no script.

use busyhour_imports::AggregateResult;
use maud::{PreEscaped, html};

use super::bundle::{STYLE, content_security_policy};
use super::markup::caveat_list;
use crate::percentiles::{HEADS, ROWS_SHOWN, cells, doubt, more_rows};
use crate::terminal_text::printable;

/// The page of the file `name`.
#[must_use]
pub fn percentiles_html(name: &str, result: &AggregateResult) -> String {
    let doubts = result.doubts();
    let texts: Vec<(String, &str)> = doubts.iter().map(|doubt| (doubt.to_string(), doubt.advice())).collect();
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(PreEscaped(content_security_policy(false)));
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (printable(name)) " – Busyhour" }
                style { (PreEscaped(STYLE)) }
            }
            "\n"
            body {
                header { h1 { (printable(name)) } p.sub { (result.format) } }
                "\n"
                main #results {
                    section.first aria-label="Result" {
                        p.headline { (printable(&doubt(&doubts))) }
                        (caveat_list(
                            "Before you rely on these numbers",
                            "caveats-title",
                            texts.iter().map(|(message, advice)| (message.as_str(), Some(*advice))),
                        ))
                    }
                    "\n"
                    section aria-labelledby="percentiles-title" {
                        h2 #percentiles-title { "Percentiles" }
                        table.wide {
                            thead { tr { @for head in HEADS { th scope="col" { (head) } } } }
                            tbody {
                                @for row in result.rows.iter().take(ROWS_SHOWN) {
                                    tr {
                                        @for (at, cell) in cells(row).into_iter().enumerate() {
                                            @if at == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                                        }
                                    }
                                }
                            }
                        }
                        @if let Some(more) = more_rows(result) { p { (more) "." } }
                    }
                }
            }
        }
        "\n"
    };
    page.into_string()
}
