//! HTML elements that several sections use.

use busyhour_analysis::RunFacts;
use maud::{Markup, Render, html};

use crate::numbers::duration;
use crate::terminal_text::printable;

/// A section of a page with a heading, which the table of contents lists.
pub(super) struct Section {
    /// The id of its element, which is used as the fragment of links.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// The content below the heading.
    pub(super) body: Markup,
}

/// How a column is sorted when its heading is clicked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// As text.
    Text,
    /// As numbers.
    Number,
    /// As numbers; initially the rows are in descending order of this column.
    Descending,
    /// Not sortable; contains sparklines.
    Sparkline,
    /// Not sortable; contains numbers.
    No,
    /// Not sortable; contains texts.
    Words,
}

impl Sort {
    /// The CSS class of the column's heading.
    fn class(self) -> Option<&'static str> {
        match self {
            Sort::Text | Sort::Words => Some("text"),
            Sort::Sparkline => Some("spark"),
            Sort::Number | Sort::Descending | Sort::No => None,
        }
    }

    /// The kind of comparison, for the script.
    fn key(self) -> Option<&'static str> {
        match self {
            Sort::Text => Some("text"),
            Sort::Number | Sort::Descending => Some("number"),
            Sort::Sparkline | Sort::No | Sort::Words => None,
        }
    }
}

/// The heading of a column.
pub(super) struct Column {
    /// Text of the heading.
    pub(super) name: &'static str,
    /// The term of the glossary that explains the column; empty if there is none.
    pub(super) term: &'static str,
    /// How the column is sorted.
    pub(super) sort: Sort,
}

/// The heading of a table.
pub(super) fn head<'c>(columns: impl IntoIterator<Item = &'c Column>) -> Markup {
    html! {
        thead {
            tr {
                @for Column { name, term, sort } in columns {
                    th scope="col" class=[sort.class()] data-sort=[sort.key()]
                        aria-sort=[(*sort == Sort::Descending).then_some("descending")]
                    {
                        @if term.is_empty() { (name) } @else { (def(term, name)) }
                    }
                }
            }
        }
    }
}

/// A sortable table, which scrolls if it is wider than the page.
pub(super) fn wide_table(caption: &str, columns: &[Column], rows: &Markup) -> Markup {
    html! {
        table.wide.sortable {
            caption.skip { (caption) }
            (head(columns))
            tbody { (rows) }
        }
    }
}

/// A term with a link to the glossary. The script shows the definition next to the term.
pub(super) fn def(term: &str, words: &str) -> Markup {
    html! { a.def href={ "#def-" (term) } { (words) } }
}

/// A number of the summary, marked with its path in `summary.json`, so that all places that show it can be found.
pub(super) fn quantity(path: &str, text: impl Render) -> Markup {
    html! { span data-quantity=(path) { (text) } }
}

/// A verdict in a word or two, which is shown before its reasons. `class` is `good`, `warn`, `bad` or `open`.
pub(super) fn mark(class: &str, words: &str) -> Markup {
    html! { span class={ "mark " (class) } { (words) } }
}

/// A time of the run, with the time of day if it is known.
pub(super) fn at(run: &RunFacts, seconds: f64) -> Markup {
    let text = duration(seconds);
    html! {
        @if let Some(stamp) = time_of_day(run, seconds) {
            time datetime=(stamp) title=(stamp) { (text) }
        } @else {
            (text)
        }
    }
}

fn time_of_day(run: &RunFacts, seconds: f64) -> Option<String> {
    let ms = run.wall_anchor_ms.checked_add((seconds * 1e3) as i64)?;
    let stamp = jiff::Timestamp::from_millisecond(ms).ok().filter(|_| run.wall_anchor_ms > 0)?;
    Some(stamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// A table in a frame that scrolls horizontally if the table is too wide for the window; the keyboard can scroll it, too.
pub(super) fn scrolling(name: &str, table: impl Render) -> Markup {
    html! { div.scroll role="group" tabindex="0" aria-label=(name) { (table) } }
}

/// The button below a table that has more rows than are shown.
pub(super) fn more(words: impl Render) -> Markup {
    html! { button.more type="button" { (words) } }
}

/// The height of a plot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PlotHeight {
    /// The usual height.
    Normal,
    /// For plots with one line.
    Low,
    /// For heat maps.
    Tall,
    /// With space for the names of three to five lines.
    Several,
    /// With space for the names of more lines.
    Many,
}

impl PlotHeight {
    fn class(self) -> &'static str {
        match self {
            PlotHeight::Normal => "plot",
            PlotHeight::Low => "plot low",
            PlotHeight::Tall => "plot tall",
            PlotHeight::Several => "plot several",
            PlotHeight::Many => "plot many",
        }
    }
}

/// An element for a plot, which the script draws, with a caption that describes it.
pub(super) fn figure(plot: &str, height: PlotHeight, caption: impl Render) -> Markup {
    figure_with(plot, height, caption, &html! {})
}

/// Like [`figure`], with `still` for browsers without scripts.
pub(super) fn figure_with(plot: &str, height: PlotHeight, caption: impl Render, still: &Markup) -> Markup {
    html! {
        figure class=(height.class()) id={ "plot-" (plot) } data-plot=(plot) {
            p.readout {}
            div.canvas {}
            (still)
            @if plot == "heat" { p.ramp aria-hidden="true" {} }
            figcaption { (caption) }
        }
    }
}

/// A list of caveats under a heading, each with its message, and its advice if there is any.
pub(super) fn caveat_list<'a>(
    title: &str,
    title_id: &str,
    caveats: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> Markup {
    html! {
        section.caveats aria-labelledby=(title_id) {
            h2 id=(title_id) { (title) }
            ul {
                @for (message, advice) in caveats {
                    li {
                        (capital(&printable(message))) "."
                        @if let Some(advice) = advice { span { (capital(&printable(advice))) "." } }
                    }
                }
            }
        }
    }
}

/// Capitalizes a text, unless it begins with a name, such as that of a file or an option.
pub(super) fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if !first.trim_end_matches([',', ':']).chars().all(char::is_alphabetic) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Escapes JSON for a script element: characters that HTML could interpret are replaced by JSON escapes.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_become_markup() {
        let words = printable("<b a='1'>&\n\"</b>");
        let html = html! { p title=(words) { (words) } }.into_string();
        let escaped = "&lt;b a='1'&gt;&amp; &quot;&lt;/b&gt;";
        assert_eq!(html, format!("<p title=\"{escaped}\">{escaped}</p>"));
        let label = "</script><script>alert(1)</script><!--\u{2028}";
        let json = json_in_script(&serde_json::to_string(label).unwrap());
        assert!(!json.contains('<') && !json.contains('\u{2028}'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), label);
    }

    #[test]
    fn sentences_begin_with_a_capital_and_names_stay() {
        let of = ["a closed workload: counts vary", "run-3.jtl: 3 %", "", "--window leaves out"].map(capital);
        assert_eq!(of, ["A closed workload: counts vary", "run-3.jtl: 3 %", "", "--window leaves out"]);
    }

    #[test]
    fn a_time_of_the_run_has_its_time_of_day() {
        let run = RunFacts { wall_anchor_ms: 1_706_933_106_007, ..RunFacts::default() };
        let known = at(&run, 1.5).into_string();
        assert!(known.contains("datetime=\"2024-02-03T04:05:07.507Z\""), "{known}");
        assert_eq!(at(&RunFacts::default(), 1.5).into_string(), "1.5 s");
    }
}
