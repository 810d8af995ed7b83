//! Real plans: every file is read without an error and written back byte for byte.

mod soundness;

use std::path::{Path, PathBuf};

use busyhour_diagnostic::has_errors;
use busyhour_plan::parse;

/// Plans that JMeter 5.6.3 does not load either.
const DAMAGED: &[&str] =
    &["tests_resources_jmeter_jmx_broken.jmx", "tests_resources_jmeter_jmx_int_threads.jmx"];

/// The plans below a folder, sorted; empty if the folder does not exist.
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

#[test]
fn real_plans_are_read_and_written_back() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = crate_folder.join("../../../shared");
    let own = plans(&crate_folder.join("tests/plans"));
    assert!(!own.is_empty());
    let others = ["corpus-dev", "jmeter-testfiles"].map(|name| plans(&shared.join(name))).concat();
    for path in own.iter().chain(&others) {
        let source = std::fs::read(path).unwrap();
        let (plan, diagnostics) = parse(&source, "plan.jmx");
        let is_plan = plan.source().contains("<jmeterTestPlan");
        let is_damaged = DAMAGED.iter().any(|name| path.ends_with(name));
        assert_eq!(has_errors(&diagnostics), is_damaged || !is_plan, "{}: {diagnostics:?}", path.display());
        soundness::check(&source);
    }
}
