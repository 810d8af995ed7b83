use busyhour_gclog::{GcLogReader, GcSummary};

use super::*;

/// A log with a young collection every 0.1 s, and a full collection after every 20.
fn log(events: usize, live_growth_kib: usize) -> NamedGcLog {
    let mut reader = GcLogReader::new();
    reader.line("[0.005s][info][gc] Using Parallel");
    for at in 1..=events {
        let time_s = at as f64 / 10.0;
        let live = 20_000 + at * live_growth_kib;
        let (kind, after, ms) = match at % 20 {
            0 => ("Full (Ergonomics)", live, 50.0),
            young => ("Young (Allocation Failure)", live + 1_000 * young, 1.0 + young as f64 / 10.0),
        };
        let before = after + 40_000;
        reader.line(&format!(
            "[{time_s:.3}s][info][gc] GC({at}) Pause {kind} {before}K->{after}K(262144K) {ms:.3}ms"
        ));
    }
    NamedGcLog { name: "logs/<b>.log".into(), summary: GcSummary::of(&reader.finish()) }
}

fn sections(page: &str) -> Vec<&str> {
    page.split("<section id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn a_page_has_plots_tables_and_verdicts() {
    let page = gc_html(&log(1_200, 20));
    assert_eq!(
        sections(&page),
        ["heap", "pauses", "percentiles", "rates", "live", "causes", "figures", "lines", "glossary"]
    );
    for words in [
        "1,200 pauses stopped the application for",
        "<span class=\"mark bad\">leak</span>: Live memory grows: a leak,",
        "<th scope=\"row\">Ergonomics</th><td>60</td>",
        "log <code>gc*</code> instead of <code>gc</code>",
        "<title>&lt;b&gt;.log: garbage collection – Busyhour</title>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Each plot also has a picture for browsers without scripts.
    assert_eq!(page.matches("<noscript><svg class=\"still\"").count(), 4);
    let (text, _) = page.split_once("<script type=\"application/json\"").unwrap();
    assert!(!text.contains("NaN") && !text.contains(" inf "), "all numbers are valid");
}

#[test]
fn a_comparison_has_both_sides_in_each_plot() {
    let (before, after) = (log(1_200, 20), log(600, 0));
    let comparison = GcComparison::of(&before.summary, &after.summary);
    let page = gc_comparison_html(&before, &after, &comparison);
    assert_eq!(
        sections(&page),
        ["figures", "heap", "pauses", "percentiles", "rates", "live", "causes", "lines", "glossary"]
    );
    for words in [
        "used after, before",
        "used after, after",
        "<span class=\"mark good\">no leak</span>",
        "<span class=\"mark bad\">leak</span>",
        "The second log is 0.5 times as long",
        "1,200 pauses, before; 600 pauses, after",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_page_of_a_long_log_is_bounded() {
    let short = gc_html(&log(50_000, 0)).len();
    let long = gc_html(&log(200_000, 0)).len();
    assert!(long < 900_000 && long < 2 * short, "{short} {long}");
}

#[test]
fn a_log_without_pauses_has_a_page() {
    let mut reader = GcLogReader::new();
    reader.line("[1.0s][info][gc] GC(0) Garbage Collection (Warmup) 90M(94%)->10M(10%)");
    let page = gc_html(&NamedGcLog { name: "z.log".into(), summary: GcSummary::of(&reader.finish()) });
    assert_eq!(sections(&page), ["heap", "live", "causes", "figures", "lines", "glossary"]);
    assert!(page.contains("The length of pauses is unavailable"), "{page}");
}
