//! Finds cycles of imports between the files of a crate, and between its modules.
//!
//! A module is a file together with all files in its directory. Modules are compared with their siblings, at every
//! level: an import between two files is an import between the two modules below their closest common parent. Imports
//! between a module and its own submodules count only as imports between files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anyhow::{Result, ensure};

use super::finding::Finding;
use super::imports::{self, ImportGraph};
use super::tree::File;

/// Files or modules that import from each other in a cycle.
type Cycle<'a> = BTreeSet<&'a str>;

/// Finds the import cycles of all crates.
///
/// # Errors
/// A source cannot be read.
pub fn check(files: &[File]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for directory in files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml")) {
        let graph = imports::import_graph(files, directory)?;
        let advice = format!("`cargo xtask tidy --circles {directory}` prints it");
        let of_files = find(&graph);
        findings.extend(of_files.iter().map(|cycle| {
            let names: Vec<&str> = cycle.iter().map(|file| below(file, directory)).collect();
            Finding::new(directory, format!("import cycle: {}; {advice}", names.join(", ")))
        }));
        // A cycle of files is usually also a cycle of their modules, which need not be reported again.
        if of_files.is_empty() {
            let modules = ModuleGraph::new(&graph, directory);
            findings.extend(find(&modules.graph).iter().map(|cycle| {
                let imports = modules.shortest(cycle);
                let what = format!("import cycle of modules: {}; {advice}", imports.join(", "));
                Finding::new(directory, what)
            }));
        }
    }
    Ok(findings)
}

fn below<'a>(file: &'a str, directory: &str) -> &'a str {
    &file[directory.len() + 1..]
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
    let modules = ModuleGraph::new(&graph, directory);
    let (of_files, of_modules) = (find(&graph), find(&modules.graph));
    println!("{directory}: {} cycles of files, {} cycles of modules", of_files.len(), of_modules.len());
    for cycle in of_files {
        println!("\ncycle of {} files", cycle.len());
        for file in &cycle {
            let targets = graph[*file].iter().map(String::as_str);
            let inside: Vec<&str> = targets.filter(|target| cycle.contains(target)).collect();
            println!("  {file} imports from {}", inside.join(", "));
        }
    }
    for cycle in of_modules {
        println!("\ncycle of {} modules", cycle.len());
        for (from, to) in cycle.iter().flat_map(|from| cycle.iter().map(move |to| (*from, *to))) {
            for (file, target) in modules.imports_between(from, to) {
                println!("  {from} > {to}: {file} imports from {target}");
            }
        }
    }
    Ok(())
}

/// The imports between the modules of a crate that have the same parent.
struct ModuleGraph {
    graph: ImportGraph,
    /// The imports between files, by their modules.
    imports: BTreeMap<(String, String), Vec<(String, String)>>,
}

impl ModuleGraph {
    fn new(files: &ImportGraph, directory: &str) -> Self {
        let mut graph = ImportGraph::new();
        let mut imports: BTreeMap<(String, String), Vec<(String, String)>> = BTreeMap::new();
        for (file, target) in
            files.iter().flat_map(|(file, targets)| targets.iter().map(move |to| (file, to)))
        {
            let Some((from, to)) = siblings(file, target, directory) else { continue };
            graph.entry(to.clone()).or_default();
            graph.entry(from.clone()).or_default().insert(to.clone());
            imports.entry((from, to)).or_default().push((file.clone(), target.clone()));
        }
        Self { graph, imports }
    }

    /// The imports from files of the module `from` to files of the module `to`.
    fn imports_between(&self, from: &str, to: &str) -> &[(String, String)] {
        self.imports.get(&(from.to_owned(), to.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The imports of a shortest cycle within `cycle`, each with one import between the files of two modules.
    fn shortest(&self, cycle: &Cycle<'_>) -> Vec<String> {
        let paths = cycle.iter().filter_map(|module| shortest_path_back(module, &self.graph));
        let path = paths.min_by_key(Vec::len).unwrap_or_default();
        let steps = path.windows(2).filter_map(|step| self.imports_between(step[0], step[1]).first());
        steps.map(|(from, to)| format!("{from} imports from {to}")).collect()
    }
}

/// A shortest path from `node` back to it, with `node` at both ends.
fn shortest_path_back<'a>(node: &'a str, graph: &'a ImportGraph) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open = VecDeque::from([node]);
    while let Some(next) = open.pop_front().filter(|_| !before.contains_key(node)) {
        for target in &graph[next] {
            before.entry(target).or_insert_with(|| {
                open.push_back(target);
                next
            });
        }
    }
    let mut path = vec![node, *before.get(node)?];
    while let Some(last) = path.last().copied().filter(|last| *last != node) {
        path.push(before[last]);
    }
    path.reverse();
    Some(path)
}

/// The modules below the closest common parent of two files; `None` if one of the files is that parent.
fn siblings(file: &str, target: &str, directory: &str) -> Option<(String, String)> {
    let [from, to] = [file, target].map(|file| imports::module_of(file, directory));
    let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let name = |module: &[String]| module.get(..=common).map(|names| names.join("::"));
    Some((name(&from)?, name(&to)?))
}

/// The cycles of a graph: maximal sets of nodes that all import from each other, directly or indirectly.
fn find(graph: &ImportGraph) -> Vec<Cycle<'_>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|node| (node.as_str(), reachable(node, graph))).collect();
    let mut cycles: Vec<Cycle<'_>> = Vec::new();
    for (node, targets) in &reached {
        if !targets.contains(node) || cycles.iter().any(|cycle| cycle.contains(node)) {
            continue;
        }
        cycles.push(targets.iter().copied().filter(|target| reached[target].contains(node)).collect());
    }
    cycles
}

/// The nodes that `node` imports from, directly or indirectly; `node` itself only if it is in a cycle.
fn reachable<'a>(node: &str, graph: &'a ImportGraph) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = graph[node].iter().map(String::as_str).collect();
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

    #[test]
    fn a_cycle_of_modules_is_reported_with_both_files() {
        let found = findings(&[("a", ""), ("a/in", "b"), ("b", ""), ("b/in", "a")]);
        assert_eq!(
            found,
            ["import cycle of modules: crates/x/src/a/in.rs imports from crates/x/src/b.rs, \
              crates/x/src/b/in.rs imports from crates/x/src/a.rs; \
              `cargo xtask tidy --circles crates/x` prints it"]
        );
    }

    #[test]
    fn the_parent_file_belongs_to_its_module() {
        let found = findings(&[("a", "b::inner"), ("a/inner", ""), ("b", "a::inner"), ("b/inner", "")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("src/a.rs imports from crates/x/src/b/inner.rs"), "{found:?}");
        assert!(found[0].contains("src/b.rs imports from crates/x/src/a/inner.rs"), "{found:?}");
    }

    #[test]
    fn the_shortest_cycle_of_modules_is_reported() {
        let found = findings(&[
            ("a", "b c"),
            ("b", "c"),
            ("c", "d"),
            ("d", ""),
            ("d/inner", "a e"),
            ("e", ""),
            ("e/inner", "d"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].matches("imports from").count(), 2, "{found:?}");
        assert!(found[0].contains("d/inner.rs imports from crates/x/src/e.rs"), "{found:?}");
    }

    #[test]
    fn modules_are_compared_with_their_siblings_at_every_level() {
        let found =
            findings(&[("p", ""), ("p/a", ""), ("p/a/inner", "p::b"), ("p/b", ""), ("p/b/inner", "p::a")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("p/a/inner.rs imports from crates/x/src/p/b.rs"), "{found:?}");
    }

    #[test]
    fn a_module_and_its_submodules_are_compared_only_as_files() {
        let found = findings(&[("a", "a::inner"), ("a/inner", "a::low"), ("a/low", ""), ("a/up", "a")]);
        assert_eq!(found, [""; 0]);
    }
}
