//! The live page of a run: the elements for the values from the server, and the controls that change the run.
//!
//! All elements have their final size before the first values arrive, so that nothing moves later.

use std::fmt::Write as _;

use super::document::{Document, Kind};
use super::figures::BANDS_TELL;
use super::glossary::definitions;
use super::markup::{Section, def, escape, figure, scrolling};

/// Texts of the page before the first values arrive.
#[derive(Debug, Clone, Copy)]
pub struct LivePage<'p> {
    /// The run's name.
    pub title: &'p str,
    /// The requested load, in words.
    pub asked: &'p str,
    /// Why the rate cannot be changed; `None` when it can.
    pub fixed_rate: Option<&'p str>,
    /// Where the report will lie.
    pub report: &'p str,
}

/// Ids of the elements whose text comes from the server.
pub const LIVE_WORDS: [&str; 24] = [
    "live-when",
    "live-state",
    "offered-now",
    "offered-all",
    "started-now",
    "started-all",
    "completed-now",
    "completed-all",
    "failed-now",
    "failed-all",
    "users-now",
    "users-all",
    "cov-now",
    "cov-all",
    "mean-now",
    "mean-all",
    "p50-now",
    "p50-all",
    "p95-now",
    "p95-all",
    "p99-now",
    "p99-all",
    "max-now",
    "max-all",
];

/// The page.
#[must_use]
pub fn live_html(page: &LivePage<'_>) -> String {
    let plot = |id, title, plots: &[(&str, &str, &str)]| Section {
        id,
        title,
        body: plots.iter().map(|(name, size, caption)| figure(name, size, caption)).collect(),
    };
    let heat = format!(
        "A cell of the {} counts the requests that ended in one slice of time with a time in its band; lines are p50, p95 \
         and p99 of each slice, {BANDS_TELL} where it is longer than a second.",
        def("heat", "heat map")
    );
    let sections = [
        plot(
            "rate",
            "Rate and errors",
            &[
                (
                    "rate",
                    "",
                    "Offered arrivals, started sessions (each with one or more requests) and completed requests per second; dashed \
                     lines mark changes of the run.",
                ),
                ("errors", " low", "Failed requests per second."),
            ],
        ),
        plot("times", "Response time over time", &[("heat", " tall", &heat)]),
        plot(
            "distribution",
            "Distribution",
            &[(
                "percentiles",
                "",
                "Response and service time of all requests so far; each step of the axis contains a tenth of the requests of the previous step.",
            )],
        ),
        plot("users", "Users", &[("users", " low", "Largest number of active users per second.")]),
        Section { id: "labels", title: "The busiest labels", body: labels() },
        Section {
            id: "glossary",
            title: "Definitions",
            body: format!("<details><summary>What the terms mean</summary>{}</details>", definitions()),
        },
    ];
    Document {
        kind: Kind::Live,
        title: page.title,
        subtitle: page.asked,
        opening: &opening(page),
        sections: &sections,
        model: &(),
    }
    .html()
}

fn opening(page: &LivePage<'_>) -> String {
    let mut out = String::from(
        "<div class=\"live-bar\"><p class=\"live-line\"><b id=\"live-state\" role=\"status\">connecting</b> \
         <span id=\"live-when\"></span> <span id=\"live-connection\" role=\"status\"></span></p>",
    );
    controls(page, &mut out);
    let _ = write!(
        out,
        "<p class=\"live-line note\" id=\"live-answer\" role=\"alert\"></p></div>\n\
         <div class=\"opening\"><section aria-labelledby=\"load-title\"><h2 id=\"load-title\">Requested and achieved</h2>"
    );
    table(
        &mut out,
        &[
            ("offered", "offered"),
            ("started", "started"),
            ("completed", "completed"),
            ("failed", "failed"),
            ("users", "active users"),
            ("cov", "CoV of arrivals"),
        ],
        "now",
    );
    out.push_str(
        "<h3>Changes, thresholds and caveats</h3><div class=\"live-lists\" role=\"group\" tabindex=\"0\" \
         aria-label=\"Changes, thresholds and caveats\">\
         <table class=\"row-count\"><tbody id=\"live-thresholds\"></tbody></table><ul id=\"live-caveats\" class=\"caveats\"></ul>\
         <ul id=\"live-changes\"></ul></div></section>\n\
         <section aria-labelledby=\"key-title\"><h2 id=\"key-title\">Response time in ms</h2>",
    );
    table(
        &mut out,
        &[("mean", "mean"), ("p50", "median"), ("p95", "p95"), ("p99", "p99"), ("max", "longest")],
        "now",
    );
    let _ = writeln!(
        out,
        "<p class=\"note\"><span class=\"until-end\">When the run has ended, its report will be at</span>\
         <span class=\"at-end\">The run has ended. Its report is at</span><br><code>{}</code>.</p></section></div>",
        escape(page.report)
    );
    out
}

fn controls(page: &LivePage<'_>, out: &mut String) {
    out.push_str(
        "<div class=\"live-controls\"><button type=\"button\" id=\"pause\">Pause</button>\
         <button type=\"button\" id=\"stop\">Stop …</button>",
    );
    match page.fixed_rate {
        None => out.push_str(
            "<form id=\"rate-form\" class=\"live-rate\"><label for=\"rate-factor\">Rate ×</label>\
             <button type=\"button\" id=\"slower\" aria-label=\"slower by a fifth\">−</button>\
             <input id=\"rate-factor\" type=\"number\" min=\"0.01\" max=\"100\" step=\"0.01\" value=\"1\" required>\
             <button type=\"button\" id=\"faster\" aria-label=\"faster by a quarter\">+</button>\
             <button type=\"submit\" id=\"set-rate\">Set</button>\
             <button type=\"button\" id=\"as-requested\">As requested</button></form>",
        ),
        Some(why) => {
            let _ = write!(out, "<p class=\"note\">{}</p>", escape(why));
        }
    }
    out.push_str(
        "</div><dialog id=\"confirm-stop\" aria-labelledby=\"confirm-title\"><p id=\"confirm-title\">Stop the run? Users \
         complete their current samples; all measurements are kept.</p><button type=\"button\" id=\"stop-now\">Stop the \
         run</button> <button type=\"button\" id=\"stop-not\">Continue</button></dialog>",
    );
}

/// A table of figures: now, and over the run so far.
fn table(out: &mut String, rows: &[(&str, &str)], now: &str) {
    let _ = write!(
        out,
        "<table class=\"live-figures\"><thead><tr><td></td><th scope=\"col\">{now}</th><th scope=\"col\">so far</th></tr></thead>\
         <tbody>"
    );
    for (id, name) in rows {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td id=\"{id}-now\">–</td><td id=\"{id}-all\">–</td></tr>",
            // Users are counted, not defined.
            if *id == "users" { escape(name) } else { def(id, name) }
        );
    }
    out.push_str("</tbody></table>");
}

fn labels() -> String {
    let table = "<table class=\"wide\"><caption class=\"skip\">The busiest labels</caption><thead><tr>\
         <th scope=\"col\" class=\"text\">label</th><th scope=\"col\">completed</th><th scope=\"col\">last second</th>\
         <th scope=\"col\">failed %</th><th scope=\"col\">mean ms</th><th scope=\"col\">p50 ms</th><th scope=\"col\">p95 ms</th>\
         <th scope=\"col\">p99 ms</th></tr></thead><tbody id=\"live-labels\"></tbody></table>";
    format!(
        "<p>The labels with the most requests so far; the report contains all labels.</p><div class=\"live-labels\">{}</div>",
        scrolling("The busiest labels", table)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(fixed_rate: Option<&str>) -> String {
        live_html(&LivePage {
            title: "<shop>",
            asked: "poisson(1/s)",
            fixed_rate,
            report: "runs/<x>/report.html",
        })
    }

    #[test]
    fn every_value_of_the_server_has_an_element() {
        let html = page(None);
        for id in LIVE_WORDS {
            assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
        assert!(
            html.contains("data-page=\"live\" data-events=\"/events\"")
                && html.contains("connect-src 'self'")
        );
        assert!(html.contains("&lt;shop&gt;") && html.contains("runs/&lt;x&gt;/report.html"));
    }

    #[test]
    fn the_page_shows_why_a_rate_cannot_be_changed() {
        let html = page(Some("users of the plan's own"));
        assert!(html.contains("users of the plan&#39;s own") && !html.contains("id=\"rate-form\""));
    }
}
