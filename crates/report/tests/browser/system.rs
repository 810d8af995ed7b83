//! The section on the observed system in a browser.

use busyhour_record::RunDir;
use busyhour_report::html_report_with_system;
use busyhour_results::{SystemRecord, add_observed};

use crate::devtools::Screen;
use crate::{Pages, WATCH_SHIFTS, browser, observed, page_problems, sample, wanted};

/// The page of a run whose system was observed.
fn page() -> String {
    let dir = tempfile::tempdir().unwrap();
    observed::shop(60).write(dir.path());
    observed::write_logs(dir.path());
    observed::write_sources(dir.path());
    let (run, mut summary) = (RunDir::open(dir.path()), sample::summary(wanted(8, 6_000, true, true)));
    add_observed(&run, None, &mut summary);
    let record = SystemRecord::of_summary(&run, &summary).unwrap();
    assert_eq!(record.problems, [""; 0]);
    html_report_with_system(&summary, Some(&record))
}

#[test]
fn the_observed_system_is_complete_at_every_width_in_both_themes() {
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    let file = pages.write("system", &page());
    for (width, is_dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
        let screen = Screen { width, height: 900, is_dark };
        browser.open(&file, screen, WATCH_SHIFTS);
        let found = page_problems(&mut browser, true);
        assert!(found.is_empty(), "{screen:?}:\n{}", found.join("\n"));
        let theme = if is_dark { "dark" } else { "light" };
        pages.picture(&mut browser, &format!("system-{width}-{theme}"), true);
    }
}

#[test]
fn the_cursor_shows_the_values_of_all_plots() {
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    let file = pages.write("system-cursor", &page());
    browser.open(&file, Screen { width: 1280, height: 900, is_dark: false }, WATCH_SHIFTS);
    browser.evaluate("document.querySelector('#plot-rate .canvas').focus()");
    browser.press("Home", 36);
    browser.press("PageUp", 33);
    let heads = "[...new Set([...document.querySelectorAll('.panel th.now')].map(head => head.textContent))]";
    assert_eq!(browser.evaluate(heads), serde_json::json!(["3 s"]));
    let cells = "[...document.querySelectorAll('.panel td.now')].filter(cell => /[0-9]/.test(cell.textContent)).length";
    assert!(browser.evaluate(cells).as_u64().unwrap() > 60);
    browser.press("Escape", 27);
    assert_eq!(browser.evaluate(heads), serde_json::json!(["cursor"]));
    assert_eq!(browser.errors(), [""; 0]);
}
