//! `cargo xtask bench report`: measures the time to create a report from a result file, compared with `jmeter -g`.

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

/// A time limit that no run here should reach.
const LIMIT: Duration = Duration::from_secs(1_200);

/// A program that can be excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Peer {
    Jmeter,
}

/// The options of `report`.
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
    /// Program to exclude
    #[arg(long, value_name = "PROGRAM")]
    without: Vec<Peer>,
    /// Rounds of Busyhour; JMeter runs once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

/// Runs the bench and prints the results.
///
/// # Errors
/// The program cannot be built, a file cannot be written, or a run fails.
pub fn run(options: &Options) -> Result<()> {
    let busyhour = options.program.obtain()?;
    let jmeter = match options.without.contains(&Peer::Jmeter) {
        false => JMeter::obtain().map_err(|error| println!("skipped: JMeter: {error:#}")).ok(),
        true => None,
    };
    let folder = project::root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let large = rows::result_file(&folder, options.rows)?;
    let small = rows::result_file(&folder, options.jmeter_rows)?;
    let cores = Cores::choose()?;
    println!("{}", machine::describe(&cores));
    let work = tempfile::tempdir()?;
    let mut table = Table::new(&["program", "rows", "MB", "s", "rows/s", "CPU s", "peak MiB"]);
    for (path, rows) in [(&large, options.rows), (&small, options.jmeter_rows)] {
        let mut usages = Vec::new();
        for _ in 0..options.rounds {
            let mut command = Command::new(&busyhour);
            command.arg("report").arg(path).arg("-o").arg(work.path().join("report.html"));
            usages.push(process::run_and_measure(command, &cores, &work.path().join("log"), LIMIT)?);
        }
        add(&mut table, "Busyhour", rows, path, &usages)?;
    }
    if let Some(jmeter) = jmeter {
        let mut command = jmeter.command();
        command.arg("-g").arg(&small).arg("-o").arg(work.path().join("dashboard"));
        command.arg("-j").arg(work.path().join("jmeter.log")).current_dir(work.path());
        let usage = process::run_and_measure(command, &cores, &work.path().join("log"), LIMIT)?;
        add(&mut table, "JMeter 5.6.3 -g", options.jmeter_rows, &small, &[usage])?;
    }
    println!("\none core per program, median of {} rounds of Busyhour\n\n{table}", options.rounds);
    Ok(())
}

fn add(
    table: &mut Table,
    program: &str,
    rows: u64,
    path: &Path,
    usages: &[process::ProcessUsage],
) -> Result<()> {
    let median_of = |part: fn(&process::ProcessUsage) -> f64| median(usages.iter().map(part));
    let seconds = median_of(|usage| usage.at_s);
    table.row([
        program.to_owned(),
        rows.to_string(),
        format!("{:.0}", fs::metadata(path)?.len() as f64 / 1e6),
        format!("{seconds:.2}"),
        format!("{:.0}", rows as f64 / seconds),
        format!("{:.2}", median_of(|usage| usage.cpu_s)),
        format!("{:.0}", median_of(|usage| usage.peak_kib as f64 / 1024.0)),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse;

    #[test]
    fn options_are_parsed_and_invalid_values_rejected() {
        let options: Options = parse("--rows 5 --without jmeter").unwrap();
        assert_eq!((options.rows, options.jmeter_rows), (5, 2_000_000));
        assert_eq!(options.without, [Peer::Jmeter]);
        for invalid in ["--rows", "--rows 0", "--rows x", "--without beer", "--fast yes"] {
            assert!(parse::<Options>(invalid).is_err(), "{invalid}");
        }
    }
}
