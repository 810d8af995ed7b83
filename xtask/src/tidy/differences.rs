//! Checks the page of differences from JMeter: all cases and tests on it exist, and it contains all cases with known
//! differences.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use xtask_common::markers::replace_part;

use super::finding::Finding;
use super::tree::File;

/// The path of the page.
const PAGE: &str = "docs/jmeter-differences.md";
/// The path of the list of cases with known differences and reasons.
const KNOWN: &str = "conformance/known-differences.json";
/// The name of the part of the page that contains the list.
const MARK: &str = "known";

/// Writes the list of cases with known differences into the page.
///
/// # Errors
/// A file cannot be read or written.
pub fn write(root: &Path) -> Result<()> {
    let list = list(&fs::read_to_string(root.join(KNOWN))?)?;
    let page = fs::read_to_string(root.join(PAGE))?;
    fs::write(root.join(PAGE), replace_part(&page, MARK, &list)?)?;
    println!("updated {PAGE}");
    Ok(())
}

/// Formats the list of cases for the page.
///
/// # Errors
/// The text is not a JSON object of texts.
fn list(known: &str) -> Result<String> {
    let known: BTreeMap<String, String> =
        serde_json::from_str(known).with_context(|| format!("{KNOWN} is not an object of texts"))?;
    let mut out = String::from("| case | reason |\n|---|---|\n");
    for (case, why) in known {
        writeln!(out, "| `{case}` | {} |", why.replace('|', "\\|"))?;
    }
    Ok(out)
}

/// Checks the page against the files of the tree.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let (Some(page), Some(known)) = (text(PAGE), text(KNOWN)) else {
        return vec![Finding::new(PAGE, format!("it or {KNOWN} is missing"))];
    };
    let mut findings = Vec::new();
    match list(known) {
        Ok(list) if page.contains(&list) => {}
        Ok(_) => findings.push(Finding::new(
            PAGE,
            format!("its list differs from {KNOWN}; update it with cargo xtask differences"),
        )),
        Err(error) => findings.push(Finding::new(KNOWN, error.to_string())),
    }
    for (number, line) in (1..).zip(page.lines()) {
        for name in references(line) {
            let exists = match name.split_once("::") {
                Some((file, test)) => {
                    text(file).is_some_and(|source| source.contains(&format!("fn {test}(")))
                }
                None => text(&format!("conformance/cases/{name}/plan.jmx")).is_some(),
            };
            if !exists {
                let what = format!("contains {name}, which is neither a case nor a test (FILE::NAME)");
                findings.push(Finding::new(format!("{PAGE}:{number}"), what));
            }
        }
    }
    findings
}

/// The names in the last cell of a table row with four cells.
fn references(line: &str) -> Vec<&str> {
    let cells: Vec<_> = line.trim().trim_matches('|').split('|').collect();
    if cells.len() != 4 || !line.starts_with('|') {
        return Vec::new();
    }
    cells[3].split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(page: &str) -> Vec<File> {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        vec![
            file(PAGE, page),
            file(KNOWN, "{\"a-case\": \"because\"}"),
            file("conformance/cases/a-case/plan.jmx", ""),
            file("crates/x/tests/y.rs", "fn holds() {}"),
        ]
    }

    #[test]
    fn named_cases_must_exist_and_known_differences_must_be_listed() {
        let list = list("{\"a-case\": \"because\"}").unwrap();
        let good = format!("| J | B | why | `a-case`, `crates/x/tests/y.rs::holds` |\n{list}");
        assert_eq!(check(&tree(&good)), []);
        assert_eq!(check(&tree("nothing")).len(), 1);
        let bad = format!("| J | B | why | `b-case`, `crates/x/tests/y.rs::breaks` |\n{list}");
        assert_eq!(check(&tree(&bad)).len(), 2);
    }
}
