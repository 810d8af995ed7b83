//! Executes the short form of every shipped experiment. These tests are a program of their own, because neighbours take CPU time
//! from other tests.

#![cfg(target_os = "linux")]
#![cfg(feature = "demo")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Time for a single trial, on a busy machine. All others are much faster.
const PATIENCE: Duration = Duration::from_secs(180);

fn busyhour() -> Command {
    Command::new(env!("CARGO_BIN_EXE_busyhour"))
}

/// Ends the program if a test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The number of trials that ended.
fn ended(dir: &Path) -> usize {
    let journal = std::fs::read_to_string(dir.join("journal.jsonl")).unwrap_or_default();
    journal.matches("\"event\":\"ended\"").count()
}

/// Executes the short form of an experiment, and returns its report. The time of each trial is limited, not that of all: a busy
/// machine can spoil trials, which are repeated.
fn execute(name: &str) -> Value {
    execute_in(&tempfile::tempdir().unwrap(), name, name)
}

/// Like [`execute`], with trials that are shorter than in the file that is shipped.
fn execute_with_load(name: &str, shipped: &str, wanted: &str) -> Value {
    let room = tempfile::tempdir().unwrap();
    let status =
        busyhour().args(["experiment", "copy", name, "."]).current_dir(room.path()).status().unwrap();
    assert!(status.success(), "{name} was not copied: {status}");
    let file = format!("{name}.toml");
    let text = std::fs::read_to_string(room.path().join(&file)).unwrap();
    let (before, short) = text.split_once("[short]").unwrap();
    assert!(short.contains(shipped), "the short form of {name} has no {shipped:?}");
    let text = format!("{before}[short]{}", short.replacen(shipped, wanted, 1));
    std::fs::write(room.path().join(&file), text).unwrap();
    execute_in(&room, name, &file)
}

fn execute_in(room: &TempDir, name: &str, file: &str) -> Value {
    let log = |file: &str| std::fs::File::create(room.path().join(file)).unwrap();
    let mut command = busyhour();
    command.args([
        "experiment",
        "run",
        file,
        "--short",
        "--skip-unavailable",
        "--dir",
        "out",
        "-o",
        "report.json",
    ]);
    command.current_dir(room.path()).stdin(Stdio::null()).stdout(log("stdout")).stderr(log("stderr"));
    let mut running = Running(command.spawn().unwrap());
    let (mut trials, mut since) = (0, Instant::now());
    let status = loop {
        if let Some(status) = running.0.try_wait().unwrap() {
            break status;
        }
        let now = ended(&room.path().join("out"));
        if now > trials {
            (trials, since) = (now, Instant::now());
        }
        let messages = || std::fs::read_to_string(room.path().join("stderr")).unwrap_or_default();
        assert!(since.elapsed() < PATIENCE, "{name}: no trial ended in {PATIENCE:?}\n{}", messages());
        std::thread::sleep(Duration::from_millis(50));
    };
    let messages = std::fs::read_to_string(room.path().join("stderr")).unwrap();
    // With 1, trials have no result after all attempts, because the machine was too busy.
    let is_given_up = status.code() == Some(1) && messages.contains("no result after all attempts");
    assert!(status.success() || is_given_up, "{name} ended with {status}\n{messages}");
    if is_given_up {
        let _ = writeln!(std::io::stderr(), "{name}: the machine was too busy for some trials\n{messages}");
    }
    assert!(room.path().join("out/report.html").is_file());
    let report = std::fs::read_to_string(room.path().join("report.json")).unwrap();
    let stdout = std::fs::read_to_string(room.path().join("stdout")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(
        stdout.replace('\n', " ").starts_with(&report["sentence"].as_str().unwrap().replace('\n', " ")[..20])
    );
    report
}

/// Asserts that each response has values in all cases, unless trials were given up.
fn assert_values(report: &Value) {
    if !report["given_up"].as_array().unwrap().is_empty() {
        return;
    }
    for response in report["responses"].as_array().unwrap() {
        for case in response["analysis"]["cases"].as_array().unwrap() {
            assert!(case["trials"].as_u64().unwrap() > 0, "{} has no values: {case}", response["name"]);
        }
    }
}

/// The mean of a response for a case; `None` if trials were given up.
fn mean(report: &Value, response: &str, case: &str) -> Option<f64> {
    let names = report["case_names"].as_array().unwrap();
    let number = names.iter().position(|name| name == case).unwrap_or_else(|| panic!("{case}: {names:?}"));
    let responses = report["responses"].as_array().unwrap();
    let found = responses.iter().find(|one| one["name"] == response).unwrap();
    found["analysis"]["cases"][number]["value"].as_f64()
}

fn has_jdk() -> bool {
    let found = Command::new("javac").arg("-version").output().is_ok_and(|output| output.status.success());
    if !found {
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no javac");
    }
    found
}

#[test]
fn users_and_think_time_change_the_arrivals() {
    let report = execute("web-users");
    assert_values(&report);
    let cov = |case: &str| mean(&report, "CoV of arrivals", case);
    if let Some((few, many)) = cov("base").zip(cov("users=80 users - 1 s")) {
        // The theory: below 1 for few users, whose requests wait for each other.
        assert!(few > 0.5 && many < 1.5, "{few} and {many}");
    }
}

#[test]
fn neighbours_are_started_and_ended() {
    let report = execute("noisy-neighbour");
    assert!(report["case_names"].as_array().unwrap().iter().any(|name| name == "neighbour=streaming"));
    assert_values(&report);
}

#[test]
fn each_kind_of_pressure_has_a_dose() {
    let report = execute("neighbour-sensitivity");
    assert_eq!(report["factors"].as_array().unwrap().len(), 5);
    assert_values(&report);
}

#[test]
fn front_ends_of_the_broker_are_compared_by_users() {
    let report = execute("broker-threshold");
    assert_eq!(report["case_names"].as_array().unwrap().len(), 6);
}

#[test]
fn front_ends_of_the_broker_are_compared_by_payload_delay_and_users() {
    // Its 32 trials would take two minutes.
    let load = ("duration = \"3.5s\"\nramp-up = \"1.5s\"", "duration = \"1.5s\"\nramp-up = \"0.5s\"");
    let report = execute_with_load("broker", load.0, load.1);
    assert_eq!(report["case_names"].as_array().unwrap().len(), 16);
}

#[test]
fn cells_are_loaded_before_and_after_tuning() {
    if has_jdk() {
        let report = execute("cells-load");
        assert_eq!(report["case_names"].as_array().unwrap().len(), 8);
    }
}

#[test]
fn the_failing_configuration_of_the_cells_is_found() {
    if !has_jdk() {
        return;
    }
    let report = execute("cells-functional");
    let failed = |case: &str| mean(&report, "errors", case);
    if let Some(failed) = failed("configuration=4") {
        assert!(failed > 0.99, "{failed}");
    }
    if let Some(failed) = failed("configuration=6") {
        assert!(failed == 0.0, "{failed}");
    }
}
