//! JMeter's own batch tests, run by the real binary: see `busyhour_standin::PEER_PLANS`.
//!
//! The files belong to JMeter and stand beside the workspace (`../shared/jmeter-testfiles`); where they do not, the test
//! says that it was skipped. Plans that differ, and why, stand in `conformance/known-differences-peer.json`; one that
//! stops differing must be taken off that list. `PEER_ONLY=part-of-a-name` runs some plans only.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "a test that does nothing must say so")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_standin::{PEER_PLANS, PeerPlan, peer_files};

/// Some plans wait for timers.
const AT_ONCE: usize = 3;

#[test]
fn plans_of_jmeters_own_tests_write_what_jmeter_writes() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Some(testfiles) = peer_files(&workspace) else {
        eprintln!("SKIPPED: JMeter's test files are not beside the workspace");
        return;
    };
    let known = std::fs::read(workspace.join("conformance/known-differences-peer.json")).unwrap();
    let known: BTreeMap<String, String> = serde_json::from_slice(&known).unwrap();
    let only = std::env::var("PEER_ONLY").unwrap_or_default();
    let plans: Vec<PeerPlan> = PEER_PLANS.into_iter().filter(|plan| plan.name.contains(&only)).collect();
    assert!(known.keys().all(|name| PEER_PLANS.iter().any(|plan| plan.name == *name)));
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
                        (true, Some(why)) => format!("agrees now; take it off the list ({why})"),
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
