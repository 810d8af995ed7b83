//! No circles between the files of a crate: if a file imports from another, that one does not lead back to it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

use super::finding::Finding;
use super::imports::{self, Arrows};
use super::tree::File;

/// Files of a crate that import from each other in a circle, by their paths from the root.
type Circle<'a> = BTreeSet<&'a str>;

/// Finds the circles of all crates.
///
/// # Errors
/// Fails if a source cannot be read.
pub fn check(files: &[File]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for directory in files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml")) {
        let arrows = imports::arrows(files, directory)?;
        findings.extend(find(&arrows).iter().map(|circle| {
            let names: Vec<&str> = circle.iter().map(|file| &file[directory.len() + 1..]).collect();
            let what = format!(
                "circle of imports: {}; `cargo xtask tidy --circles {directory}` prints it",
                names.join(", ")
            );
            Finding::new(directory, what)
        }));
    }
    Ok(findings)
}

/// Prints the circles of the crate in `directory` with the imports between their files.
///
/// # Errors
/// Fails if a source cannot be read.
pub fn print(files: &[File], directory: &str) -> Result<()> {
    let arrows = imports::arrows(files, directory)?;
    ensure!(
        !arrows.is_empty(),
        "{directory:?} has no sources; name the directory of a crate, such as crates/http"
    );
    let circles = find(&arrows);
    println!("{directory}: {} circles", circles.len());
    for circle in circles {
        println!("\ncircle of {} files", circle.len());
        for file in &circle {
            let targets = arrows[*file].iter().map(String::as_str);
            let inside: Vec<&str> = targets.filter(|target| circle.contains(target)).collect();
            println!("  {file} imports from {}", inside.join(", "));
        }
    }
    Ok(())
}

/// The circles of one crate: largest sets of files that all lead to each other.
fn find(arrows: &Arrows) -> Vec<Circle<'_>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|file| (file.as_str(), reachable(file, arrows))).collect();
    let mut circles: Vec<Circle<'_>> = Vec::new();
    for (file, targets) in &reached {
        if !targets.contains(file) || circles.iter().any(|circle| circle.contains(file)) {
            continue;
        }
        circles.push(targets.iter().copied().filter(|target| reached[target].contains(file)).collect());
    }
    circles
}

/// The files that the imports of `file` lead to; `file` itself only if it is in a circle.
fn reachable<'a>(file: &str, arrows: &'a Arrows) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = arrows[file].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(arrows[next].iter().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in a crate whose files `a`, `b`, … import from the named files.
    fn findings(imports: &[(&str, &str)]) -> Vec<String> {
        let file = |path: &str, text: String| File { path: path.to_owned(), text };
        let mut files =
            vec![file("crates/x/Cargo.toml", String::new()), file("crates/x/src/lib.rs", String::new())];
        for (name, targets) in imports {
            let text = targets
                .split_whitespace()
                .map(|target| format!("use crate::{target}::of_{target};\n"))
                .collect();
            files.push(file(&format!("crates/x/src/{name}.rs"), text));
        }
        check(&files).unwrap().iter().map(|finding| finding.what.clone()).collect()
    }

    #[test]
    fn imports_in_one_direction_are_no_circle() {
        assert_eq!(findings(&[("a", "b c"), ("b", "c"), ("c", "")]), [""; 0]);
    }

    #[test]
    fn each_circle_is_found() {
        let found = findings(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a e"), ("e", "d")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("src/a.rs, src/b.rs, src/c.rs;"), "{found:?}");
        assert!(found[1].contains("src/d.rs, src/e.rs;"), "{found:?}");
    }
}
