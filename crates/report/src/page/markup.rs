//! Pieces of HTML that several sections use.

use busyhour_analysis::RunFacts;
use maud::{Markup, Render, html};

use crate::numbers::duration;
use crate::terminal_text::printable;

/// A part of a page with a heading, which the contents list.
pub(super) struct Section {
    /// Its place in the page's address.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// The content below the heading.
    pub(super) body: Markup,
}

/// How a column is sorted when its head is pressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// As text.
    Text,
    /// As a number.
    Number,
    /// As a number; the rows are in descending order of this column.
    Descending,
    /// Not at all: small plots.
    Sparkline,
    /// Not at all: numbers.
    No,
    /// Not at all: words.
    Words,
}

impl Sort {
    /// The class of the column's head.
    fn class(self) -> Option<&'static str> {
        match self {
            Sort::Text | Sort::Words => Some("text"),
            Sort::Sparkline => Some("spark"),
            Sort::Number | Sort::Descending | Sort::No => None,
        }
    }

    /// What the script compares.
    fn key(self) -> Option<&'static str> {
        match self {
            Sort::Text => Some("text"),
            Sort::Number | Sort::Descending => Some("number"),
            Sort::Sparkline | Sort::No | Sort::Words => None,
        }
    }
}

/// The head of a column.
pub(super) struct Column {
    /// Its name.
    pub(super) name: &'static str,
    /// The term of the glossary that explains it; none for an empty string.
    pub(super) term: &'static str,
    /// How it is sorted.
    pub(super) sort: Sort,
}

/// The head of a table.
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

/// A table that can be sorted and that may be wider than the page.
pub(super) fn wide_table(caption: &str, columns: &[Column], rows: &Markup) -> Markup {
    html! {
        table.wide.sortable {
            caption.skip { (caption) }
            (head(columns))
            tbody { (rows) }
        }
    }
}

/// A term that is explained: a link to the glossary, which the script turns into a definition on the spot.
pub(super) fn def(term: &str, words: &str) -> Markup {
    html! { a.def href={ "#def-" (term) } { (words) } }
}

/// A number of the summary, marked with its path in `summary.json`, so that all places that show it can be found.
pub(super) fn quantity(path: &str, text: impl Render) -> Markup {
    html! { span data-quantity=(path) { (text) } }
}

/// A verdict in a word or two, before its reasons: `good`, `bad` or `open`.
pub(super) fn mark(class: &str, words: &str) -> Markup {
    html! { span class={ "mark " (class) } { (words) } }
}

/// A time of the run, with the time of day where that is known.
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

/// A table in a frame that scrolls sideways where it is too wide for the window, by keyboard, too.
pub(super) fn scrolling(name: &str, table: impl Render) -> Markup {
    html! { div.scroll role="group" tabindex="0" aria-label=(name) { (table) } }
}

/// The button below a table of more rows than are shown.
pub(super) fn more(words: impl Render) -> Markup {
    html! { button.more type="button" { (words) } }
}

/// How high a plot is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PlotHeight {
    /// The usual height.
    Normal,
    /// Of plots with one line.
    Low,
    /// Of heat maps.
    Tall,
    /// With room for the names of three to five lines.
    Several,
    /// With room for the names of more lines.
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

/// A figure for a plot: the script draws it, the caption describes it.
pub(super) fn figure(plot: &str, height: PlotHeight, caption: impl Render) -> Markup {
    html! {
        figure class=(height.class()) id={ "plot-" (plot) } data-plot=(plot) {
            p.readout {}
            div.canvas {}
            @if plot == "heat" { p.ramp aria-hidden="true" {} }
            figcaption { (caption) }
        }
    }
}

/// A list of caveats under a heading; of each its message, and advice where there is some.
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

/// With a capital at its beginning, unless that is a name: of a file, an option.
pub(super) fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if !first.trim_end_matches([',', ':']).chars().all(char::is_alphabetic) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// JSON that cannot end the element it stands in: what HTML reads in a script is written as JSON's own escapes.
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
