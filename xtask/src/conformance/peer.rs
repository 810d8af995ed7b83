//! `cargo xtask conformance peer`: JMeter's own batch tests, run by Busyhour, as a table.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use busyhour_standin::{LinesEqual, PEER_PLANS, PeerOutcome, peer_files};

use crate::options::{Given, told_usage};

const USAGE: &str = "\
usage: cargo xtask conformance peer [OPTION…] [NAME…]

Runs the plans whose names contain one of the NAMEs (all, without any).

  --binary PATH  the program to run (default: the release build, or the debug one, in target)";

/// Runs the plans whose names hold one of `words` (all, if there are none). `--binary PATH` names the program; without
/// it the release binary is taken, or the debug one.
///
/// # Errors
/// Fails when a plan differs that is not known to, or when the files or the program are missing.
pub fn run(words: &[String]) -> Result<()> {
    if told_usage(words, USAGE) {
        return Ok(());
    }
    let root = crate::workspace_root();
    let mut names = Vec::new();
    let mut binary = None;
    let mut given = Given::new(words, USAGE);
    while let Some(name) = given.next() {
        match name {
            "--binary" => binary = Some(given.path()?),
            name if name.starts_with('-') => bail!(given.unknown()),
            name => names.push(name),
        }
    }
    let built = ["release", "debug"].map(|kind| root.join("target").join(kind).join("busyhour"));
    let binary = binary.or_else(|| built.into_iter().find(|path| path.exists()));
    let binary = binary.context("there is no binary yet: cargo build, or --binary PATH")?.canonicalize()?;
    let testfiles = peer_files(&root).context("JMeter's test files are not at ../shared/jmeter-testfiles")?;
    let known = std::fs::read(root.join("conformance/known-differences-peer.json"))?;
    let known: BTreeMap<String, String> = serde_json::from_slice(&known)?;
    let (mut unknown, mut details) = (0, String::new());
    println!("{:<24} {:>9} {:>9}  {:<8} reason", "plan", "CSV", "XML", "verdict");
    for plan in PEER_PLANS {
        if !names.is_empty() && !names.iter().any(|name| plan.name.contains(name)) {
            continue;
        }
        let folder = tempfile::tempdir()?;
        let outcome = plan.run(&binary, &testfiles, folder.path())?;
        let why = known.get(plan.name).map(String::as_str);
        let verdict = verdict(&outcome, why);
        println!(
            "{:<24} {:>9} {:>9}  {verdict:<8} {}",
            plan.name,
            shown(outcome.csv),
            shown(outcome.xml),
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
        count => bail!("{count} of the plans differ from what is known of them"),
    }
}

fn shown(lines: LinesEqual) -> String {
    format!("{}/{}", lines.equal, lines.expected)
}

fn verdict(outcome: &PeerOutcome, known: Option<&str>) -> &'static str {
    match (outcome.problems.is_empty(), known) {
        (true, None) => "equal",
        (false, Some(_)) => "known",
        (true, Some(_)) => "AGREES",
        (false, None) => "DIFFERS",
    }
}
