//! `cargo xtask bench report`: how long a result file takes to become a report, beside `jmeter -g`.

mod rows;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::machine::{self, Cores};
use super::process;
use super::table::{Table, median};
use crate::jmeter::JMeter;
use crate::options::Given;

/// How to call it.
pub const USAGE: &str = "\
usage: cargo xtask bench report [OPTION…]

  --rows N           rows of the file for Busyhour (default 10000000, some 1.2 GB in target/bench)
  --jmeter-rows N    rows of the file for both (default 2000000)
  --busyhour PATH    the program to measure (default: builds the release profile of this checkout)
  --profile NAME     the profile to build with (default release; dev shows only that the bench works)
  --without PEER     leave out jmeter
  --rounds N         rounds of Busyhour (default 3; JMeter runs once)";

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(1_200);

#[derive(Debug)]
struct Options {
    rows: u64,
    jmeter_rows: u64,
    busyhour: Option<PathBuf>,
    profile: String,
    jmeter: bool,
    rounds: u64,
}

impl Options {
    fn read(words: &[String]) -> Result<Options> {
        let mut options = Options {
            rows: 10_000_000,
            jmeter_rows: 2_000_000,
            busyhour: None,
            profile: "release".into(),
            jmeter: true,
            rounds: 3,
        };
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--rows" => options.rows = given.number(1)?,
                "--jmeter-rows" => options.jmeter_rows = given.number(1)?,
                "--rounds" => options.rounds = given.number(1)?,
                "--busyhour" => options.busyhour = Some(given.path()?),
                "--profile" => options.profile = given.text()?.into(),
                "--without" => options.jmeter = given.one_of(&[("jmeter", false)])?,
                _ => bail!(given.unknown()),
            }
        }
        Ok(options)
    }
}

/// Runs what the words ask for.
pub fn run(words: &[String]) -> Result<()> {
    let options = Options::read(words)?;
    let root = crate::workspace_root();
    let busyhour = super::busyhour(options.busyhour.as_deref(), &options.profile)?;
    let jmeter = if options.jmeter {
        JMeter::obtain().map_err(|error| println!("left out: JMeter: {error:#}")).ok()
    } else {
        None
    };
    let folder = root.join("target/bench");
    fs::create_dir_all(&folder)?;
    let large = rows::file(&folder, options.rows)?;
    let small = rows::file(&folder, options.jmeter_rows)?;
    let cores = Cores::choose()?;
    println!("{}", machine::describe(&cores));
    let work = tempfile::tempdir()?;
    let mut table = Table::new(&["program", "rows", "MB", "s", "rows/s", "CPU s", "peak MiB"]);
    for (path, rows) in [(&large, options.rows), (&small, options.jmeter_rows)] {
        let mut taken = Vec::new();
        for _ in 0..options.rounds {
            let mut command = Command::new(&busyhour);
            command.arg("report").arg(path).arg("-o").arg(work.path().join("report.html"));
            taken.push(process::whole(command, &cores, &work.path().join("log"), LIMIT)?);
        }
        add(&mut table, "Busyhour", rows, path, &taken)?;
    }
    if let Some(jmeter) = jmeter {
        let mut command = jmeter.command();
        command.arg("-g").arg(&small).arg("-o").arg(work.path().join("dashboard"));
        command.arg("-j").arg(work.path().join("jmeter.log")).current_dir(work.path());
        let taken = process::whole(command, &cores, &work.path().join("log"), LIMIT)?;
        add(&mut table, "JMeter 5.6.3 -g", options.jmeter_rows, &small, &[taken])?;
    }
    println!("\none core each, median of {} rounds of Busyhour\n\n{table}", options.rounds);
    Ok(())
}

fn add(table: &mut Table, program: &str, rows: u64, path: &Path, taken: &[process::Whole]) -> Result<()> {
    let of = |part: fn(&process::Whole) -> f64| median(taken.iter().map(part));
    let seconds = of(|whole| whole.at_s);
    table.row([
        program.to_owned(),
        rows.to_string(),
        format!("{:.0}", fs::metadata(path)?.len() as f64 / 1e6),
        format!("{seconds:.2}"),
        format!("{:.0}", rows as f64 / seconds),
        format!("{:.2}", of(|whole| whole.cpu_s)),
        format!("{:.0}", of(|whole| whole.peak_kib as f64 / 1024.0)),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_mistakes_named() {
        let read = |words: &str| Options::read(&crate::options::words(words));
        let options = read("--rows 5 --without jmeter").unwrap();
        assert_eq!((options.rows, options.jmeter_rows, options.jmeter), (5, 2_000_000, false));
        for wrong in ["--rows", "--rows 0", "--rows x", "--without beer", "--fast yes"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
