//! Runs JMeter's batch tests with the real binary; see `busyhour_standin::BATCH_TEST_PLANS`.
//!
//! The files belong to JMeter and must be next to the workspace (`../shared/jmeter-testfiles`); otherwise the test prints that it was
//! skipped. `conformance/known-differences-peer.json` lists the plans that differ, with reasons; a plan that no longer differs must
//! be removed from it. `PEER_ONLY=part-of-a-name` runs only some plans.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "skipped tests must be visible")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_standin::{BATCH_TEST_PLANS, BatchTestPlan, peer_files};

/// Number of plans that run at the same time. Some plans wait for timers.
const AT_ONCE: usize = 3;

#[test]
fn plans_of_jmeters_tests_have_the_results_of_jmeter() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Some(testfiles) = peer_files(&workspace) else {
        eprintln!("SKIPPED: JMeter's test files are missing");
        return;
    };
    let known = std::fs::read(workspace.join("conformance/known-differences-peer.json")).unwrap();
    let known: BTreeMap<String, String> = serde_json::from_slice(&known).unwrap();
    let only = std::env::var("PEER_ONLY").unwrap_or_default();
    let plans: Vec<BatchTestPlan> =
        BATCH_TEST_PLANS.into_iter().filter(|plan| plan.name.contains(&only)).collect();
    assert!(known.keys().all(|name| BATCH_TEST_PLANS.iter().any(|plan| plan.name == *name)));
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let folder = tempfile::tempdir().unwrap();
                    let program = Path::new(env!("CARGO_BIN_EXE_busyhour"));
                    let outcome = plan.run(program, &testfiles, folder.path()).unwrap();
                    let problem = match (outcome.problems.is_empty(), known.get(plan.name)) {
                        (true, None) | (false, Some(_)) => continue,
                        (true, Some(why)) => {
                            format!("the plan no longer differs: remove it from the list ({why})")
                        }
                        (false, None) => outcome.problems.join("\n"),
                    };
                    problems.lock().unwrap().push(format!("=== {}\n{problem}", plan.name));
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
