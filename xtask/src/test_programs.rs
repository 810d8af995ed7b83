//! Runs the tests of the workspace as `cargo test --workspace` does, but several test programs at the same time. Cargo runs one
//! after another, and most of them use a single core or wait.
//!
//! Tests of the program itself start servers, load and JVMs, which must not compete with other tests for the CPU. Their test
//! programs run one after another, when all others have ended.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use xtask_common::project;

/// The package whose test programs run alone.
const ALONE: &str = "crates/cli";

/// Test programs that run alone and mostly wait for processes, so that they have twice as many threads as the machine has cores.
const WAITING: [&str; 2] = ["cluster", "end_to_end"];

/// A compiled test program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TestProgram {
    /// The directory of its package in the workspace, and the name of the test target.
    name: String,
    executable: PathBuf,
    /// Tests run in the directory of their package.
    package_dir: PathBuf,
}

impl TestProgram {
    /// The test program in a message of Cargo; `None` for other messages.
    fn from_message(line: &str, root: &Path) -> Option<TestProgram> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            return None;
        }
        let executable = PathBuf::from(message["executable"].as_str()?);
        let package_dir = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        let package = package_dir.strip_prefix(root).unwrap_or(&package_dir).display();
        let target = message["target"]["name"].as_str()?;
        let name = match message["target"]["kind"][0].as_str()? {
            "test" => format!("{package}/tests/{target}"),
            _ => format!("{package}/src"),
        };
        Some(TestProgram { name, executable, package_dir })
    }

    fn is_alone(&self, root: &Path) -> bool {
        self.package_dir == root.join(ALONE)
    }

    fn threads(&self, cores: usize) -> usize {
        match WAITING.iter().any(|name| self.name == format!("{ALONE}/tests/{name}")) {
            true => 2 * cores,
            false => cores,
        }
    }

    fn run(&self, cores: usize) -> Result<Output> {
        without_package(Command::new(&self.executable))
            .current_dir(&self.package_dir)
            .env("CARGO_MANIFEST_DIR", &self.package_dir)
            .env("RUST_TEST_THREADS", self.threads(cores).to_string())
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("{} cannot be started", self.executable.display()))
    }
}

/// The command without the variables that Cargo set for the package of this tool. With them, Cargo would build packages again whose
/// build scripts read such variables.
fn without_package(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let is_of_package =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if name.to_str().is_some_and(is_of_package) {
            command.env_remove(name);
        }
    }
    command
}

/// Compiles all test programs and runs them.
///
/// # Errors
/// A program cannot be compiled, or tests fail.
pub(crate) fn run() -> Result<()> {
    let root = project::root();
    let programs = compile(&root)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (alone, others): (Vec<_>, Vec<_>) = programs.into_iter().partition(|program| program.is_alone(&root));
    let count = alone.len() + others.len();
    let mut failed = run_queue(others, cores, cores);
    failed.extend(run_queue(alone, 1, cores));
    ensure!(failed.is_empty(), "{} of {count} test programs failed: {}", failed.len(), failed.join(", "));
    println!("{count} test programs passed");
    Ok(())
}

fn compile(root: &Path) -> Result<Vec<TestProgram>> {
    let mut cargo = without_package(project::cargo())
        .args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"])
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()?;
    let messages = cargo.stdout.take().context("no output of cargo")?;
    let mut programs = Vec::new();
    for line in BufReader::new(messages).lines() {
        programs.extend(TestProgram::from_message(&line?, root));
    }
    if !cargo.wait()?.success() {
        bail!("the tests cannot be compiled");
    }
    ensure!(!programs.is_empty(), "Cargo has reported no test programs");
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

/// Runs the programs, so many at the same time, and returns the names of those that failed.
fn run_queue(programs: Vec<TestProgram>, workers: usize, cores: usize) -> Vec<String> {
    let (queue, failed) = (Mutex::new(VecDeque::from(programs)), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(program) = lock(&queue).pop_front() {
                    let start = Instant::now();
                    let outcome = program.run(cores);
                    let is_success = outcome.as_ref().is_ok_and(|output| output.status.success());
                    // The texts of two programs are not mixed.
                    let mut failed = lock(&failed);
                    print(&program.name, &outcome, start.elapsed().as_secs_f64());
                    if !is_success {
                        failed.push(program.name);
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints everything that a program printed.
fn print(name: &str, outcome: &Result<Output>, seconds: f64) {
    let mut text = format!("     Running {name} ({seconds:.1} s)\n");
    match outcome {
        Ok(output) => {
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            text.push_str(&String::from_utf8_lossy(&output.stdout));
            if !output.status.success() {
                text.push_str(&format!("error: {name}: {}\n", output.status));
            }
        }
        Err(error) => text.push_str(&format!("error: {error:#}\n")),
    }
    let _ = std::io::stdout().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &str, name: &str, is_test: bool) -> String {
        serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": "/project/crates/cli/Cargo.toml",
            "target": { "kind": [kind], "name": name },
            "profile": { "test": is_test },
            "executable": format!("/project/target/debug/deps/{name}-1"),
        })
        .to_string()
    }

    #[test]
    fn test_programs_are_found_in_the_messages_of_cargo() {
        let root = Path::new("/project");
        let program = TestProgram::from_message(&message("test", "cluster", true), root).unwrap();
        assert_eq!(program.name, "crates/cli/tests/cluster");
        assert_eq!(program.package_dir, Path::new("/project/crates/cli"));
        assert!(program.is_alone(root));
        assert_eq!(program.threads(2), 4);
        let unit = TestProgram::from_message(&message("bin", "busyhour", true), root).unwrap();
        assert_eq!((unit.name.as_str(), unit.threads(2)), ("crates/cli/src", 2));
        assert_eq!(TestProgram::from_message(&message("bin", "busyhour", false), root), None);
        assert_eq!(TestProgram::from_message("{\"reason\":\"build-finished\",\"success\":true}", root), None);
        assert_eq!(TestProgram::from_message("a line that a build script printed", root), None);
    }

    #[cfg(unix)]
    #[test]
    fn programs_that_fail_or_are_missing_are_named() {
        let program = |name: &str, executable: &str| TestProgram {
            name: name.to_owned(),
            executable: executable.into(),
            package_dir: "/".into(),
        };
        let programs = vec![
            program("good", "/bin/true"),
            program("bad", "/bin/false"),
            program("missing", "/nonexistent/program"),
        ];
        let mut failed = run_queue(programs, 2, 1);
        failed.sort();
        assert_eq!(failed, ["bad", "missing"]);
    }
}
