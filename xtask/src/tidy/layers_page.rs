//! Draws the layers of crates in ARCHITECTURE.md, and checks that this page describes each crate.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use xtask_common::markers::replace_part;

use super::finding::Finding;
use super::layers::{CrateRule, LAYERS, short};
use super::metadata::Package;

/// The page with the drawing of the layers, and the name of the part that contains it.
const PAGE: &str = "ARCHITECTURE.md";
const MARK: &str = "layers";

/// The number of crates below this one in the longest chain of allowed dependencies.
fn level(rule: &CrateRule) -> usize {
    let used = rule.may_use.iter().filter_map(|name| LAYERS.iter().find(|other| other.name == *name));
    used.filter(|other| other.is_layered).map(|other| level(other) + 1).max().unwrap_or(0)
}

/// Draws the layers, the highest first.
fn drawing() -> String {
    let width = LAYERS.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut out = String::from("```\n");
    let mut draw = |title: &str, rules: &mut dyn Iterator<Item = &CrateRule>| {
        let mut title = title;
        for rule in rules {
            let _ = writeln!(out, "{title:<8}  {:width$}  {}", rule.name, rule.purpose);
            title = "";
        }
    };
    let highest = LAYERS.iter().map(level).max().unwrap_or(0);
    for number in (0..=highest).rev() {
        let mut rules = LAYERS.iter().filter(|rule| rule.is_layered && level(rule) == number);
        draw(&format!("level {number}"), &mut rules);
    }
    draw("beside", &mut LAYERS.iter().filter(|rule| !rule.is_layered));
    out += "```\n";
    out
}

/// Writes the drawing of the layers into the page.
///
/// # Errors
/// The page cannot be read or written, or has no place for the drawing.
pub fn write(root: &Path) -> Result<()> {
    let path = root.join(PAGE);
    fs::write(&path, replace_part(&fs::read_to_string(&path)?, MARK, &drawing())?)?;
    println!("updated {PAGE}");
    Ok(())
}

/// Checks that the page has the current drawing of the layers.
pub fn check_drawing(page: &str) -> Vec<Finding> {
    let drawing = drawing();
    match replace_part(page, MARK, &drawing) {
        Ok(current) if current == page => Vec::new(),
        Ok(_) => {
            let what = format!(
                "its drawing of the layers is out of date; update it with cargo xtask layers. It should be:\n{drawing}"
            );
            vec![Finding::new(PAGE, what)]
        }
        Err(error) => vec![Finding::new(PAGE, error.to_string())],
    }
}

/// Checks that the code map has a heading for each crate.
pub fn check_map(packages: &[Package], map: &str) -> Vec<Finding> {
    let headings = || map.lines().filter_map(|line| line.strip_prefix("### "));
    let named = |name: &str| {
        let code = format!("`crates/{name}`");
        headings().any(|heading| heading.split(", ").any(|part| part == code))
    };
    let ours = packages.iter().filter(|package| package.is_member() && !package.name.starts_with("xtask"));
    ours.filter(|package| !named(short(&package.name)))
        .map(|package| Finding::new(PAGE, format!("the code map does not contain {}", short(&package.name))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_drawn_above_those_that_they_use() {
        for rule in LAYERS.iter().filter(|rule| rule.is_layered) {
            for used in LAYERS.iter().filter(|other| other.is_layered && rule.may_use.contains(&other.name)) {
                assert!(level(used) < level(rule), "{} uses {}", rule.name, used.name);
            }
        }
        let drawing = drawing();
        let line =
            |name: &str| drawing.lines().position(|line| line.contains(&format!("  {name} "))).unwrap();
        assert!(line("cli") < line("engine") && line("engine") < line("limits"), "{drawing}");
        assert!(LAYERS.iter().all(|rule| drawing.contains(rule.purpose)), "{drawing}");
    }

    #[test]
    fn an_outdated_drawing_is_found() {
        let page = |drawing: &str| format!("a\n<!-- layers: begin -->\n{drawing}<!-- layers: end -->\nb\n");
        assert_eq!(check_drawing(&page(&drawing())), []);
        let findings = check_drawing(&page("old\n"));
        assert!(findings[0].what.contains(&drawing()), "{findings:?}");
        assert_eq!(check_drawing("no place").len(), 1);
    }

    #[test]
    fn crates_missing_in_the_map_are_found() {
        let packages = ["busyhour-http", "busyhour-engine", "xtask"]
            .map(|name| Package { name: name.to_owned(), ..Package::default() });
        let findings = check_map(&packages, "# Map\n\n### `crates/http`\nSee crates/engine.\n");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].what.ends_with("does not contain engine"));
    }
}
