//! JMeter's own batch tests, those of release 5.6.3: the CSV file that a plan's own listener writes must equal the expected
//! one byte for byte (line ends aside), and the log must hold no error.
//!
//! The files belong to JMeter and stand beside the workspace (`../shared/jmeter-testfiles`); where they do not, the test
//! says that it was skipped. The XML files beside the CSV files are not compared: XML is not written yet, which the
//! run must say.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "a test that does nothing must say so")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Plans whose elements are all supported.
const COMPARED: [&str; 4] = ["Bug62239", "BUG_62847", "Bug56243", "TestHeaderManager"];

/// Plans that are refused, each with what it is refused for. One that no longer is belongs among those compared.
const REFUSED: [(&str, &str); 9] = [
    ("BatchTestLocal", "JavaSampler"),
    ("Bug50898", "IncludeController"),
    ("Bug52968", "JavaSampler"),
    ("Bug54685", "JavaSampler"),
    ("Bug55375", "ModuleController"),
    ("Bug56811", "JavaSampler"),
    ("HTMLParserTestFile_2", "embedded resources"),
    ("TestResultStatusAction", "ResultAction"),
    ("TestSchedulerWithTimer", "setResponseData"),
];

/// The exit code of a plan that is refused.
const EXIT_REFUSED: i32 = 3;

#[test]
fn listeners_write_what_jmeter_expects() {
    let Some(testfiles) = testfiles() else { return };
    let mut problems = Vec::new();
    for plan in COMPARED {
        let folder = tempfile::tempdir().unwrap();
        let ran = run(&testfiles, folder.path(), plan);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        if !ran.status.success() {
            problems.push(format!("=== {plan}: {}\n{said}", ran.status));
            continue;
        }
        let name = format!("{plan}.csv");
        let (expected, actual) = (lines(&testfiles.join(&name)), lines(&folder.path().join(&name)));
        problems.extend(first_difference(&expected, &actual).map(|what| format!("=== {plan}: {what}")));
        let log = fs::read_to_string(folder.path().join("jmeter.log")).unwrap();
        problems.extend(
            log.lines().filter(|line| line.contains(" ERROR ")).map(|line| format!("=== {plan}: {line}")),
        );
        let xml = format!("{plan}.xml");
        if testfiles.join(&xml).exists() && !said.contains(&format!("{xml} is to be written as XML")) {
            problems.push(format!("=== {plan}: {xml} is missing, and nothing says so\n{said}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn what_cannot_be_run_alike_is_refused_by_name() {
    let Some(testfiles) = testfiles() else { return };
    let mut problems = Vec::new();
    for (plan, reason) in REFUSED {
        let folder = tempfile::tempdir().unwrap();
        let ran = run(&testfiles, folder.path(), plan);
        let said = String::from_utf8_lossy(&ran.stderr);
        if ran.status.code() != Some(EXIT_REFUSED) || !said.contains(reason) {
            problems.push(format!("=== {plan}: not refused for {reason:?} ({})\n{said}", ran.status));
        }
        if folder.path().join(format!("{plan}.csv")).exists() {
            problems.push(format!("=== {plan}: refused, but its listener wrote a file"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

fn testfiles() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/jmeter-testfiles/testfiles");
    match path.canonicalize() {
        Ok(path) => Some(path),
        Err(_) => {
            eprintln!("SKIPPED: JMeter's test files are not at {}", path.display());
            None
        }
    }
}

/// Runs a plan as JMeter's build does: in a folder that holds `testfiles`, with its properties.
fn run(testfiles: &Path, folder: &Path, plan: &str) -> Output {
    std::os::unix::fs::symlink(testfiles, folder.join("testfiles")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_busyhour"))
        .args(["-n", "-t", &format!("testfiles/{plan}.jmx"), "-q", "testfiles/jmeter-batch.properties"])
        .args(["-Jmodule=Module", "-Gmodule=Module", &format!("-JCSVFILE={plan}.csv"), "-j", "jmeter.log"])
        .args((plan == "Bug54685").then_some("-Jsample_variables=REFERENCE,JSESSIONID"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

fn first_difference(expected: &[String], actual: &[String]) -> Option<String> {
    if expected.len() != actual.len() {
        return Some(format!("{} lines in JMeter, {} here", expected.len(), actual.len()));
    }
    let at = expected.iter().zip(actual).position(|(expected, actual)| expected != actual)?;
    Some(format!("line {}\n  in JMeter: {}\n  here:      {}", at + 1, expected[at], actual[at]))
}
