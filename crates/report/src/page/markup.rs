//! Pieces of HTML that several sections use.

use std::fmt::Write as _;

use busyhour_analysis::RunFacts;

use crate::numbers::duration;

/// A part of a page with a heading, which the contents list.
pub(super) struct Section {
    /// Its place in the page's address.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// The content below the heading, as HTML.
    pub(super) body: String,
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
pub(super) fn head(columns: &[Column]) -> String {
    let mut out = String::from("<thead><tr>");
    for Column { name, term, sort } in columns {
        let attributes = match sort {
            Sort::Text => " class=\"text\" data-sort=\"text\"",
            Sort::Number => " data-sort=\"number\"",
            Sort::Descending => " data-sort=\"number\" aria-sort=\"descending\"",
            Sort::Sparkline => " class=\"spark\"",
            Sort::No => "",
            Sort::Words => " class=\"text\"",
        };
        let name = if term.is_empty() { (*name).to_owned() } else { def(term, name) };
        let _ = write!(out, "<th scope=\"col\"{attributes}>{name}</th>");
    }
    out + "</tr></thead>"
}

/// A term that is explained: a link to the glossary, which the script turns into a definition on the spot.
pub(super) fn def(term: &str, words: &str) -> String {
    format!("<a class=\"def\" href=\"#def-{term}\">{}</a>", escape(words))
}

/// A verdict in a word or two, before its reasons: `good`, `bad` or `open`.
pub(super) fn mark(class: &str, words: &str) -> String {
    format!("<span class=\"mark {class}\">{words}</span>")
}

/// A time of the run, with the time of day where that is known.
pub(super) fn at(run: &RunFacts, seconds: f64) -> String {
    let text = duration(seconds);
    match time_of_day(run, seconds) {
        Some(stamp) => format!("<time datetime=\"{stamp}\" title=\"{stamp}\">{text}</time>"),
        None => text,
    }
}

fn time_of_day(run: &RunFacts, seconds: f64) -> Option<String> {
    let ms = run.wall_anchor_ms.checked_add((seconds * 1e3) as i64)?;
    let stamp = jiff::Timestamp::from_millisecond(ms).ok().filter(|_| run.wall_anchor_ms > 0)?;
    Some(stamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// A table in a frame that scrolls sideways where it is too wide for the window, by keyboard, too.
pub(super) fn scrolling(name: &str, table: &str) -> String {
    format!("<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"{name}\">{table}</div>")
}

/// A figure for a plot: the script draws it, the caption describes it.
pub(super) fn figure(plot: &str, size: &str, caption: &str) -> String {
    let ramp = if plot == "heat" { "<p class=\"ramp\" aria-hidden=\"true\"></p>" } else { "" };
    format!(
        "<figure class=\"plot{size}\" id=\"plot-{plot}\" data-plot=\"{plot}\"><p class=\"readout\"></p>\
         <div class=\"canvas\"></div>{ramp}<figcaption>{caption}</figcaption></figure>"
    )
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

/// `text` as HTML has it; control characters become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// JSON that cannot end the surrounding element: characters with a meaning in HTML are written as JSON escapes.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_become_markup() {
        assert_eq!(escape("<b a='1'>&\n\"</b>"), "&lt;b a=&#39;1&#39;&gt;&amp; &quot;&lt;/b&gt;");
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
        assert!(at(&run, 1.5).contains("datetime=\"2024-02-03T04:05:07.507Z\""), "{}", at(&run, 1.5));
        assert_eq!(at(&RunFacts::default(), 1.5), "1.5 s");
    }
}
