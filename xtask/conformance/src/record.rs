//! Runs the cases in JMeter and writes the recordings, or compares them with the existing ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use busyhour_standin::{ConformanceCase, StandIn, cases, differences};

use crate::jmeter_plugins::JMeterPlugins;
use crate::{launch, workers};
use xtask_common::jmeter::JMeter;

/// The time limit of a case. Cases take at most a few seconds in JMeter, unless they hang.
const TIME_MAX: Duration = Duration::from_secs(90);

/// The use of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Write it.
    Record,
    /// Compare it with the existing recording. A difference means that the case depends on time or chance.
    Verify,
}

/// The cases to run; all by default.
#[derive(Debug, Default, clap::Args)]
pub struct Selection {
    /// Parts of names; a case is chosen if its name contains one of them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Choose only cases of this group
    #[arg(long)]
    group: Option<String>,
}

impl Selection {
    /// The chosen cases of the folder `dir`.
    ///
    /// # Errors
    /// A case cannot be read, or no case is selected.
    pub fn cases(&self, dir: &Path) -> Result<Vec<ConformanceCase>> {
        let mut cases = cases(dir)?;
        cases.retain(|case| self.includes(case));
        ensure!(!cases.is_empty(), "no case matches the names and the group");
        Ok(cases)
    }

    fn includes(&self, case: &ConformanceCase) -> bool {
        let by_name = self.names.is_empty() || self.names.iter().any(|part| case.name.contains(part));
        by_name && self.group.as_ref().is_none_or(|group| case.settings.group == *group)
    }
}

/// Runs the cases in JMeter. Cases whose plugins cannot be fetched are skipped and listed at the end.
///
/// # Errors
/// JMeter is missing, or a case could not be run or differs from its recording; the other cases are run nevertheless.
pub fn run(cases: Vec<ConformanceCase>, purpose: Purpose) -> Result<()> {
    let jmeter = JMeter::obtain()?;
    let mut plugins = JMeterPlugins::default();
    let mut skipped = Vec::new();
    let mut ready = Vec::new();
    for case in cases {
        match plugins.obtain(&case.settings.plugins) {
            Ok(jars) => ready.push((case, jars)),
            Err(error) => skipped.push(format!("{}: SKIPPED, {error:#}", case.name)),
        }
    }
    let failed = workers::for_each(&ready, |(case, plugins)| {
        Ok(match run_case(case, &jmeter, plugins, purpose) {
            Ok(message) => {
                println!("{}{message}", case.name);
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

/// Runs one case; returns warnings and errors in JMeter's log, which should be checked.
fn run_case(
    case: &ConformanceCase,
    jmeter: &JMeter,
    plugins: &[PathBuf],
    purpose: Purpose,
) -> Result<String> {
    let server = StandIn::start()?;
    let out = tempfile::tempdir()?;
    let home = tempfile::tempdir()?;
    let mut command = launch::jmeter(jmeter, home.path(), plugins);
    command.args(case.command_line(&server, out.path()));
    let status = launch::run_to_end(command, TIME_MAX)?;
    let recording = case.collect(&server, out.path(), status.code().unwrap_or(-1))?;
    if purpose == Purpose::Verify {
        return match differences(&case.expected()?, &recording) {
            None => Ok(String::new()),
            Some(difference) => bail!("differs from its recording:\n{difference}"),
        };
    }
    let mut text = serde_json::to_string_pretty(&recording)?;
    text.push('\n');
    fs::write(case.dir.join("expected.json"), text)?;
    let log = fs::read_to_string(out.path().join("jmeter.log")).unwrap_or_default();
    let warnings = log.lines().filter(|line| {
        (line.contains(" ERROR ") || line.contains(" WARN ")) && !line.contains("Removing JMeter property")
    });
    Ok(warnings.fold(String::new(), |message, line| message + "\n    " + line))
}

#[cfg(test)]
mod tests {
    use busyhour_standin::CaseSettings;

    use super::*;

    fn case(name: &str, group: &str) -> ConformanceCase {
        let settings = CaseSettings { group: group.into(), ..CaseSettings::default() };
        ConformanceCase { name: name.into(), dir: PathBuf::new(), settings }
    }

    #[test]
    fn cases_are_chosen_by_parts_of_names_and_by_group() {
        let selection = |names: &[&str], group: Option<&str>| Selection {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            group: group.map(str::to_owned),
        };
        let case = case("loop-forever", "controllers");
        assert!(Selection::default().includes(&case));
        assert!(selection(&["if", "forever"], None).includes(&case));
        assert!(!selection(&["if"], None).includes(&case));
        assert!(selection(&[], Some("controllers")).includes(&case));
        assert!(!selection(&["loop"], Some("control")).includes(&case));
    }
}
