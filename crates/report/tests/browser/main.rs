//! Tests pages in a real browser: the script runs without errors, plots are drawn, nothing moves or overflows, and
//! everything is reachable by keyboard. Without Chromium, these tests print that they are skipped.
//!
//! With `BUSYHOUR_KEEP_PAGES=DIR`, the tests write the pages and screenshots of them into that directory.

mod accessibility;
mod devtools;
mod gc;
mod logs;
#[path = "../observed/mod.rs"]
mod observed;
mod sample;
mod system;
mod what_if;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use busyhour_analysis::comparison::{ComparedClock, ComparisonSettings, MeasuredRun};
use busyhour_analysis::{Comparison, Summary};
use busyhour_queueing::fit::{CapacityFit, CapacityModel, FitSettings, LoadPoint, ModelChoice};
use busyhour_report::{LivePage, capacity_html, comparison_html, html_report, live_html, what_if_html};
use busyhour_results::{RunReading, measure_run};
use devtools::{Browser, Screen};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use sample::{HOSTILE, Wanted};

const WIDTHS: [u32; 3] = [360, 768, 1440];

/// Records the elements that move without user input.
const WATCH_SHIFTS: &str = "window.shifts = []; new PerformanceObserver(list => { for (const entry of list.getEntries()) \
    if (!entry.hadRecentInput) window.shifts.push(...entry.sources.map(source => [source.previousRect.toJSON(), \
    source.currentRect.toJSON(), source.node?.outerHTML?.slice(0, 120) ?? source.node?.textContent])) })\
    .observe({ type: 'layout-shift', buffered: true })";

/// Prints that a check was skipped, and why.
fn not_checked(why: &str) {
    #[allow(clippy::print_stderr, reason = "skipped tests must be visible")]
    {
        eprintln!("NOT CHECKED: {why}");
    }
}

/// A browser, if one is installed.
fn browser() -> Option<Browser> {
    let found = devtools::installed();
    if found.is_none() {
        not_checked("there is no chromium on this machine, so no page was opened");
    }
    Some(Browser::start(&found?))
}

/// The directory for pages: the one from the environment, which is kept, or a temporary one.
struct Pages {
    dir: PathBuf,
    is_kept: bool,
    _temporary: Option<tempfile::TempDir>,
}

impl Pages {
    fn new() -> Pages {
        match std::env::var_os("BUSYHOUR_KEEP_PAGES") {
            Some(dir) => {
                std::fs::create_dir_all(&dir).unwrap();
                Pages { dir: std::fs::canonicalize(dir).unwrap(), is_kept: true, _temporary: None }
            }
            None => {
                let temporary = tempfile::tempdir().unwrap();
                Pages { dir: temporary.path().to_owned(), is_kept: false, _temporary: Some(temporary) }
            }
        }
    }

    fn write(&self, name: &str, html: &str) -> PathBuf {
        let file = self.dir.join(format!("{name}.html"));
        std::fs::write(&file, html).unwrap();
        file
    }

    /// Takes a screenshot if a directory for them is set.
    fn picture(&self, browser: &mut Browser, name: &str, is_whole: bool) {
        if self.is_kept {
            let png = base64::engine::general_purpose::STANDARD.decode(browser.screenshot(is_whole)).unwrap();
            std::fs::write(self.dir.join(format!("{name}.png")), png).unwrap();
        }
    }
}

fn wanted(labels: usize, requests: u64, has_errors: bool, is_open: bool) -> Wanted {
    Wanted { labels, requests, seconds: 60, has_errors, is_open }
}

/// A summary of a record with totals and seconds only.
fn without_details(mut summary: Summary) -> Summary {
    summary.heat = None;
    summary.slowest.clear();
    summary.labels.iter_mut().for_each(|row| row.series = None);
    summary
}

fn runs() -> Vec<(&'static str, Summary)> {
    vec![
        ("one-label", sample::summary(wanted(1, 3_000, false, true))),
        ("errors", sample::summary(wanted(8, 12_000, true, true))),
        ("500-labels", sample::summary(wanted(500, 60_000, true, false))),
        ("nothing-over-time", without_details(sample::summary(wanted(3, 2_000, true, false)))),
        ("no-samples", sample::summary(wanted(1, 0, false, false))),
        ("one-sample", sample::summary(wanted(1, 1, false, false))),
    ]
}

/// The problems of the page; no problem is expected.
fn page_problems(browser: &mut Browser, has_plots: bool) -> Vec<String> {
    let mut found = browser.errors();
    let mut expect = |what: &str, expression: &str| {
        let value = browser.evaluate(expression);
        if value != true && value != serde_json::json!([]) {
            found.push(format!("{what}: {expression} is {value}"));
        }
    };
    expect("nothing overflows", "document.documentElement.scrollWidth <= innerWidth");
    expect("nothing moves", "window.shifts");
    expect(
        "no label is a script",
        "document.title.endsWith('Busyhour') && !document.querySelector('img, object, iframe')",
    );
    expect(
        "every plot has a canvas",
        "[...document.querySelectorAll('figure.plot')].every(plot => plot.querySelector('canvas'))",
    );
    // A plot that has only its frame has few coloured pixels.
    expect(
        "every plot is drawn",
        "[...document.querySelectorAll('figure.plot canvas')].every(canvas => { const data = canvas.getContext('2d')\
         .getImageData(0, 0, canvas.width, canvas.height).data; let inked = 0; for (let at = 3; at < data.length; at += 4) \
         inked += data[at] > 0; return inked > 400 })",
    );
    expect(
        "plots have names and captions",
        "[...document.querySelectorAll('main > section > .plot > .canvas')].every(plot => plot.getAttribute('aria-label') && \
         document.getElementById(plot.getAttribute('aria-describedby')).textContent.length > 20)",
    );
    expect(
        "plots where there is something to draw",
        &format!("(document.querySelectorAll('figure.plot').length > 0) === {has_plots}"),
    );
    expect("all numbers are valid", "!/NaN|Infinity|undefined|\\[object/.test(document.body.innerText)");
    expect(
        "terms are defined",
        "[...document.querySelectorAll('a.def')].every(term => document.getElementById(term.hash.slice(1)))",
    );
    expect(
        "ids are unique",
        "(ids => new Set(ids).size === ids.length)([...document.querySelectorAll('[id]')].map(element => element.id))",
    );
    match accessibility::barriers(browser) {
        Some(barriers) => found.extend(barriers),
        None => not_checked(
            "axe-core is not installed (npm ci in crates/report/ui), so accessibility was not checked",
        ),
    }
    found
}

#[test]
fn pages_are_complete_at_every_width_in_both_themes() {
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    for (name, summary) in runs() {
        let file = pages.write(name, &html_report(&summary));
        for (width, is_dark) in WIDTHS.into_iter().flat_map(|width| [(width, false), (width, true)]) {
            let screen = Screen { width, height: 900, is_dark };
            browser.open(&file, screen, WATCH_SHIFTS);
            let found = page_problems(&mut browser, summary.total.samples > 0);
            assert!(found.is_empty(), "{name} at {screen:?}:\n{}", found.join("\n"));
            let theme = if is_dark { "dark" } else { "light" };
            pages.picture(&mut browser, &format!("{name}-{width}-{theme}"), true);
        }
    }
}

#[test]
fn nothing_moves_while_a_slow_browser_loads_a_page() {
    let Some(mut browser) = browser() else { return };
    browser.slow_down(8.0);
    let pages = Pages::new();
    for (name, summary) in runs().into_iter().take(2) {
        let file = pages.write(name, &html_report(&summary));
        browser.open(&file, Screen { width: 768, height: 900, is_dark: false }, WATCH_SHIFTS);
        assert_eq!(browser.evaluate("window.shifts"), serde_json::json!([]), "{name}");
    }
}

fn open_errors(browser: &mut Browser, pages: &Pages, width: u32) {
    let file = pages.write("interaction", &html_report(&sample::summary(wanted(8, 4_000, true, true))));
    browser.open(&file, Screen { width, height: 900, is_dark: false }, WATCH_SHIFTS);
}

#[test]
fn every_control_is_reached_by_tab() {
    let Some(mut browser) = browser() else { return };
    open_errors(&mut browser, &Pages::new(), 768);
    let controls = "[...document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]')]\
        .filter(control => control.checkVisibility())";
    let count = browser
        .evaluate(&format!("window.wanted = new Set({controls}); window.wanted.size"))
        .as_u64()
        .unwrap();
    assert!(count > 60, "{count}");
    browser.evaluate(
        "window.seen = new Set(); addEventListener('focusin', event => window.seen.add(event.target)); 0",
    );
    for _ in 0..=count {
        browser.press("Tab", 9);
    }
    let missed = browser.evaluate(
        "[...window.wanted].filter(control => !window.seen.has(control)).map(control => control.outerHTML)",
    );
    assert_eq!(missed, serde_json::json!([]));
    assert_eq!(browser.errors(), [""; 0]);
}

#[test]
fn tables_sort_filter_and_open() {
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    open_errors(&mut browser, &pages, 1440);
    let first = "document.querySelector('#label-table tbody tr th').textContent";
    let header = |name: &str| {
        format!(
            "[...document.querySelectorAll('#label-table th')].find(head => head.textContent === '{name}')"
        )
    };
    browser.evaluate(&format!("{}.firstChild.click()", header("max")));
    assert_eq!(browser.evaluate(&format!("{}.ariaSort", header("max"))), "descending");
    let column = "[...document.querySelectorAll('#label-table tbody tr')].map(row => parseFloat(row.cells[14].textContent.replace(',', '')))";
    let values: Vec<f64> = serde_json::from_value(browser.evaluate(column)).unwrap();
    assert!(values.len() == 9 && values.is_sorted_by(|a, b| a >= b), "{values:?}");
    browser.evaluate(&format!("{}.firstChild.click()", header("label")));
    assert_eq!(browser.evaluate(first), HOSTILE, "by the alphabet");

    browser.evaluate("(field => { field.value = 'BUY'; field.dispatchEvent(new Event('input')) })(document.querySelector('input'))");
    assert_eq!(browser.evaluate("document.querySelector('.row-count').textContent"), "1 of 9");
    let visible = "[...document.querySelectorAll('#label-table tbody tr')].filter(row => !row.hidden).length";
    assert_eq!(browser.evaluate(visible), 1);

    let button = "[...document.querySelectorAll('button.open')].find(button => button.textContent === 'Buy')";
    browser.evaluate(&format!("{button}.click()"));
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert_eq!(browser.evaluate(&format!("{button}.ariaExpanded")), "true");
    assert_eq!(browser.evaluate("document.querySelectorAll('tr.details canvas').length"), 3);
    let found = page_problems(&mut browser, true);
    assert!(found.is_empty(), "{}", found.join("\n"));
    pages.picture(&mut browser, "label-open", true);
    browser.evaluate(&format!("{button}.click()"));
    assert_eq!(browser.evaluate("document.querySelectorAll('tr.details').length"), 0);
}

#[test]
fn plots_show_values_by_keyboard_and_terms_show_definitions() {
    let Some(mut browser) = browser() else { return };
    open_errors(&mut browser, &Pages::new(), 768);
    browser.evaluate("document.querySelector('#plot-rate .canvas').focus()");
    browser.press("Home", 36);
    browser.press("ArrowRight", 39);
    let printed =
        browser.evaluate("document.querySelector('#plot-rate .canvas').getAttribute('aria-valuetext')");
    let printed = printed.as_str().unwrap().to_owned();
    assert!(printed.starts_with("at 1 s, ") && printed.contains("completed/s "), "{printed}");
    let value: f64 = printed.split("completed/s ").nth(1).unwrap().parse().unwrap();
    assert!((40.0..90.0).contains(&value), "about 67 requests per second: {printed}");
    let readout = browser.evaluate("document.querySelector('#plot-rate .readout').textContent");
    assert!(readout.as_str().unwrap().contains("at 1 s"), "{readout}");

    browser.evaluate("document.querySelector('a.def[href=\"#def-p95\"]').focus()");
    let tip = browser.evaluate("document.querySelector('.tip:not([hidden])').textContent");
    assert!(tip.as_str().unwrap().starts_with("95 %"), "{tip}");
    browser.press("Escape", 27);
    assert_eq!(browser.evaluate("document.querySelector('.tip').hidden"), true);
    assert_eq!(browser.errors(), [""; 0]);
}

/// Runs of one minute each. The times are `factor` times as long as those of other calls.
fn measured(dir: &Path, seeds: [u64; 3], factor: f64, labels: usize) -> Vec<MeasuredRun> {
    let reading = RunReading { clock: ComparedClock::Service, seed: Some(1), ..RunReading::default() };
    let run = |seed: u64| {
        let file = dir.join(format!("{seed}.jtl"));
        std::fs::write(&file, sample::jtl(seed, factor, labels)).unwrap();
        measure_run(&[file], &reading).unwrap()
    };
    seeds.map(run).into()
}

#[test]
fn the_page_of_a_comparison_is_complete() {
    let temporary = tempfile::tempdir().unwrap();
    let settings = ComparisonSettings { clock: ComparedClock::Service, ..ComparisonSettings::default() };
    let compare = |labels| {
        let base = measured(temporary.path(), [1, 2, 3], 1.0, labels);
        let new = measured(temporary.path(), [4, 5, 6], 1.3, labels);
        comparison_html(&Comparison::new(&base, &new, settings, Vec::new()).unwrap())
    };
    let html = compare(6);
    let (text, _) = html.split_once("<script type=\"application/json\"").unwrap();
    assert!(
        text.contains("slower") && text.contains("95th percentile, ms: 6 worse, 0 better, 0 neither"),
        "{text}"
    );
    assert!(
        text.matches("<circle").count() > 40 && !html.contains(HOSTILE),
        "bars are there without the script"
    );
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    for (name, html) in [("comparison", html), ("comparison-200", compare(200))] {
        let file = pages.write(name, &html);
        for (width, is_dark) in WIDTHS.into_iter().flat_map(|width| [(width, false), (width, true)]) {
            browser.open(&file, Screen { width, height: 900, is_dark }, WATCH_SHIFTS);
            let found = page_problems(&mut browser, true);
            assert!(found.is_empty(), "{name} at {width}:\n{}", found.join("\n"));
            pages.picture(
                &mut browser,
                &format!("{name}-{width}-{}", if is_dark { "dark" } else { "light" }),
                true,
            );
        }
    }
}

#[test]
fn the_pages_of_logs_are_complete() {
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    for (name, html) in gc::pages().into_iter().chain(logs::pages()) {
        let file = pages.write(name, &html);
        for (width, is_dark) in WIDTHS.into_iter().flat_map(|width| [(width, false), (width, true)]) {
            browser.open(&file, Screen { width, height: 900, is_dark }, WATCH_SHIFTS);
            let found = page_problems(&mut browser, true);
            assert!(found.is_empty(), "{name} at {width}:\n{}", found.join("\n"));
            let theme = if is_dark { "dark" } else { "light" };
            pages.picture(&mut browser, &format!("{name}-{width}-{theme}"), true);
        }
    }
}

/// Measurements of one server with a service time of 10 ms, and of users who think for a second. Some names contain a
/// script.
fn loads(users: &[f64], repeated: usize) -> Vec<LoadPoint> {
    let truth = CapacityModel::Queue { servers: 1, service_s: 0.01, latency_s: 0.02 };
    let mut points = Vec::new();
    for (at, &users) in users.iter().enumerate() {
        for again in 0..repeated {
            // Deviates slightly, in both directions.
            let off = 1.0 + 0.02 * ((at + again) % 3) as f64 - 0.02;
            let response_s = truth.predict(users, 1.0).response_s * off;
            let throughput_per_s = users / (response_s + 1.0);
            points.push(LoadPoint {
                name: if at == 1 { HOSTILE.to_owned() } else { format!("runs/users-{users}") },
                users,
                throughput_per_s,
                response_s: Some(response_s),
                throughput_error: Some(0.005 * throughput_per_s),
                response_error_s: Some(0.02 * response_s),
                think_s: Some(1.0),
                error_share: Some(if at == 0 { 0.04 } else { 0.0 }),
                ..LoadPoint::default()
            });
        }
    }
    points
}

#[test]
fn the_page_of_a_capacity_model_is_complete() {
    let fit = |points: &[LoadPoint], choice: ModelChoice| {
        let settings = FitSettings { choice, response_max_s: Some(0.2), ..FitSettings::default() };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        capacity_html(&CapacityFit::new(points, &settings, &mut random).unwrap(), "Shop <1>")
    };
    let all = [10.0, 30.0, 60.0, 90.0, 105.0, 130.0, 180.0];
    let html = fit(&loads(&all, 1), ModelChoice::Queue);
    let (text, _) = html.split_once("<script type=\"application/json\"").unwrap();
    for printed in [
        "Capacity: ",
        "Knee N*: ",
        "within 200 ms",
        "runs/users-180",
        "Shop &lt;1&gt;: capacity",
        "4.0 % of the requests failed",
    ] {
        assert!(text.contains(printed), "{printed}");
    }
    assert!(!html.contains(HOSTILE) && !html.contains("style=\""));
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    let few = loads(&all[1..3], 1);
    for (name, html) in [
        ("capacity", html),
        ("capacity-repeated", fit(&loads(&all, 3), ModelChoice::Queue)),
        ("capacity-best", fit(&few, ModelChoice::Auto)),
        ("capacity-usl", fit(&loads(&all, 1), ModelChoice::Usl)),
    ] {
        let file = pages.write(name, &html);
        for (width, is_dark) in WIDTHS.into_iter().flat_map(|width| [(width, false), (width, true)]) {
            browser.open(&file, Screen { width, height: 900, is_dark }, WATCH_SHIFTS);
            let found = page_problems(&mut browser, true);
            assert!(found.is_empty(), "{name} at {width}:\n{}", found.join("\n"));
            let theme = if is_dark { "dark" } else { "light" };
            pages.picture(&mut browser, &format!("{name}-{width}-{theme}"), true);
        }
    }
}

#[test]
fn the_page_of_a_what_if_analysis_is_complete() {
    let named = what_if_html(&what_if::of_strategies());
    let (text, _) = named.split_once("<script type=\"application/json\"").unwrap();
    for printed in [
        "route.strategy varies · 4 points · mean value analysis, exact; simulation, ± at 95 % confidence",
        "Throughput is largest with route.strategy = join-shortest-queue: 208.919 ± 0.047/s",
        "No solution with route.strategy = to-nobody: a saturated (120.00 %).",
        "17.98 ± 0.16",
    ] {
        assert!(text.contains(printed), "{printed}\n{text}");
    }
    assert!(!named.contains(HOSTILE) && !named.contains("style=\""));
    let Some(mut browser) = browser() else { return };
    let pages = Pages::new();
    for (name, html) in [
        ("what-if-strategies", named),
        ("what-if-users", what_if_html(&what_if::of_users(1, 1))),
        ("what-if-beside", what_if_html(&what_if::of_users(2, 3))),
        ("what-if-one-point", what_if_html(&what_if::of_one_point())),
    ] {
        let file = pages.write(name, &html);
        for (width, is_dark) in WIDTHS.into_iter().flat_map(|width| [(width, false), (width, true)]) {
            browser.open(&file, Screen { width, height: 900, is_dark }, WATCH_SHIFTS);
            let found = page_problems(&mut browser, true);
            assert!(found.is_empty(), "{name} at {width}:\n{}", found.join("\n"));
            // The readout contains the name of every line, and truncates names that do not fit.
            let cut = "[...document.querySelectorAll('.readout')].filter(line => line.scrollHeight > line.clientHeight + 1)\
                .map(line => line.textContent)";
            assert_eq!(browser.evaluate(cut), serde_json::json!([]), "{name} at {width}");
            let theme = if is_dark { "dark" } else { "light" };
            pages.picture(&mut browser, &format!("{name}-{width}-{theme}"), true);
        }
    }
    browser.evaluate("document.querySelector('#plot-x .canvas').focus()");
    browser.press("Home", 36);
    let printed =
        browser.evaluate("document.querySelector('#plot-x .canvas').getAttribute('aria-valuetext')");
    assert!(printed.as_str().unwrap().starts_with("buyers.users = 10, "), "{printed}");
}

/// The terms that the page links but does not define.
fn undefined_terms(html: &str) -> Vec<&str> {
    let links = html.split("href=\"#def-").skip(1).filter_map(|rest| rest.split('"').next());
    links.filter(|term| !html.contains(&format!("id=\"def-{term}\""))).collect()
}

#[test]
fn every_linked_term_is_defined_on_its_page() {
    let temporary = tempfile::tempdir().unwrap();
    let settings = ComparisonSettings { clock: ComparedClock::Service, ..ComparisonSettings::default() };
    let base = measured(temporary.path(), [1, 2, 3], 1.0, 6);
    let new = measured(temporary.path(), [4, 5, 6], 1.3, 6);
    let comparison = Comparison::new(&base, &new, settings, Vec::new()).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let points = loads(&[10.0, 30.0, 60.0, 90.0, 105.0, 130.0, 180.0], 1);
    let capacity = CapacityFit::new(&points, &FitSettings::default(), &mut random).unwrap();
    let live = LivePage { title: "Shop", requested: "poisson(1/s)", fixed_rate: None, report: "report.html" };
    let mut pages = vec![
        ("comparison", comparison_html(&comparison)),
        ("capacity", capacity_html(&capacity, "Shop")),
        ("what-if-users", what_if_html(&what_if::of_users(2, 3))),
        ("what-if-strategies", what_if_html(&what_if::of_strategies())),
        ("live", live_html(&live)),
    ];
    pages.extend(runs().iter().map(|(name, summary)| (*name, html_report(summary))));
    for (name, html) in &pages {
        assert_eq!(undefined_terms(html), [""; 0], "terms without a definition on the page {name}");
    }
    assert!(pages.iter().filter(|(_, html)| html.contains("href=\"#def-")).count() > 5);
    assert_eq!(undefined_terms("<a href=\"#def-min\">min</a>"), ["min"]);
}

#[test]
fn all_text_is_present_without_the_script() {
    let summary = sample::summary(wanted(500, 5_000, true, true));
    let page = html_report(&summary);
    let (text, _) = page.split_once("<script type=\"application/json\"").unwrap();
    for printed in [
        "poisson(200/s) for 1min",
        ">5,000</span> requests",
        "GET /api/v2/items/499",
        "503",
        "Slowest requests",
        "2 of 3 thresholds failed",
        "12.5 % from 30 s to 35 s, 9 of 56 windows",
        "--seed 20240203",
    ] {
        assert!(text.contains(printed), "{printed}");
    }
    assert!(
        !page.contains(HOSTILE) && !page.contains("style=\""),
        "and the policy allows no style in an element"
    );
    // The only link refers to the end of the page itself.
    let text = text.replacen("<link rel=\"expect\" href=\"#whole\" blocking=\"render\">", "", 1);
    for elsewhere in ["http://", "https://", "<img", "<link", "url("] {
        assert!(!text.contains(elsewhere), "{elsewhere}");
    }
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/dist/report.js").exists());
}
