use std::collections::BTreeMap;

use busyhour_logs::{
    CollectorSettings, Exposure, LogCollector, Redactor, RunClock, StampSettings, Zone, compare, find_bursts,
};

use super::*;
use crate::log_words::NamedLog;

/// A log of `length_s` seconds: a payment fails every 30 s. With `seats`, there is a stack trace every 10 s, and in second 400 a
/// burst.
fn log(name: &str, length_s: u32, seats: bool) -> NamedLog {
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: 0 };
    // 2026-03-18T10:00:00Z
    let clock = RunClock { start_unix_ns: 1_773_828_000_000_000_000, end_unix_ns: None };
    let mut collector = LogCollector::new(CollectorSettings {
        counts_rules: true,
        ..CollectorSettings::new(stamps, clock, Redactor::standard())
    });
    let source = collector.add_source(None);
    let mut severities = BTreeMap::new();
    for second in 0..length_s {
        let (hour, minute) = (10 + second / 3_600, second / 60 % 60);
        let stamp = format!("2026-03-18 {hour:02}:{minute:02}:{:02}", second % 60);
        let mut text = format!("{stamp} INFO alive\n");
        if second % 30 == 0 {
            text += &format!("{stamp} ERROR payment {second} failed\n");
        }
        if seats && second % 10 == 5 {
            text += &format!(
                "{stamp} ERROR no seat for {second} </script>\njava.lang.IllegalStateException: no seat <b>\n\tat shop.Seats.take(Seats.java:1)\n"
            );
        }
        if seats && second == 400 {
            (0..40).for_each(|_| text += &format!("{stamp} ERROR database unreachable\n"));
        }
        collector
            .read_each(source, text.as_bytes(), |entry| *severities.entry(entry.severity).or_default() += 1);
    }
    collector.end_each(source, |entry| *severities.entry(entry.severity).or_default() += 1);
    NamedLog { name: name.to_owned(), counts: collector.finish(), severities, has_times: true }
}

fn page(log: &NamedLog, baseline: Option<&NamedLog>) -> String {
    let zone = Zone::utc();
    let bursts = find_bursts(&log.counts);
    let comparison =
        baseline.map(|baseline| compare(&baseline.counts, &log.counts, Exposure::RunLength).unwrap());
    let baseline = baseline.zip(comparison.as_ref()).map(|(log, comparison)| LogBaseline { log, comparison });
    let bursts = bursts.as_deref().map_err(|reason| *reason);
    logs_html(&LogPage { log, zone: &zone, bursts, baseline })
}

fn sections(page: &str) -> Vec<&str> {
    page.split("<section id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn a_page_has_plots_templates_traces_and_bursts() {
    let page = page(&log("logs/<b>.log", 600, true), None);
    assert_eq!(
        sections(&page),
        ["problems", "words", "entries", "bursts", "templates", "traces", "rules", "glossary"]
    );
    for words in [
        "<title>&lt;b&gt;.log: problems – Busyhour</title>",
        "120 of 720 entries report a problem (16.67\u{a0}%).",
        "second 0 is 2026-03-18 10:00:00",
        "40 × <code>database unreachable</code>",
        "<th scope=\"row\">10:06:30</th>",
        "no seat &lt;b&gt;\n    at shop.Seats.take(Seats.java:1)",
        "<code>level&gt;=error</code></th><td>120</td><td>100.00</td>",
        "<code>exception</code></th><td>60</td>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(page.matches("<noscript><svg class=\"still\"").count(), 3, "pictures without scripts");
    assert!(!page.contains("the baseline"), "no baseline was given");
}

#[test]
fn templates_that_the_baseline_lacks_come_first() {
    let page = page(&log("server.log", 600, true), Some(&log("quiet.log", 600, false)));
    assert!(page.contains("<h1>quiet.log → server.log</h1>"));
    assert!(
        page.contains("<span class=\"mark bad\">worse</span>: of 2 templates that are new or more frequent")
    );
    let place = |words: &str| page.find(&format!("<summary><code>{words}")).expect(words);
    assert!(place("no seat for") < place("payment"), "new before known");
    assert!(place("database") < place("payment"));
    assert!(page.contains("new, <span class=\"soft\"><span class=\"mark bad\">significant</span>"));
    assert!(page.contains("<td class=\"text\">in both</td>"));
}

#[test]
fn logs_that_are_short_or_have_no_times_have_a_page() {
    let short = log("server.log", 60, true);
    let html = page(&short, None);
    assert!(html.contains("Bursts of this log are unavailable: the first 140 seconds"));
    let mut timeless = short;
    timeless.has_times = false;
    timeless.counts.length_s = None;
    let html = page(&timeless, None);
    assert_eq!(sections(&html), ["templates", "traces", "rules", "glossary"]);
    assert!(html.contains("entries, without times"));
}
