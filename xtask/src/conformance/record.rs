//! Runs the cases in JMeter and writes down what it did, or compares it with what is written down.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use busyhour_standin::{Case, StandIn, cases, compare};

use super::{launch, workers};
use crate::jmeter::JMeter;
use crate::jmeter_plugins::JMeterPlugins;

/// No case takes longer than a few seconds in JMeter; one that does hangs.
const TIME_MAX: Duration = Duration::from_secs(90);

/// What to do with a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Write it down.
    Record,
    /// Compare it with the one written down: a difference means that the case depends on time or chance.
    Verify,
}

/// Runs the cases whose names contain one of `names` (all, if there are none). Those whose plugins cannot be had are
/// left out, and named at the end.
///
/// # Errors
/// Fails when JMeter cannot be had, or when a case could not be run or differs; the others are dealt with.
pub fn run(dir: &Path, names: &[String], purpose: Purpose) -> Result<()> {
    let jmeter = JMeter::obtain()?;
    let chosen = cases(dir)?.into_iter().filter(|case| super::plans::chosen(&case.name, names));
    let mut plugins = JMeterPlugins::default();
    let mut skipped = Vec::new();
    let mut ready = Vec::new();
    for case in chosen {
        match plugins.obtain(&case.settings.plugins) {
            Ok(jars) => ready.push((case, jars)),
            Err(error) => skipped.push(format!("{}: SKIPPED, {error:#}", case.name)),
        }
    }
    let failed = workers::each(&ready, |(case, plugins)| {
        Ok(match run_one(case, &jmeter, plugins, purpose) {
            Ok(said) => {
                println!("{}{said}", case.name);
                None
            }
            Err(error) => {
                println!("{}: {error:#}", case.name);
                Some(case.name.clone())
            }
        })
    })?;
    let failed: Vec<String> = failed.into_iter().flatten().collect();
    skipped.iter().for_each(|line| println!("{line}"));
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// Runs one case; returns what JMeter's log complains of, which should be looked at once.
fn run_one(case: &Case, jmeter: &JMeter, plugins: &[PathBuf], purpose: Purpose) -> Result<String> {
    let server = StandIn::start()?;
    let out = tempfile::tempdir()?;
    let home = tempfile::tempdir()?;
    let mut command = launch::jmeter(jmeter, home.path(), plugins);
    command.args(case.command_line(&server, out.path()));
    let status = launch::to_end(command, TIME_MAX)?;
    let recording = case.collect(&server, out.path(), status.code().unwrap_or(-1))?;
    if purpose == Purpose::Verify {
        return match compare(&case.expected()?, &recording) {
            Ok(()) => Ok(String::new()),
            Err(difference) => bail!("differs from its recording:\n{difference}"),
        };
    }
    let mut text = serde_json::to_string_pretty(&recording)?;
    text.push('\n');
    fs::write(case.dir.join("expected.json"), text)?;
    let log = fs::read_to_string(out.path().join("jmeter.log")).unwrap_or_default();
    let complaints = log.lines().filter(|line| {
        (line.contains(" ERROR ") || line.contains(" WARN ")) && !line.contains("Removing JMeter property")
    });
    Ok(complaints.fold(String::new(), |said, line| said + "\n    " + line))
}
