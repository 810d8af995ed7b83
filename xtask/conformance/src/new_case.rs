//! `cargo xtask conformance new-case`: creates the folder of a case with its plan, settings and JMeter's recording.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use busyhour_standin::{CaseSettings, ConformanceCase};

use crate::record::{self, Purpose};

/// A plan with one user that sends one request.
const MINIMAL_PLAN: &str = include_str!("new_case/plan.jmx");

const EXAMPLES: &str = "\
Examples:
  cargo xtask conformance new-case switch-by-name --covers SwitchController --group controllers
  cargo xtask conformance new-case old-plan --covers TestPlan --from target/old.jmx

Edit conformance/cases/NAME/plan.jmx, record again with `cargo xtask conformance record NAME`, and read the recording.";

/// The options of `new-case`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Name of the case and of its folder: lower-case words joined by hyphens
    name: String,
    /// Element (`LoopController`) or function (`__P`) that the case covers; repeat it for several
    #[arg(long, required = true, value_name = "ELEMENT")]
    covers: Vec<String>,
    /// Plan to copy; without it, the plan is one user that sends one request
    #[arg(long, value_name = "PLAN")]
    from: Option<PathBuf>,
    /// Group of the case, one of the table in conformance/README.md
    #[arg(long, default_value = "")]
    group: String,
    /// Purpose of the case, and unexpected behaviour of JMeter in it
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,
    /// Only write the plan and the settings
    #[arg(long)]
    no_record: bool,
}

/// Writes the case into `cases` and records it.
///
/// # Errors
/// The name exists or is invalid, a file cannot be read or written, or the recording fails; in the last case, the
/// written files remain.
pub fn run(cases: &Path, options: &Options) -> Result<()> {
    write(cases, options)?;
    println!("conformance/cases/{0} has a plan.jmx and a case.json", options.name);
    if options.no_record {
        return Ok(());
    }
    record::run(vec![ConformanceCase::open(&cases.join(&options.name))?], Purpose::Record)
        .with_context(|| format!("not recorded yet: cargo xtask conformance record {}", options.name))
}

fn write(cases: &Path, options: &Options) -> Result<()> {
    let name = &options.name;
    ensure!(is_case_name(name), "{name:?} does not consist of lower-case words joined by hyphens");
    let dir = cases.join(name);
    ensure!(!dir.exists(), "the case {name} already exists");
    let plan = match &options.from {
        Some(path) => fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
        None => MINIMAL_PLAN.into(),
    };
    let settings = CaseSettings {
        group: options.group.clone(),
        covers: options.covers.clone(),
        why: options.why.clone(),
        ..CaseSettings::default()
    };
    let mut settings = serde_json::to_string_pretty(&settings)?;
    settings.push('\n');
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("plan.jmx"), plan)?;
    fs::write(dir.join("case.json"), settings)?;
    Ok(())
}

fn is_case_name(name: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.split('-').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(name: &str) -> Options {
        Options {
            name: name.into(),
            covers: vec!["SwitchController".into()],
            from: None,
            group: "controllers".into(),
            why: String::new(),
            no_record: true,
        }
    }

    #[test]
    fn a_new_case_can_be_opened() {
        let cases = tempfile::tempdir().unwrap();
        run(cases.path(), &options("switch-by-name")).unwrap();
        let case = ConformanceCase::open(&cases.path().join("switch-by-name")).unwrap();
        assert_eq!(case.settings.covers, ["SwitchController"]);
        assert_eq!(case.settings.group, "controllers");
        assert_eq!(fs::read_to_string(case.plan()).unwrap(), MINIMAL_PLAN);
    }

    #[test]
    fn a_plan_is_copied_byte_for_byte() {
        let cases = tempfile::tempdir().unwrap();
        let plan = cases.path().join("other.jmx");
        fs::write(&plan, b"<a>\xff</a>\r\n").unwrap();
        run(cases.path(), &Options { from: Some(plan), ..options("copied") }).unwrap();
        assert_eq!(fs::read(cases.path().join("copied/plan.jmx")).unwrap(), b"<a>\xff</a>\r\n");
    }

    #[test]
    fn existing_cases_and_invalid_names_are_rejected() {
        let cases = tempfile::tempdir().unwrap();
        run(cases.path(), &options("a-1")).unwrap();
        let error = run(cases.path(), &options("a-1")).unwrap_err();
        assert_eq!(error.to_string(), "the case a-1 already exists");
        for bad in ["", "A", "a_b", "a--b", "-a", "../a", "a b"] {
            assert!(run(cases.path(), &options(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_minimal_plan_is_loaded_without_a_diagnostic() {
        let (plan, diagnostics) = busyhour_plan::parse(MINIMAL_PLAN.as_bytes(), "plan.jmx");
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert!(plan.elements().any(|element| element.kind() == "HTTPSamplerProxy"));
    }
}
