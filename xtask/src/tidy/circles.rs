//! Finds cycles of imports between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

use super::finding::Finding;
use super::imports::{self, ImportGraph};
use super::tree::File;

/// Files of a crate that import from each other in a cycle, by their paths from the root.
type Cycle<'a> = BTreeSet<&'a str>;

/// Finds the import cycles of all crates.
///
/// # Errors
/// A source cannot be read.
pub fn check(files: &[File]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for directory in files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml")) {
        let graph = imports::import_graph(files, directory)?;
        findings.extend(find(&graph).iter().map(|cycle| {
            let names: Vec<&str> = cycle.iter().map(|file| &file[directory.len() + 1..]).collect();
            let what = format!(
                "import cycle: {}; `cargo xtask tidy --circles {directory}` prints it",
                names.join(", ")
            );
            Finding::new(directory, what)
        }));
    }
    Ok(findings)
}

/// Prints the cycles of the crate in `directory` with the imports between their files.
///
/// # Errors
/// A source cannot be read.
pub fn print(files: &[File], directory: &str) -> Result<()> {
    let graph = imports::import_graph(files, directory)?;
    ensure!(
        !graph.is_empty(),
        "{directory:?} has no sources; use the directory of a crate, such as crates/http"
    );
    let cycles = find(&graph);
    println!("{directory}: {} cycles", cycles.len());
    for cycle in cycles {
        println!("\ncycle of {} files", cycle.len());
        for file in &cycle {
            let targets = graph[*file].iter().map(String::as_str);
            let inside: Vec<&str> = targets.filter(|target| cycle.contains(target)).collect();
            println!("  {file} imports from {}", inside.join(", "));
        }
    }
    Ok(())
}

/// The cycles of one crate: maximal sets of files that all import from each other, directly or indirectly.
fn find(graph: &ImportGraph) -> Vec<Cycle<'_>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (file.as_str(), reachable(file, graph))).collect();
    let mut cycles: Vec<Cycle<'_>> = Vec::new();
    for (file, targets) in &reached {
        if !targets.contains(file) || cycles.iter().any(|cycle| cycle.contains(file)) {
            continue;
        }
        cycles.push(targets.iter().copied().filter(|target| reached[target].contains(file)).collect());
    }
    cycles
}

/// The files that `file` imports from, directly or indirectly; `file` itself only if it is in a cycle.
fn reachable<'a>(file: &str, graph: &'a ImportGraph) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = graph[file].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(graph[next].iter().map(String::as_str));
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
    fn imports_in_one_direction_are_not_a_cycle() {
        assert_eq!(findings(&[("a", "b c"), ("b", "c"), ("c", "")]), [""; 0]);
    }

    #[test]
    fn all_cycles_are_found() {
        let found = findings(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a e"), ("e", "d")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("src/a.rs, src/b.rs, src/c.rs;"), "{found:?}");
        assert!(found[1].contains("src/d.rs, src/e.rs;"), "{found:?}");
    }
}
