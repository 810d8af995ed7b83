//! `cargo xtask conformance corpus`: checks how many real third-party plans are supported.
//!
//! The plans are not part of the workspace but of `../shared`, because they have other authors. Without them, the
//! command fails.

mod bounded;
mod check;
mod edits;
mod groups;
mod missing;
mod plans;
mod side_by_side;
mod table;

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::workers;
use check::Verdict;
use plans::plans;
use side_by_side::{Comparator, Outcome};
use xtask_common::{markers, project};

const EXAMPLES: &str = "\
Examples:
  cargo xtask conformance corpus --list petclinic
  cargo xtask conformance corpus --run --write";

/// The options of `corpus`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Parts of paths of the plans to check; all plans by default
    #[arg(value_name = "NAME", conflicts_with = "write")]
    names: Vec<String>,
    /// Print a line for each plan
    #[arg(long)]
    list: bool,
    /// Also run the supported plans, shortened, in JMeter and in Busyhour against the stand-in, and compare
    #[arg(long)]
    run: bool,
    /// Write the tables into conformance/README.md
    #[arg(long)]
    write: bool,
    /// Program to check with; by default the dev profile of this checkout is built
    #[arg(long, value_name = "PATH")]
    busyhour: Option<PathBuf>,
}

/// Checks each plan and prints the results.
///
/// # Errors
/// The plans are missing, the program cannot be built, or it fails on a plan.
pub fn run(options: &Options) -> Result<()> {
    let plans = plans(&options.names)?;
    let busyhour = project::busyhour(options.busyhour.as_deref(), "dev")?;
    let verdicts = check::check_all(&busyhour, plans)?;
    if options.list {
        verdicts.iter().for_each(|verdict| println!("{verdict}"));
        println!();
    }
    let text = table::markdown(&verdicts);
    println!("{text}");
    let mut parts = vec![("corpus", text)];
    if options.run {
        let outcomes = run_all(&verdicts, &Comparator::new(&busyhour)?)?;
        let text = table::outcome_table(&outcomes);
        println!("{text}");
        parts.push(("corpus-run", text));
    }
    if options.write {
        let readme = project::root().join("conformance/README.md");
        let old = fs::read_to_string(&readme)?;
        let new =
            parts.iter().try_fold(old, |readme, (name, text)| markers::replace_part(&readme, name, text))?;
        fs::write(&readme, new)?;
    }
    let crashes = verdicts.iter().filter(|verdict| verdict.is_crash()).count();
    ensure!(crashes == 0, "the program failed on {crashes} plans");
    Ok(())
}

/// Runs the plans that are supported, or would be if their data files existed; writes the differences into a folder.
fn run_all(verdicts: &[Verdict], comparator: &Comparator) -> Result<Vec<Outcome>> {
    let folder = project::root().join("target/corpus/differences");
    // Removes the differences of earlier runs.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let runnable =
        |verdict: &&Verdict| (verdict.is_supported() && !verdict.is_idle()) || verdict.lacks_only_files();
    let chosen: Vec<_> = verdicts.iter().filter(runnable).collect();
    let outcomes = workers::for_each(&chosen, |verdict| {
        let outcome = comparator.run(verdict)?;
        let name = &verdict.plan.name;
        let file = |kind: &str| folder.join(format!("{kind}__{}.txt", name.replace('/', "__")));
        match &outcome {
            Outcome::Same => println!("same       {name}"),
            Outcome::Skipped(why) => println!("skipped    {name}: {why}"),
            Outcome::RandomDifferences(text) => {
                println!("random     {name}");
                fs::write(file("random"), text)?;
            }
            Outcome::Differs(text) => {
                println!("DIFFERS    {name}");
                fs::write(file("differs"), text)?;
            }
        }
        Ok(outcome)
    })?;
    println!("complete differences: {}\n", folder.display());
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        let command = Options::augment_args(clap::Command::new("corpus"));
        let words = std::iter::once("corpus").chain(line.split_whitespace());
        Options::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    #[test]
    fn tables_are_only_written_for_all_plans() {
        let options = parse("--list petclinic").unwrap();
        assert!(options.list && options.names == ["petclinic"]);
        assert!(parse("--write --run").is_ok());
        assert!(parse("--write some").is_err());
    }
}
