//! No circles between the files of a crate: if a file imports from another, that one does not lead back to it.
//!
//! The circles that are left are listed in `xtask/circles.json`, each with a reason. The list may only become shorter:
//! a listed file that is in no circle any more is a finding too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::{Value, json};

use super::finding::Finding;
use super::imports::{self, Arrows};
use super::tree::File;

/// The list of known circles, from the root.
const LIST: &str = "xtask/circles.json";

/// Files of a crate that import from each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Circle {
    /// The directory of the crate.
    directory: String,
    /// The files, from the directory of the crate.
    files: BTreeSet<String>,
    /// Why the circle is still there; empty for one that was found.
    reason: String,
}

/// Compares the circles of all crates with the list.
///
/// # Errors
/// Fails if the list or a source cannot be read.
pub fn check(files: &[File]) -> Result<Vec<Finding>> {
    let known = known(files)?;
    let found = find_all(files)?;
    let mut findings = Vec::new();
    for circle in &found {
        if known.iter().any(|known| covers(known, circle)) {
            continue;
        }
        let is_listed = |file: &&String| {
            known.iter().any(|known| known.directory == circle.directory && known.files.contains(*file))
        };
        let new: Vec<&str> =
            circle.files.iter().filter(|file| !is_listed(file)).map(String::as_str).collect();
        let what = if new.is_empty() { "joins listed circles".to_owned() } else { new.join(", ") };
        findings.push(Finding::new(
            &circle.directory,
            format!(
                "new circle of imports: {what}; `cargo xtask tidy --circles {}` prints it",
                circle.directory
            ),
        ));
    }
    for known in &known {
        let gone = known.files.difference(&still_in_circles(known, &found)).cloned().collect::<Vec<_>>();
        if !gone.is_empty() {
            let gone = gone.join(", ");
            findings.push(Finding::new(
                LIST,
                format!(
                    "{}: {gone} in no circle of this entry any more; run `cargo xtask tidy --shrink-circles`",
                    known.directory
                ),
            ));
        }
        if known.reason.trim().is_empty() {
            findings.push(Finding::new(LIST, format!("{}: a circle without a reason", known.directory)));
        }
    }
    Ok(findings)
}

/// Prints the circles of the crate in `directory` with the imports between their files.
///
/// # Errors
/// Fails if a source cannot be read.
pub fn print(files: &[File], directory: &str) -> Result<()> {
    let arrows = imports::arrows(files, directory).map_err(|error| anyhow!(error))?;
    ensure!(
        !arrows.is_empty(),
        "{directory:?} has no sources; name the directory of a crate, such as crates/http"
    );
    let circles = find(directory, &arrows);
    println!("{directory}: {} circles", circles.len());
    for circle in circles {
        println!("\ncircle of {} files", circle.files.len());
        for file in &circle.files {
            let targets = arrows[&format!("{directory}/{file}")].iter();
            let inside: Vec<&str> = targets
                .filter_map(|target| target.strip_prefix(&format!("{directory}/")))
                .filter(|target| circle.files.contains(*target))
                .collect();
            println!("  {file} imports from {}", inside.join(", "));
        }
    }
    Ok(())
}

/// Removes files from the list that are in no circle any more. Adds nothing.
///
/// # Errors
/// Fails if the list or a source cannot be read, or the list cannot be written.
pub fn shrink(root: &Path, files: &[File]) -> Result<()> {
    let found = find_all(files)?;
    let mut left = Vec::new();
    for known in known(files)? {
        for circle in found.iter().filter(|circle| covers(&known, circle)) {
            left.push(Circle { reason: known.reason.clone(), ..circle.clone() });
        }
    }
    let entries: Vec<Value> = left
        .iter()
        .map(|circle| json!({ "crate": circle.directory, "files": circle.files, "reason": circle.reason }))
        .collect();
    let text = serde_json::to_string_pretty(&entries)? + "\n";
    fs::write(root.join(LIST), text).with_context(|| format!("cannot write {LIST}"))?;
    println!(
        "{LIST}: {} circles of {} files",
        left.len(),
        left.iter().map(|circle| circle.files.len()).sum::<usize>()
    );
    Ok(())
}

/// Whether all files of `found` are in the one entry `known`.
fn covers(known: &Circle, found: &Circle) -> bool {
    known.directory == found.directory && found.files.is_subset(&known.files)
}

/// The files of the entry that are in circles within it.
fn still_in_circles(known: &Circle, found: &[Circle]) -> BTreeSet<String> {
    let of_crate = found.iter().filter(|circle| circle.directory == known.directory);
    of_crate.flat_map(|circle| circle.files.intersection(&known.files).cloned()).collect()
}

fn known(files: &[File]) -> Result<Vec<Circle>> {
    let Some(list) = files.iter().find(|file| file.path == LIST) else { return Ok(Vec::new()) };
    let entries: Vec<Value> =
        serde_json::from_str(&list.text).with_context(|| format!("{LIST} is no list"))?;
    let read = |entry: &Value| {
        read_entry(entry).with_context(|| format!("{LIST}: an entry lacks crate, files or reason: {entry}"))
    };
    entries.iter().map(read).collect()
}

fn read_entry(entry: &Value) -> Option<Circle> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let files = entry["files"].as_array()?.iter().map(text).collect::<Option<BTreeSet<_>>>()?;
    Some(Circle { directory: text(&entry["crate"])?, files, reason: text(&entry["reason"])? })
}

fn find_all(files: &[File]) -> Result<Vec<Circle>> {
    let mut circles = Vec::new();
    for directory in files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml")) {
        let arrows = imports::arrows(files, directory).map_err(|error| anyhow!(error))?;
        circles.extend(find(directory, &arrows));
    }
    Ok(circles)
}

/// The circles of one crate: largest sets of files that all lead to each other.
fn find(directory: &str, arrows: &Arrows) -> Vec<Circle> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|file| (file.as_str(), reachable(file, arrows))).collect();
    let mut circles: Vec<Circle> = Vec::new();
    let mut seen = BTreeSet::new();
    for (file, targets) in &reached {
        if !targets.contains(file) || seen.contains(file) {
            continue;
        }
        let members: BTreeSet<&str> =
            targets.iter().copied().filter(|target| reached[target].contains(file)).collect();
        seen.extend(members.iter().copied());
        let start = directory.len() + 1;
        let files = members.iter().map(|member| member[start..].to_owned()).collect();
        circles.push(Circle { directory: directory.to_owned(), files, reason: String::new() });
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

    /// A crate whose files `a`, `b`, … import from the files named, and the list of known circles.
    fn tree(imports: &[(&str, &str)], list: &Value) -> Vec<File> {
        let file = |path: &str, text: String| File { path: path.to_owned(), text };
        let mut files = vec![
            file("crates/x/Cargo.toml", String::new()),
            file("crates/x/src/lib.rs", String::new()),
            file(LIST, list.to_string()),
        ];
        for (name, targets) in imports {
            let text = targets
                .split_whitespace()
                .map(|target| format!("use crate::{target}::of_{target};\n"))
                .collect();
            files.push(file(&format!("crates/x/src/{name}.rs"), text));
        }
        files
    }

    fn findings(imports: &[(&str, &str)], list: &Value) -> Vec<String> {
        check(&tree(imports, list)).unwrap().iter().map(|finding| finding.what.clone()).collect()
    }

    fn entry(files: &[&str]) -> Value {
        let files: Vec<String> = files.iter().map(|file| format!("src/{file}.rs")).collect();
        json!({ "crate": "crates/x", "files": files, "reason": "one state" })
    }

    #[test]
    fn imports_in_one_direction_are_no_circle() {
        assert_eq!(findings(&[("a", "b c"), ("b", "c"), ("c", "")], &json!([])), [""; 0]);
    }

    #[test]
    fn a_new_circle_is_found_and_a_listed_one_is_not() {
        let imports = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
        let found = findings(&imports, &json!([]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("src/a.rs, src/b.rs, src/c.rs;"), "{found:?}");
        assert_eq!(findings(&imports, &json!([entry(&["a", "b", "c"])])), [""; 0]);
    }

    #[test]
    fn a_listed_circle_must_not_grow() {
        let imports = [("a", "b"), ("b", "a c"), ("c", "b")];
        let found = findings(&imports, &json!([entry(&["a", "b"])]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("new circle of imports: src/c.rs;"), "{found:?}");
    }

    #[test]
    fn two_listed_circles_must_not_become_one() {
        let imports = [("a", "b"), ("b", "a c"), ("c", "d"), ("d", "c a")];
        let found = findings(&imports, &json!([entry(&["a", "b"]), entry(&["c", "d"])]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("joins listed circles"), "{found:?}");
    }

    #[test]
    fn a_file_that_left_its_circle_must_leave_the_list() {
        let imports = [("a", "b"), ("b", "a"), ("c", "")];
        let found = findings(&imports, &json!([entry(&["a", "b", "c"])]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/x: src/c.rs in no circle"), "{found:?}");
    }

    #[test]
    fn shrinking_removes_and_adds_nothing() {
        let root = std::env::temp_dir().join(format!("busyhour-circles-{}", std::process::id()));
        fs::create_dir_all(root.join("xtask")).unwrap();
        let imports = [("a", "b"), ("b", "a"), ("c", ""), ("d", "e"), ("e", "d")];
        let mut files = tree(&imports, &json!([entry(&["a", "b", "c"])]));
        shrink(&root, &files).unwrap();
        let text = fs::read_to_string(root.join(LIST)).unwrap();
        fs::remove_dir_all(&root).unwrap();
        files.iter_mut().find(|file| file.path == LIST).unwrap().text = text;
        assert_eq!(known(&files).unwrap().len(), 1);
        let found = check(&files).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what.contains("src/d.rs, src/e.rs"), "{found:?}");
    }
}
