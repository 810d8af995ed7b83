//! `cargo xtask conformance corpus`: real plans of others, and how many of them are supported.
//!
//! The plans stand beside the workspace (`../shared`), not in it: they belong to others. Without them there is nothing to do.

mod bounded;
mod check;
mod groups;
mod missing;
mod side_by_side;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::options::{Given, told_usage};
use check::Verdict;
use side_by_side::{Arena, Outcome};
pub(super) use table::put;

use super::workers;

const USAGE: &str = "\
usage: cargo xtask conformance corpus [OPTION…] [NAME…]

Looks at the plans whose paths contain one of the NAMEs (all, without any).

  --list           one line for each plan
  --run            also run the supported ones in JMeter and in Busyhour, made short, against the stand-in, and compare
  --write          write the tables into conformance/README.md
  --busyhour PATH  the program to ask (default: builds the dev profile of this checkout)";

/// Where the plans stand, beside the workspace, and what they are.
const SOURCES: [(&str, &str); 2] =
    [("corpus-dev", "application plans"), ("jmeter-testfiles", "JMeter's own plans")];

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    list: bool,
    run: bool,
    write: bool,
    busyhour: Option<PathBuf>,
    names: Vec<String>,
}

impl Options {
    fn read(words: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--list" => options.list = true,
                "--run" => options.run = true,
                "--write" => options.write = true,
                "--busyhour" => options.busyhour = Some(given.path()?),
                name if name.starts_with('-') => bail!(given.unknown()),
                name => options.names.push(name.to_owned()),
            }
        }
        ensure!(!options.write || options.names.is_empty(), "--write wants all plans, not some");
        Ok(options)
    }
}

/// A plan of others.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plan {
    /// Index into [`SOURCES`].
    source: usize,
    path: PathBuf,
    /// Its path below `../shared`.
    name: String,
}

/// Asks about each plan and tells what came of it.
///
/// # Errors
/// Fails when the plans are not there, the program cannot be built, or it fails on a plan.
pub fn run(words: &[String]) -> Result<()> {
    if told_usage(words, USAGE) {
        return Ok(());
    }
    let options = Options::read(words)?;
    let plans = plans(&options.names)?;
    let busyhour = crate::bench::busyhour(options.busyhour.as_deref(), "dev")?;
    let verdicts = check::all(&busyhour, plans)?;
    if options.list {
        verdicts.iter().for_each(|verdict| println!("{verdict}"));
        println!();
    }
    let text = table::markdown(&verdicts);
    println!("{text}");
    let mut parts = vec![("corpus", text)];
    if options.run {
        let outcomes = run_all(&verdicts, &Arena::new(&busyhour)?)?;
        let text = table::runs(&outcomes);
        println!("{text}");
        parts.push(("corpus-run", text));
    }
    if options.write {
        let readme = crate::workspace_root().join("conformance/README.md");
        let old = fs::read_to_string(&readme)?;
        let new = parts.iter().try_fold(old, |readme, (name, text)| table::put(&readme, name, text))?;
        fs::write(&readme, new)?;
    }
    let crashes = verdicts.iter().filter(|verdict| verdict.is_crash()).count();
    ensure!(crashes == 0, "the program failed on {crashes} plans");
    Ok(())
}

/// Runs what is supported, and what would be if its data files were there; the texts of differences go into a folder.
fn run_all(verdicts: &[Verdict], arena: &Arena) -> Result<Vec<Outcome>> {
    let folder = crate::workspace_root().join("target/corpus/differences");
    // What an earlier run left there is no difference of this one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let runnable =
        |verdict: &&Verdict| (verdict.is_supported() && !verdict.is_idle()) || verdict.lacks_files_only();
    let chosen: Vec<_> = verdicts.iter().filter(runnable).collect();
    let outcomes = workers::each(&chosen, |verdict| {
        let outcome = arena.run(verdict)?;
        let name = &verdict.plan.name;
        let file = |kind: &str| folder.join(format!("{kind}__{}.txt", name.replace('/', "__")));
        match &outcome {
            Outcome::Same => println!("same       {name}"),
            Outcome::LeftOut(why) => println!("left out   {name}: {why}"),
            Outcome::SameButForChance(text) => {
                println!("but chance {name}");
                fs::write(file("by-chance"), text)?;
            }
            Outcome::Differs(text) => {
                println!("DIFFERS    {name}");
                fs::write(file("differs"), text)?;
            }
        }
        Ok(outcome)
    })?;
    println!("what differs, in full: {}\n", folder.display());
    Ok(outcomes)
}

/// The plans of all sources whose names contain one of `names`.
fn plans(names: &[String]) -> Result<Vec<Plan>> {
    let shared = crate::workspace_root().join("../shared");
    let mut plans = Vec::new();
    for (source, (folder, _)) in SOURCES.iter().enumerate() {
        for path in jmx_files(&shared.join(folder)) {
            let name = path.strip_prefix(&shared).unwrap_or(&path).display().to_string();
            if names.is_empty() || names.iter().any(|part| name.contains(part)) {
                plans.push(Plan { source, path, name });
            }
        }
    }
    ensure!(!plans.is_empty(), "there are no such plans below {}", shared.display());
    Ok(plans)
}

fn jmx_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx")) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Options> {
        Options::read(&crate::options::words(words))
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let options = read("--list petclinic").unwrap();
        assert!(options.list && options.names == ["petclinic"]);
        assert!(read("--busyhour").unwrap_err().to_string().contains("needs a value"));
        assert!(read("--wat").unwrap_err().to_string().contains("usage"));
        assert!(read("--write some").unwrap_err().to_string().contains("all plans"));
    }
}
