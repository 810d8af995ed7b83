//! `cargo xtask conformance peer`: runs JMeter's own batch tests in Busyhour and prints a table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use busyhour_standin::{BATCH_TEST_PLANS, BatchTestOutcome, LineComparison, peer_files};

use xtask_common::project;

/// The options of `peer`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Parts of names of the plans to run; all plans by default
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Program to run; by default the release build in target, or the debug build
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

/// Runs the plans and prints a table.
///
/// # Errors
/// A plan has unknown differences, or the files or the program are missing.
pub fn run(options: &Options) -> Result<()> {
    let root = project::root();
    let names = &options.names;
    let built = ["release", "debug"].map(|kind| root.join("target").join(kind).join("busyhour"));
    let binary = options.binary.clone().or_else(|| built.into_iter().find(|path| path.exists()));
    let binary =
        binary.context("there is no binary; run cargo build or use --binary PATH")?.canonicalize()?;
    let testfiles = peer_files(&root).context("JMeter's test files are not at ../shared/jmeter-testfiles")?;
    let known = std::fs::read(root.join("conformance/known-differences-peer.json"))?;
    let known: BTreeMap<String, String> = serde_json::from_slice(&known)?;
    let (mut unknown, mut details) = (0, String::new());
    println!("{:<24} {:>9} {:>9}  {:<8} reason", "plan", "CSV", "XML", "verdict");
    for plan in BATCH_TEST_PLANS {
        if !names.is_empty() && !names.iter().any(|name| plan.name.contains(name.as_str())) {
            continue;
        }
        let folder = tempfile::tempdir()?;
        let outcome = plan.run(&binary, &testfiles, folder.path())?;
        let why = known.get(plan.name).map(String::as_str);
        let verdict = verdict(&outcome, why);
        println!(
            "{:<24} {:>9} {:>9}  {verdict:<8} {}",
            plan.name,
            format_lines(outcome.csv),
            format_lines(outcome.xml),
            why.unwrap_or_default()
        );
        if matches!(verdict, "DIFFERS" | "AGREES") {
            unknown += 1;
        }
        if !outcome.problems.is_empty() {
            details += &format!("\n{}\n  {}\n", plan.name, outcome.problems.join("\n  "));
        }
    }
    println!("{details}");
    match unknown {
        0 => Ok(()),
        count => bail!("{count} plans differ from conformance/known-differences-peer.json"),
    }
}

fn format_lines(lines: LineComparison) -> String {
    format!("{}/{}", lines.equal, lines.expected)
}

fn verdict(outcome: &BatchTestOutcome, known: Option<&str>) -> &'static str {
    match (outcome.problems.is_empty(), known) {
        (true, None) => "equal",
        (false, Some(_)) => "known",
        (true, Some(_)) => "AGREES",
        (false, None) => "DIFFERS",
    }
}
