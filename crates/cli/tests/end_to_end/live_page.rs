//! Tests the live page in a real browser: it shows a run, its buttons change the run, and its layout is stable. Without Chromium
//! these tests are skipped with a message.
//!
//! With `BUSYHOUR_KEEP_PAGES=DIR` screenshots of the page are stored in that directory.

use std::path::PathBuf;

use busyhour_sample::LoadChange;

use crate::program::{Room, wait_for};
use crate::servers::Server;
use devtools::{Browser, Screen};

// Shares the browser driver with the tests of the report.
#[allow(dead_code)]
#[path = "../../../report/tests/browser/devtools.rs"]
mod devtools;

/// Records layout shifts without user input.
const WATCH_SHIFTS: &str = "window.shifts = 0; window.moved = []; new PerformanceObserver(list => { for (const entry of list.getEntries()) \
    if (!entry.hadRecentInput) { window.shifts += entry.value; for (const { node } of entry.sources) \
    window.moved.push(node?.outerHTML?.slice(0, 120) ?? node?.textContent) } }).observe({ type: 'layout-shift', buffered: true })";

/// Finds rows of figures whose height changes with long numbers. Restores the page.
const ROWS_THAT_GROW: &str = "[...document.querySelectorAll('.live-figures tbody tr')].filter(row => { \
    const cells = [...row.querySelectorAll('td')], words = cells.map(cell => cell.textContent); \
    const height = words => { cells.forEach((cell, i) => cell.textContent = words[i]); return row.offsetHeight }; \
    const grows = height(['1,234 (56.7 %)', '1,234,567 requests']) !== height(['1', '1']); height(words); return grows \
    }).map(row => row.textContent)";

fn wait_until(browser: &mut Browser, condition: &str) {
    let look = format!(
        "new Promise(done => {{ const look = () => ({condition}) ? done(true) : setTimeout(look, 20); look() }})"
    );
    assert_eq!(browser.evaluate(&look), true, "{condition}");
}

fn press(browser: &mut Browser, id: &str) {
    browser.evaluate(&format!("document.getElementById('{id}').click()"));
}

/// Problems of the current page.
fn problems(browser: &mut Browser) -> Vec<String> {
    let mut found = browser.errors();
    for (what, expression) in [
        ("the page is not wider than the window", "document.documentElement.scrollWidth <= innerWidth"),
        ("no element moves", "window.shifts === 0"),
        (
            "all plots are drawn",
            "[...document.querySelectorAll('figure.plot')].every(plot => plot.querySelector('canvas'))",
        ),
        ("no invalid number is shown", "!/NaN|Infinity|undefined|\\[object/.test(document.body.innerText)"),
    ] {
        let value = browser.evaluate(expression);
        if value != true {
            found.push(format!("{what}: {value}; moved: {}", browser.evaluate("window.moved")));
        }
    }
    found
}

fn picture(browser: &mut Browser, name: &str) {
    if let Some(dir) = std::env::var_os("BUSYHOUR_KEEP_PAGES").map(PathBuf::from) {
        use base64::Engine as _;
        let png = base64::engine::general_purpose::STANDARD.decode(browser.screenshot(true)).unwrap();
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{name}.png")), png).unwrap();
    }
}

#[test]
fn the_page_follows_a_run_and_its_buttons_work() {
    let Some(chromium) = devtools::installed() else {
        #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!("SKIPPED: there is no Chromium on this machine");
        }
        return;
    };
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let line = ["run", &url, "--arrivals", "poisson(200/s) for 1h", "--live", "--threshold", "p95 < 1s"];
    let running = room.start(line);
    let page = wait_for("the page's address", || {
        let printed = running.stderr();
        let (_, rest) = printed.split_once("live page: ")?;
        rest.split_once('\n').map(|(url, _)| url.to_owned())
    });
    let mut browser = Browser::start(&chromium);
    let completed = "parseInt(document.getElementById('completed-all').textContent.replaceAll(',', ''))";
    for width in [360, 1440] {
        browser.open_url(&page, Screen { width, height: 900, is_dark: width == 360 }, WATCH_SHIFTS);
        wait_until(
            &mut browser,
            &format!("{completed} > 0 && document.querySelectorAll('figure canvas').length >= 4"),
        );
        browser.evaluate(&format!("window.before = {completed}"));
        wait_until(&mut browser, &format!("{completed} > window.before"));
        assert_eq!(problems(&mut browser), Vec::<String>::new(), "{width}");
        assert_eq!(browser.evaluate(ROWS_THAT_GROW), serde_json::json!([]), "{width}");
        picture(&mut browser, &format!("live-{width}"));
    }
    press(&mut browser, "pause");
    wait_until(&mut browser, "document.body.dataset.state === 'paused'");
    assert_eq!(browser.evaluate("document.getElementById('pause').textContent"), "Resume");
    press(&mut browser, "faster");
    wait_until(&mut browser, "document.getElementById('rate-factor').value === '1.25'");
    press(&mut browser, "pause");
    wait_until(&mut browser, "document.body.dataset.state === 'running'");
    browser.evaluate("document.getElementById('rate-factor').value = '500'; document.getElementById('rate-form').noValidate = true");
    press(&mut browser, "set-rate");
    wait_until(&mut browser, "/100 times/.test(document.getElementById('live-answer').textContent)");
    press(&mut browser, "stop");
    assert_eq!(browser.evaluate("document.getElementById('confirm-stop').open"), true);
    press(&mut browser, "stop-not");
    assert_eq!(browser.evaluate("document.body.dataset.state"), "running");
    press(&mut browser, "stop");
    press(&mut browser, "stop-now");
    // A second command is sent before the first response.
    browser.evaluate("document.getElementById('confirm-stop').showModal()");
    wait_until(&mut browser, "document.body.dataset.state === 'ended'");
    assert_eq!(browser.evaluate("document.getElementById('confirm-stop').open"), false);
    let is_shown =
        |class: &str| format!("getComputedStyle(document.querySelector('.{class}')).display !== 'none'");
    assert_eq!(browser.evaluate(&is_shown("until-end")), false, "the text for the end of the run is shown");
    assert_eq!(browser.evaluate(&is_shown("at-end")), true);
    wait_until(&mut browser, "document.getElementById('live-changes').children.length === 4");
    picture(&mut browser, "live-ended");
    // The browser logs a refused command as an error, which is expected.
    let found = problems(&mut browser);
    assert!(found.iter().all(|complaint| complaint.contains("409")), "{found:?}");
    running.end().expect(4);
    let changes: Vec<LoadChange> = room.manifest().events.iter().map(|event| event.change).collect();
    let rate = LoadChange::Rate { factor: 1.25 };
    assert_eq!(changes, [LoadChange::Pause, rate, LoadChange::Resume, LoadChange::Stop]);
}
