//! `cargo xtask bench report`: the time to make a report from a result file, compared with `jmeter -g`.

mod rows;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use xtask_common::jmeter::JMeter;
use xtask_common::project;
use xtask_common::table::{Table, median};

use crate::machine::{self, Cores};
use crate::options::Program;
use crate::process;

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(1_200);

/// A program that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Peer {
    Jmeter,
}

/// Options of `report`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Rows of the file for Busyhour; ten million are about 1.2 GB in target/bench
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Rows of the file for both programs
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    jmeter_rows: u64,
    #[command(flatten)]
    program: Program,
    /// Program to leave out
    #[arg(long, value_name = "PROGRAM")]
    without: Vec<Peer>,
    /// Rounds of Busyhour; JMeter runs once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

/// Measures and prints.
///
/// # Errors
/// Fails when the program cannot be built, a file cannot be written or a run fails.
pub fn run(options: &Options) -> Result<()> {
    let busyhour = options.program.obtain()?;
    let jmeter = match options.without.contains(&Peer::Jmeter) {
        false => JMeter::obtain().map_err(|error| println!("left out: JMeter: {error:#}")).ok(),
        true => None,
    };
    let folder = project::root().join("target/bench");
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
    use crate::options::parse;

    #[test]
    fn rows_are_read_and_mistakes_refused() {
        let options: Options = parse("--rows 5 --without jmeter").unwrap();
        assert_eq!((options.rows, options.jmeter_rows), (5, 2_000_000));
        assert_eq!(options.without, [Peer::Jmeter]);
        for wrong in ["--rows", "--rows 0", "--rows x", "--without beer", "--fast yes"] {
            assert!(parse::<Options>(wrong).is_err(), "{wrong}");
        }
    }
}
