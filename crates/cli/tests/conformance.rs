//! Runs every plan in `conformance/cases` with the real binary, and compares the requests (byte for byte), the rows of the results
//! file, the written files and the exit code with those of Apache JMeter 5.6.3.
//!
//! `conformance/known-differences.json` lists the cases that differ, with reasons; a case that no longer differs must be removed
//! from it. `conformance/own-exit-codes.json` lists the cases whose exit code differs on purpose (docs/stopping.md), with that code;
//! everything else of these cases is compared. `CONFORMANCE_ONLY=part-of-a-name` runs only some cases.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_standin::{ConformanceCase, StandIn, cases, differences};

/// Number of cases that run at the same time. Most cases wait for timers, not for the processor.
const AT_ONCE: usize = 6;

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

#[test]
fn plans_behave_as_in_jmeter() {
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let known: BTreeMap<String, String> =
        serde_json::from_slice(&std::fs::read(conformance().join("known-differences.json")).unwrap())
            .unwrap();
    let own_codes: BTreeMap<String, i32> =
        serde_json::from_slice(&std::fs::read(conformance().join("own-exit-codes.json")).unwrap()).unwrap();
    let all: Vec<ConformanceCase> = cases(&conformance().join("cases"))
        .unwrap()
        .into_iter()
        .filter(|case| only.is_empty() || case.name.contains(&only))
        .collect();
    assert!(!all.is_empty(), "no case has a name that contains {only:?}");
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = replay(case, own_codes.get(&case.name).copied());
                    let problem = match (outcome, known.get(&case.name)) {
                        (Ok(()), None) => continue,
                        (Ok(()), Some(why)) => {
                            format!("the case no longer differs: remove it from the list ({why})")
                        }
                        (Err(_), Some(_)) => continue,
                        (Err(difference), None) => difference.to_string(),
                    };
                    problems.lock().unwrap().push(format!("=== {}\n{problem}", case.name));
                }
            });
        }
    });
    let mut problems = problems.into_inner().unwrap();
    problems.sort();
    for name in known.keys().chain(own_codes.keys()) {
        let there = all.iter().any(|case| case.name == *name) || !only.is_empty();
        assert!(there, "a list of differences contains an unknown case: {name}");
    }
    assert!(
        problems.is_empty(),
        "{} of {} cases differ:\n\n{}",
        problems.len(),
        all.len(),
        problems.join("\n\n")
    );
}

/// Runs a case and compares it. `own_code` is the exit code if it differs from JMeter's on purpose.
fn replay(case: &ConformanceCase, own_code: Option<i32>) -> Result<(), Box<dyn Error>> {
    let server = StandIn::start()?;
    let out = tempfile::tempdir()?;
    let runs = tempfile::tempdir()?;
    let ran = Command::new(env!("CARGO_BIN_EXE_busyhour"))
        .args(case.command_line(&server, out.path()))
        .current_dir(runs.path())
        .stdin(Stdio::null())
        .output()?;
    let expected = case.expected()?;
    let code = match (ran.status.code().unwrap_or(-1), own_code) {
        (code, Some(own)) if code == own => expected.exit_code,
        (code, Some(own)) => return Err(format!("exit code {code} instead of {own}").into()),
        (code, None) => code,
    };
    let actual = case.collect(&server, out.path(), code)?;
    let Some(difference) = differences(&expected, &actual) else { return Ok(()) };
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let log = std::fs::read_to_string(out.path().join("jmeter.log")).unwrap_or_default();
    let problems: Vec<_> =
        log.lines().filter(|line| line.contains("ERROR") || line.contains("WARN")).take(5).collect();
    Err(format!(
        "{difference}\nstderr:\n{}\nlog: {problems:?}",
        stderr.lines().take(12).collect::<Vec<_>>().join("\n")
    )
    .into())
}
