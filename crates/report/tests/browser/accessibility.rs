//! Checks pages with axe-core, which tests the rules of the WCAG that a program can check.

use std::path::Path;
use std::sync::OnceLock;

use crate::devtools::Browser;

/// Runs axe with all collapsed elements opened, and collapses them again.
///
/// axe needs a long time for a table of hundreds of rows, which contains the same kinds of elements as a short table.
/// Such tables are therefore checked only on a wide screen.
const RUN: &str = r"(async () => {
    if (document.querySelectorAll('tr').length > 400 && innerWidth < 1000) return [];
    const folded = [...document.querySelectorAll('details:not([open])')];
    for (const details of folded) details.open = true;
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ['violations'] });
    for (const details of folded) details.open = false;
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(node => node.html.slice(0, 120)).join(' | ')}`);
})()";

/// The source of axe-core, which `npm ci` puts into `ui/node_modules`.
fn source() -> Option<&'static str> {
    static SOURCE: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/node_modules/axe-core/axe.min.js");
        std::fs::read_to_string(file).ok()
    };
    SOURCE.get_or_init(read).as_deref()
}

/// The rules that the page violates; `None` without axe-core.
pub fn barriers(browser: &mut Browser) -> Option<Vec<String>> {
    browser.evaluate(&format!("{}; 0", source()?));
    Some(serde_json::from_value(browser.evaluate(RUN)).unwrap())
}
