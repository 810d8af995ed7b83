//! What axe-core finds on a page: rules of the WCAG that a program can check.

use std::path::Path;
use std::sync::OnceLock;

use crate::devtools::Browser;

/// Runs axe with what is folded away opened, and leaves the page as it was.
///
/// A table of hundreds of rows takes it long and has nothing that a short one has not: it is looked at in one width only.
const RUN: &str = r"(async () => {
    if (document.querySelectorAll('tr').length > 400 && innerWidth < 1000) return [];
    const folded = [...document.querySelectorAll('details:not([open])')];
    for (const details of folded) details.open = true;
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ['violations'] });
    for (const details of folded) details.open = false;
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(node => node.html.slice(0, 120)).join(' | ')}`);
})()";

/// The source of axe-core, which `npm ci` puts into `ui/node_modules`; without it this is said once, and nothing is checked.
fn source() -> Option<&'static str> {
    static SOURCE: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/node_modules/axe-core/axe.min.js");
        let found = std::fs::read_to_string(file).ok();
        if found.is_none() {
            #[allow(clippy::print_stderr, reason = "who runs the tests must learn that this was left out")]
            {
                eprintln!(
                    "NOT CHECKED: no axe-core (npm ci in crates/report/ui), so nobody looked for barriers on the pages"
                );
            }
        }
        found
    };
    SOURCE.get_or_init(read).as_deref()
}

/// The rules that the page breaks.
pub fn barriers(browser: &mut Browser) -> Vec<String> {
    let Some(source) = source() else { return Vec::new() };
    browser.evaluate(&format!("{source}; 0"));
    serde_json::from_value(browser.evaluate(RUN)).unwrap()
}
