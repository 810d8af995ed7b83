//! Checks the pages for users: the length of the README, and the index of the documentation.

use super::finding::Finding;
use super::tree::File;

/// The first page. It contains the information for new users, and other pages contain the details.
const FIRST: &str = "README.md";
/// The largest number of lines of the first page.
const FIRST_LINES_MAX: usize = 200;
/// The index of the documentation.
const INDEX: &str = "docs/README.md";

/// Checks that the first page is short, and that the index links every page.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let text = |path: &str| files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
    let lines = text(FIRST).lines().count();
    if lines > FIRST_LINES_MAX {
        let what = format!(
            "has {lines} lines, at most {FIRST_LINES_MAX} are allowed; move details to a page in docs"
        );
        findings.push(Finding::new(FIRST, what));
    }
    let index = text(INDEX);
    for file in files.iter().filter(|file| file.path != INDEX && file.path.ends_with(".md")) {
        if let Some(page) = file.path.strip_prefix("docs/")
            && !index.contains(&format!("]({page})"))
        {
            findings.push(Finding::new(INDEX, format!("does not link {page}; add a line for it")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_first_pages_and_pages_missing_in_the_index_are_found() {
        let tree = |lines: usize, index: &str| {
            let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
            vec![
                file(FIRST, &"line\n".repeat(lines)),
                file(INDEX, index),
                file("docs/recipes/a.md", ""),
                file("docs/plot.svg", ""),
            ]
        };
        assert_eq!(check(&tree(200, "[a](recipes/a.md)")), []);
        assert_eq!(check(&tree(201, "[a](recipes/a.md)")).len(), 1);
        assert_eq!(check(&tree(10, "recipes/a.md")).len(), 1);
    }
}
